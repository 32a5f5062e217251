"""Make ready what windows of a ledger are made of, so that the next process builds one without a tokenizer."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from ledger import Ledgers
from projections.basis import ENGINE
from projections.encodings import encoding_for
from projections.errors import BudgetExceeded, NothingToSend
from projections.policy import Policy
from projections.render import RENDERERS
from replay.kept.kept_rows import rows_of
from replay.kept.warm import shelf_of
from replay.loading import Loaded, load
from replay.standing.lines import count_state_lines, count_task_line
from replay.standing.state import standing_state
from replay.turns.ledger_turns import amendments_since, bring_up_to_date
from replay.view import View, view

KIND: Final = "fresh/1"
"""The kind of the rows that say up to which version a ledger was made ready for a policy."""

MOST_LATE: Final = 100
"""So many events that came late are looked at, the latest ones: as of before each, another middle may have been made."""


def freshen(store: Ledgers, ledger_id: str, *, policy: Policy | None = None) -> None:
    """Count what was recorded, compact what left the tail, and keep both, for windows of any form under a policy (the default).

    The lines of state blocks are counted for all versions, so that the state as of any of them needs no tokenizer either. Of
    results, classifications and summaries that came late, the last ``MOST_LATE`` are undone once, for windows of before them.

    Whoever recorded many turns calls it: an import does, and a follower may. Nothing that is asked needs it; without it, the
    first one who asks does the work. What is up to date already costs little. Raises ``UnknownLedger`` and ``UnknownEncoding``.
    """
    policy = policy or Policy()
    encoding = encoding_for(policy.encoding)
    loaded = load(store, store.head(ledger_id), None, None)
    if policy.state is not None:  # first, while what stood when it was done last is at hand still
        count_state_lines(loaded, policy.state, encoding)
    bring_up_to_date(store, ledger_id, encoding=encoding)
    asked = view(store, ledger_id)
    _ask(asked, policy)
    _ask_of_before(store, loaded, policy)
    notes = shelf_of(loaded).notes(encoding)
    if policy.state is not None:
        count_task_line(standing_state(loaded, asked.basis(policy), count=notes), policy.state)
    notes.keep()


def _ask(asked: View, policy: Policy) -> None:
    for form in RENDERERS:  # what gives way, and so what is told of it, hangs on what a form adds
        with suppress(NothingToSend, BudgetExceeded):  # whoever asks for such a window is told so
            asked.window(policy, render=form)


def _ask_of_before(store: Ledgers, loaded: Loaded, policy: Policy) -> None:
    """Ask for windows as of before each event that came late since this was done last."""
    rows, key = rows_of(loaded, shelf_of(loaded).memory), f"{ENGINE}/{policy.digest[:32]}"
    done = rows.get(KIND, key)
    late = amendments_since(loaded, 0 if done is None else int(done), most=MOST_LATE)
    for version in late:
        _ask(view(store, loaded.head.name, at=version - 1), policy)
    if late:
        rows.put(KIND, {key: str(late[-1]).encode()})
