"""Which version is meant by "as of": a version, a turn, a recorded time, or now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ledger.errors import InvalidInput, UnknownVersion
from ledger.record import Recorded, microseconds


@dataclass(frozen=True, slots=True)
class Turn:
    """As of a turn: the version just before the next turn began, so with what its calls had returned by then."""

    number: int


At = int | Turn | datetime | None
"""As of a version, a turn, a recorded time (aware), or now (None)."""


def version_at(events: list[Recorded], at: At) -> int:
    """The version that ``at`` means among the events of a ledger; ``UnknownVersion`` if it lies beyond them."""
    last = events[-1].version if events else 0
    if at is None:
        return last
    if isinstance(at, Turn):
        return _at_turn(events, at.number, last)
    if isinstance(at, datetime):
        return _at_time(events, at)
    if isinstance(at, bool) or not isinstance(at, int):
        raise InvalidInput(f"as of {at!r}: give a version, a Turn, an aware datetime, or nothing for now", path="at")
    if not 0 <= at <= last:
        raise UnknownVersion(f"version {at} is not recorded: the ledger is at version {last}", at=at, last=last)
    return at


def _at_turn(events: list[Recorded], number: int, last: int) -> int:
    began = {recorded.turn: recorded.version for recorded in events if recorded.envelope.type == "turn.recorded"}
    if number not in began:
        highest = max((turn for turn in began if turn is not None), default=0)
        raise UnknownVersion(
            f"turn {number} is not recorded: the last turn of the ledger is {highest}", at=number, last=highest
        )
    return began[number + 1] - 1 if number + 1 in began else last


def _at_time(events: list[Recorded], moment: datetime) -> int:
    if moment.utcoffset() is None:
        raise InvalidInput(f"the time {moment} has no zone: give an aware datetime", path="at")
    limit = microseconds(moment)
    return max((recorded.version for recorded in events if recorded.envelope.recorded_at <= limit), default=0)
