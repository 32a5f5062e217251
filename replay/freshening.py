"""Make ready what windows of a ledger are made of, so that the next process builds one without a tokenizer."""

from __future__ import annotations

from contextlib import suppress

from ledger import Ledgers
from projections.encodings import encoding_for
from projections.errors import BudgetExceeded, NothingToSend
from projections.policy import Policy
from projections.render import RENDERERS
from replay.ledger_turns import bring_up_to_date
from replay.loading import load
from replay.view import view
from replay.warm import shelf_of


def freshen(store: Ledgers, ledger_id: str, *, policy: Policy | None = None) -> None:
    """Count what was recorded, compact what left the tail, and keep both, for windows of any form under a policy (the default).

    Whoever recorded many turns calls it: an import does, and a follower may. Nothing that is asked needs it; without it, the
    first one who asks does the work. What is up to date already costs little. Raises ``UnknownLedger`` and ``UnknownEncoding``.
    """
    policy = policy or Policy()
    encoding = encoding_for(policy.encoding)
    bring_up_to_date(store, ledger_id, encoding=encoding)
    asked = view(store, ledger_id)
    for form in RENDERERS:  # what gives way, and so what is told of it, hangs on what a form adds
        with suppress(NothingToSend, BudgetExceeded):  # whoever asks for such a window is told so
            asked.window(policy, render=form)
    shelf_of(load(store, store.head(ledger_id), None, None)).notes(encoding).keep()
