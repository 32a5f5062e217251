"""What a user of a booking service may state, declared: the formats of its values, and the patterns that find them in a turn.

The patterns know English and bookings, and no dialogue: what stands before or after a number or a time says what it is.
"""

from __future__ import annotations

import re
from typing import Final

from ledger.schema import FieldSpec, Schema
from ledger.schema.formats import ChoiceFormat, Format, NumberFormat, TimeFormat

_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_PRICES: Final = ("cheap", "moderate", "expensive")
_AREAS: Final = ("centre", "north", "south", "east", "west")

_FORMATS: Final[dict[str, Format]] = {
    "people": NumberFormat(whole=True),
    "stay": NumberFormat(whole=True),
    "stars": NumberFormat(whole=True),
    "time": TimeFormat(),
    "leave_at": TimeFormat(),
    "arrive_by": TimeFormat(),
    "day": ChoiceFormat(values=_DAYS),
    "price_range": ChoiceFormat(values=_PRICES),
    "area": ChoiceFormat(values=_AREAS),
}

_NUMBER: Final = r"\b(?P<value>\d{1,2})\b"
_HALF_OF_DAY: Final = r" ?(?:am|pm|a\.m\.|p\.m\.)(?!\w)"
_CLOCK: Final = rf"\b(?P<value>\d{{1,2}}[:.]\d{{2}}(?:{_HALF_OF_DAY}|(?! ?[ap]\.?m)\b)|\d{{1,2}}{_HALF_OF_DAY})"
_DAY: Final = rf"\b(?P<value>{'|'.join(_DAYS)})\b"
_PRICE: Final = rf"\b(?P<value>{'|'.join(_PRICES)})(?:ly)?\b"
_AREA: Final = rf"\b(?P<value>{'|'.join(_AREAS)})\b"
_NOT_OF_A_JOURNEY: Final = "".join(
    rf"(?<!\b{word} )" for word in ("leave", "leaves", "leaving", "depart", "departs", "departing", "arrive", "arrives", "up")
)

CUED: Final[dict[str, tuple[str, ...]]] = {
    "people": (
        rf"\b(?:table|room|reservation|seats?|tickets?) for {_NUMBER}(?! ?(?:nights?|days?|am|pm|[:.]\d))",
        rf"{_NUMBER} (?:people|persons?|guests?|adults?|tickets?|seats?|passengers?|travell?ers?|riders?|of us)\b",
    ),
    "stay": (rf"{_NUMBER} (?:nights?|days?)\b",),
    "stars": (rf"{_NUMBER}[ -]stars?\b", rf"\b(?:star rating|rating|stars) of {_NUMBER}"),
    "time": (rf"\b{_NOT_OF_A_JOURNEY}at {_CLOCK}", rf"\b(?:try|how about|what about) {_CLOCK}", rf"{_CLOCK} instead\b"),
    "leave_at": (
        rf"\b(?:leav|depart)\w*[^.?!]{{0,30}}? (?:after|at|around|from) {_CLOCK}",
        rf"\b(?:after|pick me up at|picked up at) {_CLOCK}",
        rf"{_CLOCK} or later\b",
    ),
    "arrive_by": (rf"\barriv\w*[^.?!]{{0,40}}? (?:by|before|at) {_CLOCK}", rf"\b(?:by|before) {_CLOCK}"),
    "day": (rf"\b(?:on|from|starting|this|coming|next|for) (?:on )?{_DAY}",),
    "price_range": (
        rf"(?<!not )(?<!n't ){_PRICE}(?: (?:priced?|range|one|place|hotel|guest ?house|restaurant|food)\b)",
        rf"\b(?:is|be|it|something|an?|and|are) {_PRICE}",
    ),
    "area": (rf"\b(?:in|on) (?:the )?{_AREA}", rf"{_AREA} (?:side|part|area|end|of town)\b"),
}
"""Patterns with the words around a value that say what it is, by slot type."""

BARE: Final[dict[str, tuple[str, ...]]] = {
    "people": (_NUMBER,),
    "stay": (_NUMBER,),
    "stars": (_NUMBER,),
    "time": (_CLOCK,),
    "leave_at": (_CLOCK,),
    "arrive_by": (_CLOCK,),
    "day": (_DAY,),
    "price_range": (_PRICE,),
    "area": (_AREA,),
}
"""The floor: whatever has the form of a value is one."""

_TYPES: Final[tuple[tuple[str, str], ...]] = (
    (r"(?:hotel|restaurant|train)-people|\w+/(?:travelers|passengers|number_of_seats|number_of_riders)", "people"),
    (r"hotel-stay|\w+/stay_length", "stay"),
    (r"hotel-stars|\w+/star_rating", "stars"),
    (r"restaurant-time|\w+/(?:time|pickup_time)", "time"),
    (r"(?:train|taxi)-leaveAt|\w+/leaving_time", "leave_at"),
    (r"(?:train|taxi)-arriveBy", "arrive_by"),
    (r"(?:hotel|restaurant|train)-day", "day"),
    (r"(?:hotel|restaurant)-pricerange|price range", "price_range"),
    (r"(?:hotel|restaurant|attraction)-area|area", "area"),
)
"""Which annotated slots are of which type: whose booking it is, a pattern that reads a single turn cannot tell."""


def slot_type(slot: str) -> str | None:
    """The type of an annotated slot of MultiWOZ, SGD or WOZ 2.0; None where its values have no form."""
    return next((name for pattern, name in _TYPES if re.fullmatch(pattern, slot)), None)


def booking_schema(patterns: dict[str, tuple[str, ...]]) -> Schema:
    """The schema of a booking with such patterns, which look past capitals."""
    fields = tuple(
        FieldSpec(name=name, format=values, patterns=tuple(f"(?i){pattern}" for pattern in patterns[name]))
        for name, values in _FORMATS.items()
    )
    return Schema(name="booking", fields=fields)
