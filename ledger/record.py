"""An event as it stands in the record: the envelope beside its content."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from ledger.erased import Erased
from ledger.events import Event

FORMAT: Final = 1
"""Format of the envelope: which columns are hashed, in which order."""

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_DAY_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class Envelope:
    """The content-free part of an event, never erased. ``recorded_at`` in microseconds since 1970 (UTC)."""

    position: int
    format: int
    ledger: bytes
    version: int
    command: bytes
    ordinal: int
    type: str
    type_version: int
    turn: int | None
    recorded_at: int
    actor: str | None
    cause: str | None
    commitment: bytes


@dataclass(frozen=True, slots=True)
class Tags:
    """What an event was marked with when it was appended: whom it is about, and kinds of content, such as "payment"."""

    subjects: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


NO_TAGS: Final = Tags()


@dataclass(frozen=True, slots=True)
class Recorded:
    """One event of a ledger with its place in it; ``Erased`` stands for an event whose content was forgotten."""

    envelope: Envelope
    event: Event | Erased
    tags: Tags = NO_TAGS

    @property
    def version(self) -> int:
        """Place inside the ledger, from 1, without gaps."""
        return self.envelope.version

    @property
    def turn(self) -> int | None:
        """The turn that the event belongs to."""
        return self.envelope.turn

    @property
    def recorded_at(self) -> datetime:
        """When it was recorded, aware, in UTC."""
        return instant(self.envelope.recorded_at)


def instant(microseconds: int) -> datetime:
    """The aware UTC time of a stored number of microseconds; exact."""
    return EPOCH + timedelta(microseconds=microseconds)


def microseconds(moment: datetime) -> int:
    """The stored number of an aware time; exact."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def timestamp(number: int) -> str:
    """A stored time as text: RFC 3339, UTC, always six digits."""
    seconds, fraction = divmod(number, 1_000_000)
    days, second = divmod(seconds, _DAY_SECONDS)
    return f"{_day(days)}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.{fraction:06}Z"


@lru_cache(maxsize=64)
def _day(number: int) -> str:
    return (EPOCH + timedelta(days=number)).date().isoformat()
