"""What the values of a field look like, as frozen data; each format says what a value means, in one form for all spellings."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from ledger.json_text import Text
from ledger.parts import Frozen, Name
from ledger.schema.characters import INVISIBLE, OUTSIDE_ADDRESSES, is_blank
from ledger.schema.dates import Order, clock_time, day, instant
from ledger.schema.numbers import money, number, plain
from ledger.schema.refusal import Refused

_LOCAL = r"[^\s@<>\"(),:;\\]+"
_LABEL = r"(?!-)[^\s@<>\"(),:;\\.]+(?<!-)"
_EMAIL = re.compile(rf"{_LOCAL}@(?:{_LABEL}\.)+(?=..){_LABEL}", re.DOTALL)
_CURRENCY = re.compile(r"[A-Z]{3,8}")
_MOST_MATCHED = 1_000
"""Texts that a pattern judges have at most so many characters, unless the field says another number."""

_YES_NO = {"yes": True, "true": True, "no": False, "false": False}


class JsonFormat(Frozen):
    """Any JSON value; it means itself, and nothing in it is judged."""

    kind: Literal["json"] = "json"

    def meaning(self, value: Any) -> Any:
        """The value."""
        return value


class TextFormat(Frozen):
    """A text; ``pattern`` (a regular expression) must match all of it. White space around it has no meaning.

    A pattern is the owner's code and runs on what others wrote: one that repeats what repeats, as ``(a+)+`` does, may take for
    ever on a short text. Texts for a pattern have at most 1,000 characters, if ``most_characters`` does not say otherwise.
    """

    kind: Literal["text"] = "text"
    pattern: str | None = None
    most_characters: int | None = Field(default=None, ge=1)

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        compiled(pattern)
        return pattern

    def meaning(self, value: Any) -> Any:
        """The text in Unicode's form C, without white space around it; one of invisible characters only is blank."""
        if not isinstance(value, str):
            raise Refused("text", "is no text")
        text = _text(value)
        if is_blank(text):
            raise Refused("text", "is blank")
        most = self.most_characters or (None if self.pattern is None else _MOST_MATCHED)
        if most is not None and len(text) > most:
            raise Refused("length", f"has {len(text):,} characters, more than {most:,}")
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
        """The number, without trailing zeros."""
        found = number(value)
        if self.whole and found != found.to_integral_value():
            raise Refused("whole", "is no whole number")
        if self.least is not None and found < self.least:
            raise Refused("least", f"is less than {self.least}")
        if self.most is not None and found > self.most:
            raise Refused("most", f"is more than {self.most}")
        return Decimal(plain(found))


class MoneyFormat(Frozen):
    """An amount with its currency; ``currencies`` are those that are taken (those of ISO 4217, if none is named)."""

    kind: Literal["money"] = "money"
    currencies: tuple[Name, ...] = ()

    @field_validator("currencies")
    @classmethod
    def _codes(cls, currencies: tuple[str, ...]) -> tuple[str, ...]:
        codes = tuple(code.strip().upper() for code in currencies)
        if (wrong := next((code for code in codes if not _CURRENCY.fullmatch(code)), None)) is not None:
            raise ValueError(f"{wrong!r} is no currency: give codes such as INR")
        return codes

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
    """An e-mail address, without characters that nobody sees, and with labels that neither begin nor end with a hyphen."""

    kind: Literal["email"] = "email"

    def meaning(self, value: Any) -> Any:
        """The address, its domain in lower case."""
        text = value.strip() if isinstance(value, str) else ""
        if _EMAIL.fullmatch(text) is None:
            raise Refused("email", "is no e-mail address")
        if INVISIBLE.search(value) or OUTSIDE_ADDRESSES.search(value):
            raise Refused("email", "has control, format or invisible characters")
        local, _, domain = text.rpartition("@")
        return f"{local}@{domain.lower()}"


class ChoiceFormat(Frozen):
    """One of the ``values``, in whatever case it is written, if that leaves one."""

    kind: Literal["choice"] = "choice"
    values: tuple[Text, ...] = Field(min_length=1)

    def meaning(self, value: Any) -> Any:
        """The value as it was declared."""
        if value in self.values:
            return value
        wanted = _text(value).casefold() if isinstance(value, str) else None
        found = [known for known in self.values if _text(known).casefold() == wanted]
        if not found:
            raise Refused("choice", f"is none of {', '.join(self.values)}")
        if len(set(found)) > 1:
            raise Refused("ambiguous", f"may mean {' or '.join(found)}: write it as it is declared")
        return found[0]


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
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"pattern {pattern!r} is no regular expression: {error}") from error


def _text(value: str) -> str:
    return unicodedata.normalize("NFC", value).strip()
