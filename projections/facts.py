"""The history of every field: which value stood from which version to which, and who set it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ledger.events import FactReaffirmed, FactRetracted, FactSet, FactSuperseded, Source
from ledger.json_text import JsonText
from ledger.record import Recorded
from ledger.standing import Claim, successor


@dataclass(frozen=True, slots=True)
class FactValue:
    """A value that a field held for versions in ``[from_version, to_version)``; it holds still where ``to_version`` is None.

    ``superseded_by`` is the version of the event that put another value in its place. ``confirmed_turn`` and
    ``confirmed_source`` name a better source that stated the same value later.
    """

    json: JsonText
    source: Source
    turn: int | None
    from_version: int
    to_version: int | None = None
    superseded_by: int | None = None
    because: str | None = None
    confirmed_source: Source | None = None
    confirmed_turn: int | None = None

    @property
    def value(self) -> Any:
        """The value as Python knows it."""
        return self.json.value


class FactsFold:
    """Folds what was claimed of each field into intervals. What stands after an event is ``ledger.standing``'s to say."""

    reads: ClassVar[frozenset[type[Any]]] = frozenset({FactSet, FactReaffirmed, FactSuperseded, FactRetracted})

    def __init__(self) -> None:
        self._values: dict[str, list[FactValue]] = {}
        self._standing: dict[str, Claim | None] = {}

    def evolve(self, recorded: Recorded) -> None:
        """Close the interval that ends and open the one that begins."""
        event = recorded.event
        assert isinstance(event, FactSet | FactReaffirmed | FactSuperseded | FactRetracted), "a fold gets what it reads"
        before = self._standing.get(event.field)
        after = self._standing[event.field] = successor(before, recorded.version, event)
        values = self._values.setdefault(event.field, [])
        if isinstance(event, FactReaffirmed):
            if before is not None and after is not None and after != before:
                values[-1] = replace(values[-1], confirmed_source=after.source, confirmed_turn=after.turn)
            return
        if before is not None:
            successor_version = recorded.version if after is not None else None
            because = None if isinstance(event, FactSet) else event.because
            values[-1] = replace(values[-1], to_version=recorded.version, superseded_by=successor_version, because=because)
        if after is not None:
            values.append(FactValue(after.value, after.source, after.turn, recorded.version))

    def standing(self) -> dict[str, Claim]:
        """What stands now, by field, in the order in which the fields first got a value."""
        return {name: claim for name, claim in self._standing.items() if claim is not None}

    def history(self, name: str) -> tuple[FactValue, ...]:
        """All values that a field held, oldest first; ``name`` in canonical form."""
        return tuple(self._values.get(name, ()))

    def fields(self) -> tuple[str, ...]:
        """All fields that ever held a value."""
        return tuple(self._values)
