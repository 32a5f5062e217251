"""Make ready what windows of a ledger are made of, so that the next process builds one without a tokenizer."""

from __future__ import annotations

from ledger import Ledgers
from projections.errors import BudgetExceeded, NothingToSend
from projections.policy import Policy
from replay.ledger_turns import bring_up_to_date
from replay.loading import load
from replay.tokens import encoding_for
from replay.view import view
from replay.warm import shelf_of


def freshen(store: Ledgers, ledger_id: str, *, policy: Policy | None = None) -> None:
    """Count what was recorded, compact what left the tail, and keep both, for windows under a policy (the default one).

    Whoever recorded many turns calls it: an import does, and a follower may. Nothing that is asked needs it; without it, the
    first one who asks does the work. What is up to date already costs little. Raises ``UnknownLedger`` and ``UnknownEncoding``.
    """
    policy = policy or Policy()
    encoding = encoding_for(policy.encoding)
    bring_up_to_date(store, ledger_id, encoding=encoding)
    try:
        view(store, ledger_id).window(policy)
    except (NothingToSend, BudgetExceeded):
        return  # there is no window of it: whoever asks for one is told so
    shelf_of(load(store, store.head(ledger_id), None, None)).notes(encoding).keep()
