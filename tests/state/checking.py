"""What a recorded conversation is held against: its oracle, its annotation at every turn, and the history of every slot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Final

from ledger import Ledgers
from ledger.events import FactReaffirmed, FactRetracted, FactSet, FactSuperseded, TurnRecorded
from ledger.record import Recorded
from projections.facts import FactValue
from replay import Turn, view
from tests.state.conversation import Change, Conversation, Kind, Run, field_of, runs_of


@dataclass(frozen=True, slots=True)
class Happened:
    """What an event did to a field: the value that ended, if one did, and the value that began.

    ``turn`` is the one that it names, if it was recorded before the next one, and None if it came later.
    """

    kind: Kind
    turn: int | None
    field: str
    old: str | None
    new: str | None


def changes_missed(store: Ledgers, conversation: Conversation) -> list[str]:
    """Where events and oracle differ: every change of the oracle is one event of its turn, and there are no others."""
    happened = list(_happened(store.ledger(conversation.name).events()))
    listed = [event for event in happened if event.kind in conversation.listed]
    return [*_differences("oracle", listed, conversation.changes), *_surplus(happened, conversation)]


def _happened(events: Iterable[Recorded]) -> Iterator[Happened]:
    """What became of the fields, told from the events alone; a type that has no place here fails."""
    values: dict[int, str] = {}
    ended: dict[str, str] = {}
    events = list(events)
    came = turns_of(events)
    for recorded in events:
        event = recorded.event
        turn = recorded.turn if recorded.turn == came[recorded.version] else None
        match event:
            case FactSet():
                new, old = event.value.value, ended.get(event.field)
                yield Happened("set" if old in (None, new) else "set again", turn, event.field, old, new)
            case FactSuperseded():
                new = event.value.value
                yield Happened("superseded", turn, event.field, values[event.replaces], new)
            case FactRetracted():
                ended[event.field] = values[event.retracts]
                yield Happened("retracted", turn, event.field, values[event.retracts], None)
                continue
            case TurnRecorded() | FactReaffirmed():
                continue
            case _:
                raise AssertionError(f"an event of type {recorded.envelope.type} was not asked for")
        values[recorded.version] = new


def turns_of(events: Iterable[Recorded]) -> dict[int, int | None]:
    """The last turn that had been recorded at each version."""
    came: dict[int, int | None] = {}
    last = None
    for recorded in events:
        last = recorded.turn if isinstance(recorded.event, TurnRecorded) else last
        came[recorded.version] = last
    return came


def _surplus(happened: Sequence[Happened], conversation: Conversation) -> list[str]:
    """Where events and annotation differ: first values, changes and retractions, each once and nothing beside them."""
    expected: list[Change] = []
    for slot, runs in runs_of(conversation).items():
        for before, run in zip_longest([None, *runs], runs):
            follows = before is not None and run is not None and before.end == run.first
            if before is not None and before.end is not None and not follows:
                expected.append(Change(before.end, slot, before.spellings, ()))
            if run is not None:
                expected.append(
                    Change(run.first, slot, before.spellings if before is not None and follows else (), run.spellings)
                )
    plain = [Happened(e.kind, e.turn, e.field, None if e.kind.startswith("set") else e.old, e.new) for e in happened]
    return _differences("annotation", plain, expected)


def _differences(by: str, events: Sequence[Happened], expected: Sequence[Change]) -> list[str]:
    left = list(events)
    faults = []
    for change in expected:
        fitting = [event for event in left if _fits(event, change)]
        if len(fitting) != 1:
            faults.append(f"{by}: {change} is {len(fitting)} events")
        left = [event for event in left if event not in fitting]
    return [*faults, *(f"{by}: nobody asked for {event}" for event in left)]


def _fits(event: Happened, change: Change) -> bool:
    return (
        (event.turn, event.field) == (change.turn, field_of(change.slot))
        and (event.old in change.old if change.old else event.old is None)
        and (event.new in change.new if change.new else event.new is None)
    )


def states_missed(store: Ledgers, conversation: Conversation) -> list[str]:
    """The turns as of which the state is not the annotated one, each value with the user and the turn that it came from."""
    runs = runs_of(conversation)
    faults = []
    for number in range(1, len(conversation.turns) + 1):
        seen = view(store, conversation.name, at=Turn(number))
        state = seen.state()
        found = {field: (now.value, now.turn, now.source) for field, now in state.entities.items()}
        expected = {
            field_of(slot): (spelt, _since(runs[slot], number)) for slot, spelt in conversation.state_at(number).items()
        }
        wrong = {
            field
            for field in {*found, *expected}
            if field not in found or field not in expected or not _holds(found[field], *expected[field])
        }
        faults += [f"turn {number}, {field}: {found.get(field)}, not {expected.get(field)}" for field in sorted(wrong)]
        if seen.transcript().turns[-1].number != number:
            faults.append(f"turn {number}: turn {seen.transcript().turns[-1].number} is seen")
        if state.contradictions:
            faults.append(f"turn {number}: {state.contradictions}")
    return faults


def _holds(found: tuple[object, int | None, str], spellings: Sequence[str], since: int) -> bool:
    value, turn, source = found
    return value in spellings and turn == since and source == "user"


def _since(runs: Sequence[Run], turn: int) -> int:
    return max(run.first for run in runs if run.first <= turn)


def histories_missed(store: Ledgers, conversation: Conversation) -> list[str]:
    """The slots whose history is not what the annotation tells, and fields that the annotation does not know."""
    turns = turns_of(store.ledger(conversation.name).events())
    seen = view(store, conversation.name)
    runs = runs_of(conversation)
    unknown = set(seen.fields()) ^ {field_of(slot) for slot in runs}
    faults = [f"{field} is in one of the two alone" for field in sorted(unknown)]
    for slot, expected in runs.items():
        faults += [f"{slot}: {fault}" for fault in intervals_missed(seen.history(slot).values, expected, turns)]
    return faults


def intervals_missed(values: Sequence[FactValue], runs: Sequence[Run], turns: Mapping[int, int | None]) -> Iterator[str]:
    """Where the intervals of a field do not follow on each other as its runs do. ``turns``: see ``turns_of``."""
    if len(values) != len(runs):
        yield f"{len(values)} intervals, not {len(runs)}"
    for value, run in zip(values, runs, strict=False):
        if value.value not in run.spellings or (value.turn, turns.get(value.from_version)) != (run.first, run.first):
            yield f"{value} is not {run}"
        if (None if value.to_version is None else turns.get(value.to_version)) != run.end:
            yield f"{value} does not end as {run}"
        if value.to_version is not None and value.to_version <= value.from_version:
            yield f"{value} ends before it begins"
    for (value, after), (run, later) in zip(pairwise(values), pairwise(runs), strict=False):
        joined = run.end == later.first
        if joined and not value.to_version == after.from_version == value.superseded_by:
            yield f"between {value} and {after} is a gap or an overlap"
        if not joined and (
            value.superseded_by is not None or value.to_version is None or value.to_version >= after.from_version
        ):
            yield f"between {value} and {after} is no gap"


CHECKS: Final[dict[str, Callable[[Ledgers, Conversation], list[str]]]] = {
    "changes": changes_missed,
    "states": states_missed,
    "histories": histories_missed,
}
"""Each says what is wrong with a recorded conversation; nothing, if nothing is."""
