"""The state of a ledger as of a version, from the events that matter to it and the turn that states the task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from projections.basis import Basis
from projections.block_lines import Remember, made_anew
from projections.contradictions import Contradiction
from projections.state import State, state_of
from projections.state_block import Count
from projections.task_turn import settled_task, task_turn
from projections.transcript import Turn
from replay.kept.warm import Shelf, shelf_of
from replay.loading import Folds, Loaded
from replay.standing.live_events import LiveEvents, StandingFolds
from replay.turns.ledger_turns import turns_alone

_FEW: Final = 4


def standing_state(loaded: Loaded, basis: Basis, *, count: Count) -> State:
    """What is established at the version: the same as by folding all events. ``count`` counts the tokens of its block."""
    return replace(state_as_it_began(loaded, shelf_of(loaded), count=count), basis=basis)


def state_as_it_began(loaded: Loaded, shelf: Shelf, *, count: Count) -> State:
    """The same, for those who do not ask what it rests on: while nothing changes, its basis is that of whoever asked first."""
    if _is_folded_whole(loaded):
        return _stated(loaded.folds, task_turn(loaded.transcript.turns), loaded.basis(), count, made_anew)
    with shelf.lock:
        live, quiet_from = shelf.live, shelf.index.quiet_from(loaded.version)
        is_given = live.asked(loaded, "task", lambda folds: folds.lifecycle.task is not None, quiet_from=quiet_from)
        task = None if is_given else _kept_task(loaded, live)
        return live.asked(
            loaded,
            ("state", count, 0 if task is None else task.version),
            lambda folds: _stated(folds, task, loaded.basis(), count, live.lines(count).recall),
        )


def standing_contradictions(loaded: Loaded) -> tuple[Contradiction, ...]:
    """All contradictions up to the version, resolved ones too, oldest first; forgotten ones are left out."""
    if _is_folded_whole(loaded):
        return loaded.folds.contradictions.all()
    shelf = shelf_of(loaded)
    with shelf.lock:
        return shelf.live.asked(loaded, "contradictions", lambda folds: folds.contradictions.all())


def recorded_before(loaded: Loaded, shelf: Shelf, version: int) -> tuple[str, ...]:
    """The ids of the evidence, and of the contradictions, that were recorded before a version."""
    if _is_folded_whole(loaded):
        ids = _recorded_ids(loaded.folds)
    else:
        with shelf.lock:
            ids = shelf.live.asked(loaded, "recorded ids", _recorded_ids)
    return tuple(one for one, recorded in ids if recorded < version)


def _recorded_ids(folds: StandingFolds | Folds) -> list[tuple[str, int]]:
    """The ids of all evidence and contradictions, each with the version at which it was recorded."""
    found = [*(one.id for one in folds.evidence.all()), *(one.id for one in folds.contradictions.all())]
    return [(one, int(one.partition("_")[2])) for one in found]


def _is_folded_whole(loaded: Loaded) -> bool:
    """Whether all is folded: where content may be past its retention, or where all is read already."""
    return loaded.is_read or not loaded.nothing_is_due


def _stated(folds: StandingFolds | Folds, task: Turn | None, basis: Basis, count: Count, remember: Remember) -> State:
    return state_of(
        basis,
        lifecycle=folds.lifecycle,
        stated=task,
        facts=folds.facts,
        entries=folds.entries,
        contradictions=folds.contradictions,
        forgotten=folds.forgotten,
        schema=folds.schemas.schema(),
        count=count,
        remember=remember,
    )


def _kept_task(loaded: Loaded, live: LiveEvents) -> Turn | None:
    """The turn that states the task."""
    if live.task is not None and live.task.version <= loaded.version:
        return live.task
    found, is_settled = settled_task(_from_the_first(turns_alone(loaded)))
    if is_settled:
        live.task = found
    return found


def _from_the_first(read: Callable[[int, int], Sequence[Turn]]) -> Iterator[Turn]:
    """All turns, a few at a time: most often the first ones are enough."""
    first, size = 1, _FEW
    while turns := read(first, first + size - 1):
        yield from turns
        first, size = first + size, size * 2
