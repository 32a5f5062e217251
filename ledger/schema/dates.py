"""Dates and times as people write them. Pure: no clock, no locale; what could mean two days is refused."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from typing import Final, Literal

from ledger.schema.refusal import Refused

Order = Literal["day_first", "month_first"]
"""How a schema says that numbers separated by strokes, points or hyphens are meant: 11/05/2031."""

_YEAR_FIRST: Final = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})")
_YEAR_LAST: Final = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})")
_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_DAY_MONTH: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?(?: of)?[ -]([a-z]{3,9})\.?,?[ -](\d{4})")
_MONTH_DAY: Final = re.compile(r"([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})")
_TIME: Final = re.compile(r"(\d{1,2})(?:[:.h](\d{2}))?(?::(\d{2}))? ?(am|pm|a\.m\.|p\.m\.)?")
_MOST_CHARACTERS: Final = 100


def day(value: object, order: Order | None) -> date:
    """The day that a text names; with the year first it is always year, month, day, as in ISO 8601."""
    text = _words(value)
    if found := _YEAR_FIRST.fullmatch(text):
        return _date(found[1], found[3], found[4])
    if found := _YEAR_LAST.fullmatch(text):
        return _by_numbers(int(found[1]), int(found[3]), found[4], order)
    if found := _DAY_MONTH.fullmatch(text):
        return _date(found[3], _month(found[2]), found[1])
    if found := _MONTH_DAY.fullmatch(text):
        return _date(found[3], _month(found[1]), found[2])
    raise Refused("date", "is no date: write 2031-05-11")


def clock_time(value: object) -> time:
    """The time of day that a text names: 09:15, 9.15, 9:15 pm."""
    found = _TIME.fullmatch(_words(value))
    if found is None or (found[2] is None and found[4] is None):
        raise Refused("time", "is no time of day: write 09:15")
    hour = int(found[1])
    if found[4] is not None:
        if not 1 <= hour <= 12:
            raise Refused("time", "is no time of day: write 09:15")
        hour = hour % 12 + (12 if found[4].startswith("p") else 0)
    try:
        return time(hour, int(found[2] or 0), int(found[3] or 0))
    except ValueError:
        raise Refused("time", "is no time of day: write 09:15") from None


def instant(value: object) -> datetime:
    """The instant that a text names, in UTC; one without a zone is refused."""
    text = value.strip() if isinstance(value, str) else ""
    try:
        found = datetime.fromisoformat(text.upper() if text.isascii() else "")  # RFC 3339 has t and z, too
    except ValueError:
        raise Refused("datetime", "is no time: write 2031-05-11T09:00:00+02:00") from None
    if found.utcoffset() is None:
        raise Refused("zone", "has no zone: write 2031-05-11T09:00:00+02:00")
    try:
        return found.astimezone(UTC)
    except OverflowError:
        raise Refused("datetime", "is out of range") from None


def _words(value: object) -> str:
    """A short text in lower case with single spaces; nothing, if it is none."""
    return " ".join(value.lower().split()) if isinstance(value, str) and len(value) <= _MOST_CHARACTERS else ""


def _by_numbers(first: int, second: int, year: str, order: Order | None) -> date:
    if order is None and first <= 12 and second <= 12 and first != second:
        raise Refused("ambiguous", "may mean two days: write 2031-05-11, or declare the order of day and month")
    is_month_first = order == "month_first" or (order is None and second > 12)
    return _date(year, first, second) if is_month_first else _date(year, second, first)


def _month(name: str) -> int:
    found = next((number for number, month in enumerate(_MONTHS, 1) if month.startswith(name)), None)
    if found is None:
        raise Refused("date", f"names no month with {name!r}: write 2031-05-11")
    return found


def _date(year: object, month: object, number: object) -> date:
    try:
        return date(int(str(year)), int(str(month)), int(str(number)))
    except ValueError:
        raise Refused("date", "is no day of the calendar") from None
