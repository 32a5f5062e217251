"""From stored rows to events: an event whose content was forgotten comes as ``Erased``, one that lost it otherwise is an error.

A forgetting is an event after those that it erases, so it holds for a view of any version, and as soon as it is recorded,
whether the content was swept away already or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ledger.assembling import assembler
from ledger.codec import decode, tags_of
from ledger.erased import Erased, Forgotten
from ledger.errors import UnknownEventType
from ledger.events import ContentForgotten, Erasure
from ledger.record import Recorded, timestamp
from ledger.rows import payload_of
from ledger.store import Selection, Store, Stored

Marks = Mapping[int, tuple[Erasure, Forgotten]]
"""What is left of the erased events of one ledger, by version."""

_NONE: Final[Marks] = {}
_recorded: Final = assembler(Recorded)
_FORGOTTEN: Final = "content.forgotten"


class Reader:
    """Reads the events of one ledger. What was forgotten is looked up when it is made, and again where a payload is missing."""

    def __init__(self, store: Store, ledger: bytes, *, eager: bool = True) -> None:
        self._store = store
        self._ledger = ledger
        self.governing: tuple[Recorded, ...] = ()
        self.marks: Marks = _NONE
        if eager:
            self._look_up()

    def read(self, selection: Selection) -> Iterator[Recorded]:
        """The selected events, in order."""
        return map(self.recorded, self._store.read(self._ledger, selection))

    def recorded(self, row: Stored) -> Recorded:
        """The event of a row of this ledger."""
        if row.payload is None and row.envelope.version not in self.marks:
            self._look_up()
        return recorded(row, self.marks)

    def _look_up(self) -> None:
        rows = list(self._store.read(self._ledger, Selection(kind="governing")))
        self.marks = marks_of(recorded(row) for row in rows if row.envelope.type == _FORGOTTEN)
        self.governing = tuple(recorded(row, self.marks) for row in rows)  # the closing of a ledger may be erased itself


class FeedReader:
    """Reads the events of all ledgers, as the feed gives them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._readers: dict[bytes, Reader] = {}

    def recorded(self, row: Stored) -> Recorded:
        """The event of a row of the feed."""
        if row.payload is not None:
            return recorded(row)
        ledger = row.envelope.ledger
        if ledger not in self._readers:
            self._readers = {ledger: Reader(self._store, ledger)}  # one at a time: a follower runs for ever
        return self._readers[ledger].recorded(row)


def remaining(store: Store, ledger: bytes, selection: Selection) -> Iterator[Recorded]:
    """The events whose content is still there, even if it is to be forgotten: what a sweep has yet to delete."""
    return (recorded(row) for row in store.read(ledger, selection) if row.payload is not None)


def marks_of(governing: Iterable[Recorded]) -> Marks:
    """What forgettings left of the events of their ledger; the first to erase an event is the one that counts."""
    marks: dict[int, tuple[Erasure, Forgotten]] = {}
    for item in governing:
        event = item.event
        if isinstance(event, ContentForgotten):
            forgotten = Forgotten(event.job, event.reason, timestamp(item.envelope.recorded_at))
            for erasure in event.erased:
                marks.setdefault(erasure.version, (erasure, forgotten))
    return marks


def recorded(row: Stored, marks: Marks = _NONE) -> Recorded:
    """The event of a stored row; ``CorruptRecord`` if its payload is not what was recorded, or missing and not forgotten.

    ``UnknownEventType`` says at which version and position, so that a reader that stands still can be told where.
    """
    envelope = row.envelope
    mark = marks.get(envelope.version)
    if mark is not None:
        return Recorded(envelope, erased(envelope.type, envelope.turn, *mark))
    payload = payload_of(row)
    try:
        event = decode(envelope.type, envelope.type_version, envelope.turn, payload)
    except UnknownEventType as error:
        raise UnknownEventType(
            f"version {envelope.version} (position {envelope.position}): {error}",
            **error.details,
            version=envelope.version,
            position=envelope.position,
        ) from None
    return _recorded(envelope, event, tags_of(payload))


def erased(type_name: str, turn: int | None, erasure: Erasure, forgotten: Forgotten) -> Erased:
    """What stands for an event of which only this is left."""
    return Erased(type_name, turn, forgotten, erasure.role, erasure.answers, erasure.ends, erasure.named)
