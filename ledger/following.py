"""Follows the feed of a store: every event of every ledger exactly once, in order, as it is committed.

The follower asks, with growing pauses while nothing comes. Nothing is sent by those who append: a notification would
cost each of them a second transaction, where a question to an idle store costs a fraction of a millisecond.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Final

from ledger.errors import InvalidInput
from ledger.store import Store, Stored

FIRST_PAUSE_SECONDS: Final = 0.002
LONGEST_PAUSE_SECONDS: Final = 0.1

_FIRST_PAGE: Final = 32
_LONGEST_PAGE: Final = 2_000
_PAGE_BYTES: Final = 4 * 1024 * 1024


def follow(
    store: Store, *, after: int = 0, stop: threading.Event | None = None, idle_seconds: float | None = None
) -> Iterator[Stored]:
    """The events with a position above ``after``, then those to come, until ``stop`` is set.

    It also ends when nothing came for ``idle_seconds``; 0 reads what is there and ends. To resume, even in another process,
    give the position of the last event that was dealt with. ``StoreError`` where the store cannot be reached; what was
    delivered before stays delivered.
    """
    stopped = stop or threading.Event()
    for page in pages(store, after=after, stop=stopped, idle_seconds=idle_seconds):
        for stored in page:
            yield stored
            if stopped.is_set():
                return


def pages(
    store: Store, *, after: int = 0, stop: threading.Event | None = None, idle_seconds: float | None = None
) -> Iterator[list[Stored]]:
    """What ``follow`` gives, as lists of up to 2,000 events or some megabytes, for those who write them in one transaction."""
    check_position(after)
    stopped = stop or threading.Event()
    size, pause, heard = _FIRST_PAGE, FIRST_PAUSE_SECONDS, time.monotonic()
    while not stopped.is_set():
        found = store.feed(after=after, limit=size)
        if found:
            after = found[-1].envelope.position
            yield found
            size, pause, heard = _next_page(size, found), FIRST_PAUSE_SECONDS, time.monotonic()
            continue
        if idle_seconds is not None and time.monotonic() - heard >= idle_seconds:
            return
        stopped.wait(pause)
        pause = min(pause * 1.5, LONGEST_PAUSE_SECONDS)


def check_position(after: object) -> int:
    """A place in the feed, to begin after: 0 or the position of an event. ``InvalidInput`` for anything else."""
    if isinstance(after, bool) or not isinstance(after, int) or not 0 <= after < 2**63:
        raise InvalidInput(f"after={after!r} is no position: give 0, or that of the last event dealt with", path="after")
    return after


def _next_page(page: int, found: list[Stored]) -> int:
    """How many events to ask for next, so that large payloads do not fill the memory."""
    size = sum(len(stored.payload or b"") for stored in found)
    if size > _PAGE_BYTES:
        return max(1, page // 2)
    return min(page * 2, _LONGEST_PAGE) if size < _PAGE_BYTES // 2 else page
