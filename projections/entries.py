"""Constraints, decisions, rejected options and open questions: which hold, which were closed and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ledger.erased import Erased, Forgotten
from ledger.events import EntryAdded, EntryClosed, Section, Source
from ledger.record import Recorded
from ledger.standing import entry_id


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a list section; it holds for versions in ``[from_version, to_version)``.

    ``closed_because`` is ``Forgotten`` if only why it was closed was forgotten.
    """

    id: str
    section: Section
    what: str
    why: str | None
    source: Source
    turn: int | None
    from_version: int
    to_version: int | None = None
    closed_because: str | Forgotten | None = None
    closed_turn: int | None = None


class EntriesFold:
    """Folds entries that were added and closed; forgotten ones are neither open nor closed."""

    reads: ClassVar[frozenset[type[Any]]] = frozenset({EntryAdded, EntryClosed, Erased})

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}

    def evolve(self, recorded: Recorded) -> None:
        """Add an entry or close one."""
        version = recorded.version
        match recorded.event:
            case EntryAdded() as event:
                made = Entry(entry_id(version), event.section, event.what, event.why, event.source, event.turn, version)
                self._entries[made.id] = made
            case EntryClosed(entry=entry, because=because, turn=turn):
                self._close(entry, version=version, because=because, turn=turn)
            case Erased(type="entry.closed", ends=int(ends), forgotten=forgotten, turn=turn):
                self._close(entry_id(ends), version=version, because=forgotten, turn=turn)
            case _:
                pass

    def _close(self, entry: str, *, version: int, because: str | Forgotten, turn: int | None) -> None:
        if entry in self._entries:  # else it was forgotten
            self._entries[entry] = replace(self._entries[entry], to_version=version, closed_because=because, closed_turn=turn)

    def entry(self, entry: str) -> Entry:
        """The entry of an id; ``KeyError`` where there is none, or it was forgotten."""
        return self._entries[entry]

    def open(self, section: Section) -> tuple[Entry, ...]:
        """The entries of a section that hold, oldest first."""
        return tuple(entry for entry in self._entries.values() if entry.section == section and entry.to_version is None)

    def closed(self, section: Section) -> tuple[Entry, ...]:
        """The entries of a section that were closed, oldest first."""
        return tuple(entry for entry in self._entries.values() if entry.section == section and entry.to_version is not None)
