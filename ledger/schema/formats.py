"""What the values of a field look like, as frozen data; each format says what a value means, in one form for all spellings."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from ledger.json_text import Text
from ledger.parts import Frozen, Name
from ledger.schema.dates import Order, clock_time, day, instant
from ledger.schema.numbers import money, number, plain
from ledger.schema.refusal import Refused

_EMAIL = re.compile(r"[^\s@<>\"(),:;\\]+@(?:[^\s@<>\"(),:;\\.]+\.)+[^\s@<>\"(),:;\\.]{2,}")
_YES_NO = {"yes": True, "true": True, "no": False, "false": False}


class JsonFormat(Frozen):
    """Any JSON value; it means itself."""

    kind: Literal["json"] = "json"

    def meaning(self, value: Any) -> Any:
        """The value."""
        return value


class TextFormat(Frozen):
    """A text; ``pattern`` (a regular expression) must match all of it. White space around it has no meaning."""

    kind: Literal["text"] = "text"
    pattern: str | None = None
    most_characters: int | None = Field(default=None, ge=1)

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        compiled(pattern)
        return pattern

    def meaning(self, value: Any) -> Any:
        """The text without white space around it."""
        if not isinstance(value, str):
            raise Refused("text", "is no text")
        text = value.strip()
        if not text:
            raise Refused("text", "is blank")
        if self.most_characters is not None and len(text) > self.most_characters:
            raise Refused("length", f"has {len(text):,} characters, more than {self.most_characters:,}")
        if self.pattern is not None and re.fullmatch(self.pattern, text) is None:
            raise Refused("pattern", f"is not of the form {self.pattern}")
        return text


class NumberFormat(Frozen):
    """A number, exact; whole ones only if ``whole``."""

    kind: Literal["number"] = "number"
    whole: bool = False
    least: Decimal | None = None
    most: Decimal | None = None

    def meaning(self, value: Any) -> Any:
        """Its digits, without trailing zeros."""
        found = number(value)
        if self.whole and found != found.to_integral_value():
            raise Refused("whole", "is no whole number")
        if self.least is not None and found < self.least:
            raise Refused("least", f"is less than {self.least}")
        if self.most is not None and found > self.most:
            raise Refused("most", f"is more than {self.most}")
        return plain(found)


class MoneyFormat(Frozen):
    """An amount with its currency; ``currencies`` are those that are taken (all, if none is named)."""

    kind: Literal["money"] = "money"
    currencies: tuple[Name, ...] = ()

    def meaning(self, value: Any) -> Any:
        """Amount and currency."""
        amount, currency = money(value, self.currencies)
        return {"amount": plain(amount), "currency": currency}


class DateFormat(Frozen):
    """A day of the calendar; ``order`` says how 11/05/2031 is meant."""

    kind: Literal["date"] = "date"
    order: Order | None = None

    def meaning(self, value: Any) -> Any:
        """The day as ISO 8601 writes it."""
        return day(value, self.order).isoformat()


class TimeFormat(Frozen):
    """A time of day."""

    kind: Literal["time"] = "time"

    def meaning(self, value: Any) -> Any:
        """The time as ISO 8601 writes it, without seconds where they are zero."""
        found = clock_time(value)
        return found.isoformat("minutes" if found.second == 0 else "seconds")


class InstantFormat(Frozen):
    """A point in time, with its zone."""

    kind: Literal["datetime"] = "datetime"

    def meaning(self, value: Any) -> Any:
        """The instant in UTC."""
        return instant(value).isoformat()


class EmailFormat(Frozen):
    """An e-mail address."""

    kind: Literal["email"] = "email"

    def meaning(self, value: Any) -> Any:
        """The address, its domain in lower case."""
        text = value.strip() if isinstance(value, str) else ""
        if _EMAIL.fullmatch(text) is None:
            raise Refused("email", "is no e-mail address")
        local, _, domain = text.rpartition("@")
        return f"{local}@{domain.lower()}"


class ChoiceFormat(Frozen):
    """One of the ``values``, in whatever case it is written."""

    kind: Literal["choice"] = "choice"
    values: tuple[Text, ...] = Field(min_length=1)

    def meaning(self, value: Any) -> Any:
        """The value as it was declared."""
        wanted = value.strip().casefold() if isinstance(value, str) else None
        found = next((known for known in self.values if known.casefold() == wanted), None)
        if found is None:
            raise Refused("choice", f"is none of {', '.join(self.values)}")
        return found


class BooleanFormat(Frozen):
    """Yes or no."""

    kind: Literal["boolean"] = "boolean"

    def meaning(self, value: Any) -> Any:
        """True or false."""
        found = value if isinstance(value, bool) else _YES_NO.get(value.strip().lower()) if isinstance(value, str) else None
        if found is None:
            raise Refused("boolean", "is neither true nor false")
        return found


Format = Annotated[
    JsonFormat
    | TextFormat
    | NumberFormat
    | MoneyFormat
    | DateFormat
    | TimeFormat
    | InstantFormat
    | EmailFormat
    | ChoiceFormat
    | BooleanFormat,
    Field(discriminator="kind"),
]
"""What the values of a field look like."""


def compiled(pattern: str | None) -> None:
    """``ValueError`` for what is no regular expression."""
    if pattern is None:
        return
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"pattern {pattern!r} is no regular expression: {error}") from error
