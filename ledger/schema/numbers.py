"""Numbers and amounts of money as people write them. Pure; nothing is rounded and nothing is guessed."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Final

from ledger.schema.refusal import Refused

_DIGITS: Final = re.compile(r"[+-]?(?:\d[\d.,'\u00a0\u202f ]*\d|\d)")
_GROUPED: Final = {
    ",": re.compile(r"\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})*,\d{3}"),  # the second as in India: 1,23,456
    ".": re.compile(r"\d{1,3}(?:\.\d{3})+"),
}
_CODE: Final = re.compile(r"[A-Za-z]{3}")
_SIGNS: Final = {
    "€": ("EUR",),
    "£": ("GBP",),
    "₹": ("INR",),
    "¥": ("JPY", "CNY"),
    "₩": ("KRW",),
    "₽": ("RUB",),
    "₺": ("TRY",),
    "₫": ("VND",),
    "₪": ("ILS",),
    "$": ("USD", "AUD", "CAD", "HKD", "MXN", "NZD", "SGD"),
    "us$": ("USD",),
    "rs": ("INR", "PKR", "LKR"),
    "rs.": ("INR", "PKR", "LKR"),
    "元": ("CNY",),
    "kr": ("SEK", "NOK", "DKK"),
}
"""The currencies that a sign may mean; where it may be several, the schema has to say which."""

_MOST_DIGITS: Final = 60


def number(value: object) -> Decimal:
    """The number that a value is, or that a text says: 4180, "4,180", "4 180,50", "1,23,456.00"."""
    if isinstance(value, bool) or value is None:
        raise Refused("number", "is no number")
    if isinstance(value, int | float | Decimal):
        found = Decimal(str(value))
        if not found.is_finite():
            raise Refused("number", "is not finite")
        return _bounded(found)
    if not isinstance(value, str) or _DIGITS.fullmatch(value.strip()) is None:
        raise Refused("number", "is no number")
    return _bounded(_written(value.strip()))


def plain(value: Decimal) -> str:
    """A number in the one form that all spellings share: no exponent, no trailing zeros, no sign of zero."""
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def money(value: object, allowed: tuple[str, ...]) -> tuple[Decimal, str]:
    """Amount and currency (ISO 4217) of {"amount": …, "currency": …} or of a text: "4,180 INR", "₹ 4180.00", "INR 4180".

    ``allowed``: the currencies that the field takes, if it says so; a single one is meant where none is named.
    """
    if isinstance(value, dict) and set(value) == {"amount", "currency"}:
        return number(value["amount"]), _currency(str(value["currency"]), allowed)
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return number(value), _currency("", allowed)
    if not isinstance(value, str):
        raise Refused("money", "is no amount of money")
    found = _DIGITS.search(value)
    if found is None:
        raise Refused("money", "names no amount")
    before, after = value[: found.start()].strip(), value[found.end() :].strip()
    if before and after:
        raise Refused("money", "is more than an amount and a currency")
    return number(found.group()), _currency(before or after, allowed)


def _bounded(found: Decimal) -> Decimal:
    if len(found.as_tuple().digits) > _MOST_DIGITS or abs(found.adjusted()) > _MOST_DIGITS:
        raise Refused("number", f"has more than {_MOST_DIGITS} digits")
    return found


def _written(text: str) -> Decimal:
    sign = "-" if text.startswith("-") else ""
    digits = re.sub(r"['\u00a0\u202f ]", "", text.lstrip("+-"))
    points = [mark for mark in (",", ".") if mark in digits]
    if len(points) == 2:
        decimal = max(points, key=digits.rindex)
        whole, _, rest = digits.rpartition(decimal)
        digits = f"{_ungrouped(whole, min(points, key=digits.rindex))}.{rest}"
    elif points:
        digits = _one_mark(digits, points[0])
    try:
        return Decimal(sign + digits)
    except InvalidOperation:
        raise Refused("number", "is no number") from None


def _one_mark(digits: str, mark: str) -> str:
    """A comma before three digits groups them, as any mark does that comes twice; else it is the decimal mark."""
    if digits.count(mark) > 1 or (mark == "," and _GROUPED[mark].fullmatch(digits)):
        return _ungrouped(digits, mark)
    if mark == "." and _GROUPED[mark].fullmatch(digits) and not digits.startswith("0"):
        raise Refused("ambiguous", "may mean thousands or a fraction: leave the mark out, or write all decimals")
    return digits.replace(mark, ".")


def _ungrouped(digits: str, mark: str) -> str:
    if mark in digits and _GROUPED[mark].fullmatch(digits) is None:
        raise Refused("number", "has its digits grouped in no known way")
    return digits.replace(mark, "")


def _currency(named: str, allowed: tuple[str, ...]) -> str:
    meant = (named.upper(),) if _CODE.fullmatch(named) and named.lower() not in _SIGNS else _SIGNS.get(named.lower())
    if not named:
        meant = allowed if len(allowed) == 1 else None
    if meant is None:
        raise Refused("currency", f"names no currency: write one of {', '.join(allowed) or 'its three letters'}")
    fitting = [code for code in meant if not allowed or code in allowed]
    if not fitting:
        raise Refused("currency", f"is in {meant[0]}, not in {' or '.join(allowed)}")
    if len(fitting) > 1:
        raise Refused("ambiguous", f"may mean {' or '.join(fitting)}: write the three letters")
    return fitting[0]
