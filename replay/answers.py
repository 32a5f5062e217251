"""What a view answers, where no projection has an answer of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from projections.basis import Basis
from projections.contradictions import Contradiction
from projections.facts import FactValue
from projections.forgetting import ErasedPlace, Forgetting
from projections.transcript import SystemText, Transcript, Turn
from projections.wire import to_json


@dataclass(frozen=True, slots=True)
class TranscriptAnswer:
    """The transcript with its basis."""

    basis: Basis
    transcript: Transcript

    @property
    def system(self) -> tuple[SystemText, ...]:
        """All system texts, in the order in which they were recorded."""
        return self.transcript.system

    @property
    def turns(self) -> tuple[Turn, ...]:
        """All turns with what their calls returned."""
        return self.transcript.turns

    def to_json(self) -> bytes:
        """The answer as JSON: basis, system, turns with their parts and returns, and returns that answer no call."""
        turns = [
            {
                "turn": turn.number,
                "version": turn.version,
                "role": turn.role,
                "name": turn.name,
                "model": turn.model,
                "parts": turn.parts,
                "returns": turn.returns,
            }
            for turn in self.transcript.turns
        ]
        return to_json(
            {"basis": self.basis, "system": self.transcript.system, "turns": turns, "orphans": self.transcript.orphans}
        )


@dataclass(frozen=True, slots=True)
class FieldHistory:
    """All values that a field held up to a version, oldest first, and the contradictions about it."""

    basis: Basis
    field: str
    values: tuple[FactValue, ...]
    contradictions: tuple[Contradiction, ...]

    def to_json(self) -> bytes:
        """The answer as JSON: basis, field, values, contradictions."""
        return to_json(
            {
                "basis": self.basis,
                "field": self.field,
                "values": [_value(value) for value in self.values],
                "contradictions": [_contradiction(found) for found in self.contradictions],
            }
        )


@dataclass(frozen=True, slots=True)
class ForgottenAnswer:
    """What was forgotten up to a version, and the forgettings that took it, later ones too."""

    basis: Basis
    places: tuple[ErasedPlace, ...]
    forgettings: tuple[Forgetting, ...]

    def to_json(self) -> bytes:
        """The answer as JSON: basis, places, forgettings."""
        return to_json(
            {"basis": self.basis, "places": [place.row for place in self.places], "forgettings": list(self.forgettings)}
        )


def _value(value: FactValue) -> dict[str, Any]:
    known: dict[str, Any] = {
        "value": value.json,
        "turn": value.turn,
        "source": value.source,
        "from_version": value.from_version,
        "to_version": value.to_version,
        "superseded_by": value.superseded_by,
        "because": value.because,
    }
    if value.confirmed_source is not None:
        known["confirmed"] = {"turn": value.confirmed_turn, "source": value.confirmed_source}
    begins, ends = value.valid
    known |= {} if begins is None else {"valid_from": begins}
    return known | ({} if ends is None else {"valid_to": ends})


def _contradiction(found: Contradiction) -> dict[str, Any]:
    return {
        "id": found.id,
        "about": found.about,
        "sides": found.sides,
        "turns": list(found.turns),
        "version": found.version,
        "open": found.resolution is None,
        "resolution": found.resolution,
    }
