"""What came of a person's claim: what stands now, what it replaced, and what is disputed or was not taken."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from delivery.cli.printing import one_line, print_text
from delivery.cli.standing_values import apart, origin, seen_in
from ledger import Ledger, Ledgers
from ledger import events as e
from ledger.json_text import JsonText
from ledger.parts import Problem
from ledger.record import Recorded
from projections.state import FactNow
from replay.view import View, diff, view


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a command led to: the event, the field before and after it, and contradictions that it opened or settled.

    ``value`` is the one that was claimed, ``problems`` say why it was not taken. ``is_done``: whether what
    was asked for is so: a value that is refused, or only disputes another one, does not stand.
    """

    ledger: str
    version: int
    event: str
    field: str | None
    value: JsonText | None
    was: FactNow | None
    standing: FactNow | None
    problems: tuple[Problem, ...]
    opened: tuple[str, ...]
    settled: tuple[str, ...]
    is_done: bool

    @property
    def row(self) -> dict[str, Any]:
        """The outcome as JSON has it."""
        return {
            "ledger": self.ledger,
            "version": self.version,
            "event": self.event,
            "field": self.field,
            "value": self.value,
            "was": fact_row(self.was),
            "standing": fact_row(self.standing),
            "problems": list(self.problems),
            "opened": list(self.opened),
            "settled": list(self.settled),
        }


def outcome_of(store: Ledgers, handle: Ledger, recorded: Recorded) -> Outcome:
    """The outcome of a command by the first event that it led to, whatever others recorded since."""
    command = [item for item in handle.events(recorded.version - 1) if item.envelope.command == recorded.envelope.command]
    before = view(store, handle.name, at=recorded.version - 1)
    after = view(store, handle.name, at=command[-1].version)
    changed, event = diff(before, after), recorded.event
    field = _field(event, before.state().contradictions)
    return Outcome(
        ledger=handle.name,
        version=command[-1].version,
        event=str(event.type),
        field=field,
        value=_claimed(event),
        was=before.state().entities.get(field or ""),
        standing=after.state().entities.get(field or ""),
        problems=event.problems if isinstance(event, e.FactRejected) else (),
        opened=tuple(found.id for found in changed.opened),
        settled=tuple(found.id for found in changed.settled),
        is_done=_is_done(event, after),
    )


def _is_done(event: Any, after: View) -> bool:
    if not isinstance(event, e.FactReaffirmed):
        return not isinstance(event, e.FactRejected | e.ContradictionRecorded)
    stands = seen_in(after, event.field)
    return stands.claim is not None and stands.meant(event.value) == stands.claim.canonical


def _field(event: Any, disputes: Any) -> str | None:
    if isinstance(event, e.ContradictionResolved):
        return next((found.field for found in disputes if found.id == event.contradiction), None)
    return event.field if isinstance(event, e.FactEvent | e.FactRejected | e.ContradictionRecorded) else None


def _claimed(event: Any) -> JsonText | None:
    if isinstance(event, e.ContradictionRecorded):
        return next((side.value for side in event.sides if side.version is None), None)
    value = getattr(event, "value", None)
    return value if isinstance(value, JsonText) else None


def fact_row(fact: FactNow | None) -> dict[str, Any] | None:
    """A standing value as JSON has it."""
    if fact is None:
        return None
    begins, ends = fact.valid
    known: dict[str, Any] = {"value": fact.json, "source": fact.source, "turn": fact.turn, "version": fact.version}
    known |= {} if begins is None else {"valid_from": begins}
    return known | ({} if ends is None else {"valid_to": ends})


def print_outcome(found: Outcome) -> None:
    """What was done, on a line; then what stands, is disputed or was found wrong."""
    for place, line in enumerate(_lines(found)):
        print_text(("" if place == 0 else "  ") + one_line(line))


def _lines(found: Outcome) -> Iterator[str]:
    yield f"{found.ledger} at version {found.version}: {_done(found)}"
    if not found.is_done and found.field is not None:
        yield f"{found.field} {_is(found)}"
    for problem in found.problems:
        yield f"{problem.rule}: {problem.why}"
    for contradiction in found.opened:
        yield (
            f"decide it with context-ledger resolve {shlex.quote(found.ledger)} {contradiction} --value VALUE --because TEXT"
        )
    if found.settled and found.event != "contradiction.resolved":
        yield f"settled with it: {', '.join(found.settled)}"


def _done(found: Outcome) -> str:
    value = "" if found.value is None else _said(found, found.value)
    match found.event:
        case "fact.rejected":
            return f"{value} is not taken as {found.field}, and that is recorded"
        case "contradiction.recorded":
            return f"{value} disputes {found.field}, which somebody else stated meanwhile: {', '.join(found.opened)} is open"
        case "fact.reaffirmed" if not found.is_done:
            return f"{value} disputes {found.field} already, which somebody else stated meanwhile"
        case "fact.retracted":
            return f"{found.field} has no value any more; it {_was(found)}"
        case "fact.reaffirmed":
            return f"{found.field} is {value}, confirmed{_first_said(found.was)}"
        case "contradiction.resolved":
            settled = ", ".join(found.settled)
            return f"{settled} is resolved" + ("" if found.field is None else f"; {found.field} {_is(found)}")
        case _:
            return f"{found.field} {_is(found)}" + ("" if found.was is None else f"; it {_was(found)}")


def _first_said(fact: FactNow | None) -> str:
    if fact is None:
        return ""
    turn = "" if fact.turn is None else f" in turn {fact.turn}"
    return f"; it was stated by {fact.source}{turn}, at version {fact.version}"


def _is(found: Outcome) -> str:
    return "has no value" if found.standing is None else f"is {_shown(found, found.standing)}"


def _was(found: Outcome) -> str:
    return "had no value" if found.was is None else f"was {_shown(found, found.was)}"


def _shown(found: Outcome, fact: FactNow) -> str:
    begins, ends = fact.valid
    valid = f" from {begins.isoformat()}" if begins is not None else ""
    valid += f" until {ends.isoformat()}" if ends is not None else ""
    return f"{_said(found, fact.json)}{valid} {origin(fact)}"


def _said(found: Outcome, value: JsonText) -> str:
    """A value of an outcome, told from the others in it."""
    known = (found.value, *(fact.json for fact in (found.was, found.standing) if fact is not None))
    return apart(value, *(other for other in known if other is not None))
