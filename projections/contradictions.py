"""Claims that cannot both hold: open until somebody resolves them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ledger.erased import Erased, Forgotten
from ledger.events import ContradictionRecorded, ContradictionResolved, Side, Source
from ledger.json_text import JsonText
from ledger.record import Recorded
from ledger.standing import contradiction_id


@dataclass(frozen=True, slots=True)
class Resolution:
    """How a contradiction ended: at which version, by which source, why, and which value holds where one was chosen.

    If that was forgotten, source, reason and value are ``Forgotten``; whether a value was chosen is then not known.
    """

    version: int
    turn: int | None
    source: Source | Forgotten
    because: str | Forgotten
    value: JsonText | Forgotten | None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A contradiction with its sides; open while it has no resolution."""

    id: str
    about: str
    field: str | None
    sides: tuple[Side, ...]
    version: int
    turn: int | None
    resolution: Resolution | None = None

    @property
    def turns(self) -> tuple[int, ...]:
        """The turns that the sides come from, in order, each once; where they name none, the turn that found them at odds."""
        named = {side.turn for side in self.sides if side.turn is not None}
        return tuple(sorted(named or ({self.turn} if self.turn is not None else set())))


def contradiction_of(version: int, event: ContradictionRecorded) -> Contradiction:
    """The contradiction that the event of a version records."""
    return Contradiction(contradiction_id(version), event.about, event.field, event.sides, version, event.turn)


class ContradictionsFold:
    """Folds contradictions that were recorded and resolved; forgotten ones are neither open nor resolved."""

    reads: ClassVar[frozenset[type[Any]]] = frozenset({ContradictionRecorded, ContradictionResolved, Erased})

    def __init__(self) -> None:
        self._all: dict[str, Contradiction] = {}

    def evolve(self, recorded: Recorded) -> None:
        """Open a contradiction or resolve one."""
        event, version = recorded.event, recorded.version
        if isinstance(event, ContradictionRecorded):
            made = contradiction_of(version, event)
            self._all[made.id] = made
        elif isinstance(event, ContradictionResolved):
            resolution = Resolution(version, event.turn, event.source, event.because, event.value)
            self._resolve(event.contradiction, resolution)
        elif isinstance(event, Erased) and event.type == "contradiction.resolved" and event.ends is not None:
            mark = event.forgotten
            self._resolve(contradiction_id(event.ends), Resolution(version, event.turn, mark, mark, mark))

    def _resolve(self, contradiction: str, resolution: Resolution) -> None:
        if contradiction in self._all:  # else it was forgotten
            self._all[contradiction] = replace(self._all[contradiction], resolution=resolution)

    def all(self) -> tuple[Contradiction, ...]:
        """All contradictions, oldest first."""
        return tuple(self._all.values())

    def open(self) -> tuple[Contradiction, ...]:
        """Those without a resolution, oldest first."""
        return tuple(found for found in self._all.values() if found.resolution is None)
