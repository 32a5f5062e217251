"""How a writer opens a ledger: what stands in it, and how long that is so.

Where rules of retention are in force, what is past its retention is left out as if it were erased already: a decision must not
rest on it, nor repeat it in a new event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from ledger import events as e
from ledger.marks import names_key
from ledger.reading import Marks, Reader, erased
from ledger.record import Recorded
from ledger.retention import next_end, past_retention, shortest
from ledger.standing import Standing
from ledger.store import Head, Selection, Store

_RECENT_TURN_EVENTS: Final = 64


@dataclass(frozen=True, slots=True)
class Lasting:
    """Until when what stands goes on standing: ``ends`` (microseconds) is when the next content is past its retention.

    ``keeps`` is how long new content is kept at the least. Both are None where no rule is in force.
    """

    ends: int | None
    keeps: int | None

    def is_over(self, clock: Callable[[], int]) -> bool:
        """Whether that time has come."""
        return self.ends is not None and self.ends <= clock()

    def with_event(self, recorded_at: int) -> Lasting:
        """The same, with one more event."""
        if self.keeps is None:
            return self
        ends = recorded_at + self.keeps
        return replace(self, ends=ends if self.ends is None else min(self.ends, ends))


FOR_EVER: Final = Lasting(None, None)


def opened(store: Store, head: Head, clock: Callable[[], int]) -> tuple[Standing, Lasting]:
    """What stands in a ledger now, and how long that is so. The clock is read only where rules are in force."""
    reader = Reader(store, head.ledger)
    if any(isinstance(item.event, e.RetentionSet) for item in reader.governing):
        return _retained(store, head, reader, clock())
    return _kept(store, head, reader), FOR_EVER


def _retained(store: Store, head: Head, reader: Reader, judged_at: int) -> tuple[Standing, Lasting]:
    """All events are read: what rests on what is past its retention is past it, too."""
    key = names_key(store.secret, head.ledger)
    events = list(reader.read(Selection(upto=head.version)))
    marks = past_retention(events, reader.governing, judged_at=judged_at, key=key)
    standing = standing_without(events, marks, key)
    standing.version, standing.recorded_at = head.version, head.recorded_at
    ends = next_end(events, reader.governing, after=judged_at)
    return standing, Lasting(ends, shortest(reader.governing, judged_at))


def standing_without(events: Iterable[Recorded], marks: Marks, key: bytes) -> Standing:
    """What stands after events of which some are marked as gone."""
    standing = Standing(key=key)
    for item in events:
        mark = marks.get(item.version)
        event = item.event if mark is None else erased(item.envelope.type, item.turn, *mark)
        standing.apply(item.version, event)
    return standing


def _kept(store: Store, head: Head, reader: Reader) -> Standing:
    """What stands, from the events that are not turns and the last few that are: the whole ledger is not read."""
    recent = Selection(kind="turns", upto=head.version, newest_first=True, limit=_RECENT_TURN_EVENTS)
    turns = list(reader.read(recent))[::-1]
    standing = Standing(key=names_key(store.secret, head.ledger))
    for item in chain(reader.read(Selection(kind="deciding", upto=head.version)), turns):
        standing.apply(item.version, item.event)
    standing.version, standing.recorded_at = head.version, head.recorded_at
    if len(turns) == _RECENT_TURN_EVENTS:
        _know_from(turns, store, head, standing)
    return standing


def _know_from(turns: Sequence[Recorded], store: Store, head: Head, standing: Standing) -> None:
    numbers = [item.turn for item in turns if item.envelope.type == "turn.recorded" and item.turn is not None]
    if numbers:
        standing.known_from = min(numbers)
    else:
        read_all_turns(store, head.ledger, standing)


def read_all_turns(store: Store, ledger: bytes, standing: Standing) -> None:
    """Complete what a standing knows of turns and calls, up to its version."""
    whole = Standing()
    for item in Reader(store, ledger).read(Selection(kind="turns", upto=standing.version)):
        whole.apply(item.version, item.event)
    standing.turn, standing.roles, standing.forgotten_turns = whole.turn, whole.roles, whole.forgotten_turns
    standing.calls, standing.open_calls = whole.calls, whole.open_calls
    standing.known_from = 1
