"""What was forgotten: the places whose content is gone, and the forgettings that took it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from ledger.erased import Erased, Forgotten
from ledger.events import ContentForgotten, ForgettingScope
from ledger.record import Recorded, timestamp
from ledger.standing import contradiction_id, entry_id, evidence_id, result_id

_IDS: Final[dict[str, Callable[[int], str]]] = {
    "tool.returned": result_id,
    "entry.added": entry_id,
    "evidence.recorded": evidence_id,
    "contradiction.recorded": contradiction_id,
}


@dataclass(frozen=True, slots=True)
class ErasedPlace:
    """An event whose content was forgotten: its version, stored type, turn, the id that it had if it had one, and the mark."""

    version: int
    type: str
    turn: int | None
    id: str | None
    forgotten: Forgotten

    @property
    def row(self) -> dict[str, Any]:
        """What an answer shows of it."""
        mark = {"job": self.forgotten.job, "reason": self.forgotten.reason, "at": self.forgotten.at}
        known = {"version": self.version, "type": self.type, "turn": self.turn, "id": self.id, "forgotten": mark}
        return {name: value for name, value in known.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Forgetting:
    """One forgetting: its job, what kind of thing it was asked to forget (``scope``), why, by whom (an opaque id), and when.

    ``version`` is that of its own event, ``at`` its time (RFC 3339, UTC), ``count`` how many events lost their content.
    """

    version: int
    job: str
    scope: ForgettingScope
    reason: str
    who: str | None
    at: str
    count: int


class ForgottenFold:
    """Folds forgettings, and the events whose content they took."""

    reads: ClassVar[frozenset[type[Any]]] = frozenset({Erased, ContentForgotten})

    def __init__(self) -> None:
        self._places: list[ErasedPlace] = []
        self._forgettings: list[Forgetting] = []

    def evolve(self, recorded: Recorded) -> None:
        """Add a place or a forgetting."""
        event, version = recorded.event, recorded.version
        if isinstance(event, Erased):
            made = _IDS.get(event.type)
            name = None if made is None else made(version)
            self._places.append(ErasedPlace(version, event.type, event.turn, name, event.forgotten))
        elif isinstance(event, ContentForgotten):
            self._forgettings.append(forgetting_of(recorded, event))

    def places(self) -> tuple[ErasedPlace, ...]:
        """All places whose content is gone, by version."""
        return tuple(self._places)

    def forgettings(self) -> tuple[Forgetting, ...]:
        """All forgettings, oldest first."""
        return tuple(self._forgettings)


def forgetting_of(recorded: Recorded, event: ContentForgotten) -> Forgetting:
    """The forgetting that an event records."""
    envelope = recorded.envelope
    return Forgetting(
        version=envelope.version,
        job=event.job,
        scope=event.scope,
        reason=event.reason,
        who=envelope.actor,
        at=timestamp(envelope.recorded_at),
        count=event.count,
    )
