"""What changed between two states of a ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from projections.basis import Basis
from projections.contradictions import Contradiction
from projections.entries import Entry
from projections.state import SECTIONS, FactNow, State
from projections.wire import to_json


@dataclass(frozen=True, slots=True)
class FactChange:
    """A field that holds something else: ``before`` is None where it held nothing, ``after`` where it holds nothing now."""

    field: str
    before: FactNow | None
    after: FactNow | None


@dataclass(frozen=True, slots=True)
class StateDiff:
    """How a state differs from an earlier one: fields, entries that came and went, contradictions that opened and closed."""

    before: Basis
    after: Basis
    facts: tuple[FactChange, ...]
    added: tuple[Entry, ...]
    closed: tuple[Entry, ...]
    opened: tuple[Contradiction, ...]
    settled: tuple[Contradiction, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        return not (self.facts or self.added or self.closed or self.opened or self.settled)

    def to_json(self) -> bytes:
        """The answer as JSON: before and after (bases), facts, entries added and closed, contradictions opened and settled."""
        return to_json(
            {
                "before": self.before,
                "after": self.after,
                "facts": [
                    {"field": change.field, "before": _fact(change.before), "after": _fact(change.after)}
                    for change in self.facts
                ],
                "added": [_entry(entry) for entry in self.added],
                "closed": [_entry(entry) for entry in self.closed],
                "opened": [_dispute(found) for found in self.opened],
                "settled": [_dispute(found) for found in self.settled],
            }
        )


def diff_of(before: State, after: State) -> StateDiff:
    """What is different in ``after``; a value that is only confirmed or spelt otherwise is no change of it."""
    names = dict.fromkeys([*before.entities, *after.entities])
    changes = (FactChange(name, before.entities.get(name), after.entities.get(name)) for name in names)
    entries = [{entry.id: entry for section in SECTIONS for entry in state.entries[section]} for state in (before, after)]
    disputes = [{found.id: found for found in state.contradictions} for state in (before, after)]
    return StateDiff(
        before=before.basis,
        after=after.basis,
        facts=tuple(change for change in changes if _version(change.before) != _version(change.after)),
        added=_new(entries[1], entries[0]),
        closed=_new(entries[0], entries[1]),
        opened=_new(disputes[1], disputes[0]),
        settled=_new(disputes[0], disputes[1]),
    )


def _new(these: dict[str, Any], those: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(item for name, item in these.items() if name not in those)


def _version(fact: FactNow | None) -> int | None:
    return None if fact is None else fact.version


def _fact(fact: FactNow | None) -> dict[str, Any] | None:
    return None if fact is None else {"value": fact.json, "turn": fact.turn, "source": fact.source, "version": fact.version}


def _entry(entry: Entry) -> dict[str, Any]:
    return {"id": entry.id, "section": entry.section, "what": entry.what, "turn": entry.turn, "source": entry.source}


def _dispute(found: Contradiction) -> dict[str, Any]:
    return {"id": found.id, "about": found.about, "field": found.field, "turns": list(found.turns)}
