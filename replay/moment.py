"""Which version is meant by "as of": a version, a turn, a recorded time, or now."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from datetime import datetime

from ledger.errors import InvalidInput, UnknownVersion
from ledger.record import microseconds
from ledger.store import Head, Selection, Store


@dataclass(frozen=True, slots=True)
class Turn:
    """As of a turn: the version just before the next turn began, so with what its calls had returned by then."""

    number: int


At = int | Turn | datetime | None
"""As of a version, a turn, a recorded time (aware), or now (None)."""


def version_at(store: Store, head: Head, at: At) -> int:
    """The version of a ledger that ``at`` means; ``UnknownVersion`` if it lies beyond it. Reads a few envelopes at most."""
    if at is None:
        return head.version
    if isinstance(at, Turn):
        return _at_turn(store, head, at.number)
    if isinstance(at, datetime):
        return _at_time(store, head, at)
    if isinstance(at, bool) or not isinstance(at, int):
        raise InvalidInput(f"as of {at!r}: give a version, a Turn, an aware datetime, or nothing for now", path="at")
    if not 0 <= at <= head.version:
        raise UnknownVersion(f"version {at} is not recorded: the ledger is at version {head.version}", at=at, last=head.version)
    return at


def _at_turn(store: Store, head: Head, number: int) -> int:
    def turn_at(version: int) -> int:
        """The last turn that had begun at a version."""
        found = store.envelope(head.ledger, Selection(upto=version, kind="numbered", newest_first=True))
        return 0 if found is None or found.turn is None else found.turn

    highest = turn_at(head.version)
    if not 1 <= number <= highest:
        raise UnknownVersion(
            f"turn {number} is not recorded: the last turn of the ledger is {highest}", at=number, last=highest
        )
    if number == highest:
        return head.version
    return bisect_left(range(head.version + 1), number + 1, key=turn_at) - 1


def _at_time(store: Store, head: Head, moment: datetime) -> int:
    if moment.utcoffset() is None:
        raise InvalidInput(f"the time {moment} has no zone: give an aware datetime", path="at")

    def recorded_at(version: int) -> int:
        """Inside a ledger times never go back."""
        found = store.envelope(head.ledger, Selection(after=version - 1, upto=version))
        return 0 if found is None else found.recorded_at

    return bisect_right(range(1, head.version + 1), microseconds(moment), key=recorded_at)
