"""The state of a ledger as of a version, from the events that matter to it and the turn that states the task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from projections.basis import Basis
from projections.contradictions import Contradiction
from projections.evidence import Evidence
from projections.state import State, state_of
from projections.state_block import Count
from projections.transcript import Transcript, Turn
from replay.ledger_turns import turns_alone
from replay.live_events import StandingFolds
from replay.loading import Folds, Loaded
from replay.warm import shelf_of

_FEW: Final = 4


def standing_folds(loaded: Loaded) -> StandingFolds | Folds:
    """What stands at the version. Where content may be past its retention, or where all is read already, by folding all."""
    if loaded.is_read or not loaded.nothing_is_due:
        return loaded.folds
    shelf = shelf_of(loaded)
    with shelf.lock:
        return shelf.live.standing(loaded)


def standing_state(loaded: Loaded, basis: Basis, *, count: Count) -> State:
    """What is established at the version: the same as by folding all events. ``count`` counts the tokens of its block."""
    folds = standing_folds(loaded)
    return state_of(
        basis,
        lifecycle=folds.lifecycle,
        transcript=_with_task(loaded) if folds.lifecycle.task is None else Transcript((), (), ()),
        facts=folds.facts,
        entries=folds.entries,
        contradictions=folds.contradictions,
        forgotten=folds.forgotten,
        schema=folds.schemas.schema(),
        count=count,
    )


def standing_evidence(loaded: Loaded) -> tuple[Evidence, ...]:
    """All evidence up to the version, oldest first; forgotten evidence is left out."""
    return standing_folds(loaded).evidence.all()


def standing_contradictions(loaded: Loaded) -> tuple[Contradiction, ...]:
    """All contradictions up to the version, resolved ones too, oldest first; forgotten ones are left out."""
    return standing_folds(loaded).contradictions.all()


def _with_task(loaded: Loaded) -> Transcript:
    """A transcript of the one turn that states the task, if there is one."""
    if isinstance(standing_folds(loaded), Folds):
        return loaded.transcript
    turn = _task(turns_alone(loaded))
    return Transcript((), () if turn is None else (turn,), ())


def _task(read: Callable[[int, int], Sequence[Turn]]) -> Turn | None:
    """The first user turn that says something, else the first user turn."""
    first, size = 1, _FEW
    blank: Turn | None = None
    while turns := read(first, first + size - 1):
        users = [turn for turn in turns if turn.role == "user"]
        said = next((turn for turn in users if not turn.is_blank), None)
        if said is not None:
            return said
        blank = blank or next(iter(users), None)
        first, size = first + size, size * 2
    return blank
