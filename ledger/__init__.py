"""Context Ledger: the record of what happened, append-only.

``connect`` opens a store, ``Ledgers.ledger`` gives the handle of one conversation, its commands record what happened.
"""

from ledger.connect import Ledgers, connect
from ledger.errors import LedgerError
from ledger.json_text import JsonText
from ledger.ledger import Ledger

__all__ = ["JsonText", "Ledger", "LedgerError", "Ledgers", "connect"]
