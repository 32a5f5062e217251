"""Claims with the quotes that they rest on, each in one exact artifact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ledger.events import EvidenceRecorded
from ledger.record import Recorded
from ledger.standing import evidence_id


@dataclass(frozen=True, slots=True)
class Evidence:
    """A claim, its quote, and the artifact that the quote was looked up in; ``match`` says whether it stands there verbatim."""

    id: str
    claim: str
    quote: str
    sha256: str
    match: str
    turn: int | None


class EvidenceFold:
    """Folds recorded evidence; forgotten evidence is left out."""

    reads: ClassVar[frozenset[type[Any]]] = frozenset({EvidenceRecorded})

    def __init__(self) -> None:
        self._all: list[Evidence] = []

    def evolve(self, recorded: Recorded) -> None:
        """Add a piece of evidence."""
        event = recorded.event
        assert isinstance(event, EvidenceRecorded), "a fold gets what it reads"
        made = Evidence(evidence_id(recorded.version), event.claim, event.quote, event.sha256, event.match, event.turn)
        self._all.append(made)

    def all(self) -> tuple[Evidence, ...]:
        """All evidence, oldest first."""
        return tuple(self._all)
