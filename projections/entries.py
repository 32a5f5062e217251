"""Constraints, decisions, rejected options and open questions: which hold, which were closed and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ledger.events import EntryAdded, EntryClosed, Section, Source
from ledger.record import Recorded
from ledger.standing import entry_id


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a list section; it holds for versions in ``[from_version, to_version)``."""

    id: str
    section: Section
    what: str
    why: str | None
    source: Source
    turn: int | None
    from_version: int
    to_version: int | None = None
    closed_because: str | None = None
    closed_turn: int | None = None


class EntriesFold:
    """Folds entries that were added and closed."""

    reads: ClassVar[frozenset[type[Any]]] = frozenset({EntryAdded, EntryClosed})

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}

    def evolve(self, recorded: Recorded) -> None:
        """Add an entry or close one."""
        event, version = recorded.event, recorded.version
        if isinstance(event, EntryAdded):
            made = Entry(entry_id(version), event.section, event.what, event.why, event.source, event.turn, version)
            self._entries[made.id] = made
        elif isinstance(event, EntryClosed):
            self._entries[event.entry] = replace(
                self._entries[event.entry], to_version=version, closed_because=event.because, closed_turn=event.turn
            )

    def open(self, section: Section) -> tuple[Entry, ...]:
        """The entries of a section that hold, oldest first."""
        return tuple(entry for entry in self._entries.values() if entry.section == section and entry.to_version is None)

    def closed(self, section: Section) -> tuple[Entry, ...]:
        """The entries of a section that were closed, oldest first."""
        return tuple(entry for entry in self._entries.values() if entry.section == section and entry.to_version is not None)
