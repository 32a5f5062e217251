"""Why a window cannot be made."""

from __future__ import annotations

from ledger.errors import LedgerError


class BudgetExceeded(LedgerError):
    """What is never left out is larger than the budget: ``pins`` holds the tokens of each, ``budget_tokens`` what there is."""


class NothingToSend(LedgerError):
    """There is no user turn yet, so there is nothing that a model could answer."""
