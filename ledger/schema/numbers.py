"""Numbers and amounts of money as people write them. Pure; nothing is rounded and nothing is guessed."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from ledger.schema.currencies import CODES, SIGNS
from ledger.schema.refusal import Refused

_DIGITS: Final = re.compile(r"[+-]?(?:\d[\d., ']*\d|\d)")
_MACHINE: Final = re.compile(r"-?\d+(?:\.\d+)?", re.ASCII)
_GROUPED: Final = {
    ",": re.compile(r"\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})*,\d{3}"),  # the second as in India: 1,23,456
    ".": re.compile(r"\d{1,3}(?:\.\d{3})+"),
    " ": re.compile(r"\d{1,3}(?: \d{3})+"),
    "'": re.compile(r"\d{1,3}(?:'\d{3})+"),
}
_DECIMAL_MARKS: Final = ",."
_SPELLINGS: Final = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2019": "'", "\u2212": "-"})
"""The spaces, the apostrophe and the minus sign of typesetters."""

_MOST_DIGITS: Final = 60
_MOST_CHARACTERS: Final = 200


def number(value: object) -> Decimal:
    """The number that a value is, or that a text says: 4180, "4,180", "4 180,50", "1,23,456.00"."""
    if isinstance(value, bool) or value is None:
        raise Refused("number", "is no number")
    if isinstance(value, int | float | Decimal):
        return _exact(value)
    text = _short(value).translate(_SPELLINGS).strip() if isinstance(value, str) else ""
    if _DIGITS.fullmatch(text) is None:
        raise Refused("number", "is no number")
    return _bounded(_written(text))


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
        return _amount(value["amount"]), _currency([str(value["currency"])], allowed)
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return number(value), _currency([], allowed)
    if not isinstance(value, str):
        raise Refused("money", "is no amount of money")
    text = _short(value).translate(_SPELLINGS).strip().removesuffix("/-")
    found = _DIGITS.search(text)
    if found is None:
        raise Refused("money", "names no amount")
    before, after = text[: found.start()].strip(), text[found.end() :].strip()
    digits = found.group()
    if before.startswith("-") and digits[0] not in "+-":  # -$5
        before, digits = before[1:].strip(), f"-{digits}"
    return number(digits), _currency([before, after], allowed)


def _amount(value: object) -> Decimal:
    """The amount of an object: programs write those, so the point of "1.234" is a decimal point."""
    if isinstance(value, str) and _MACHINE.fullmatch(_short(value)) is not None:
        return _bounded(Decimal(value))
    return number(value)


def _exact(value: float | Decimal) -> Decimal:
    found = Decimal(value) if isinstance(value, int) else Decimal(str(value))
    if not found.is_finite():
        raise Refused("number", "is not finite")
    return _bounded(found)


def _short(text: str) -> str:
    if len(text) > _MOST_CHARACTERS:
        raise Refused("length", f"has more than {_MOST_CHARACTERS} characters")
    return text


def _bounded(found: Decimal) -> Decimal:
    if len(found.as_tuple().digits) > _MOST_DIGITS or not -_MOST_DIGITS <= found.adjusted() < _MOST_DIGITS:
        raise Refused("number", f"has more than {_MOST_DIGITS} digits")
    return found


def _written(text: str) -> Decimal:
    sign = "-" if text.startswith("-") else ""
    digits = text.lstrip("+-")
    marks = sorted({mark for mark in _GROUPED if mark in digits}, key=digits.rindex)
    if len(marks) == 1 and marks[0] in _DECIMAL_MARKS:
        return Decimal(sign + _one_mark(digits, marks[0]))
    if len(marks) == 1:
        return Decimal(sign + _ungrouped(digits, marks[0]))
    if marks:  # the last one is the decimal mark, all others group
        whole, decimal, fraction = digits.rpartition(marks[-1])
        if len(marks) > 2 or decimal not in _DECIMAL_MARKS:
            raise Refused("number", "has its digits grouped in no known way")
        return Decimal(f"{sign}{_ungrouped(whole, marks[0])}.{fraction}")
    return Decimal(sign + digits)


def _one_mark(digits: str, mark: str) -> str:
    """A comma before three digits groups them, as any mark does that comes twice; else it is the decimal mark."""
    whole, _, _ = digits.partition(mark)
    if digits.count(mark) > 1:
        return _ungrouped(digits, mark)
    if _GROUPED[mark].fullmatch(digits) is None or whole == "0":
        return digits.replace(mark, ".")
    if mark == ".":
        raise Refused("ambiguous", "may mean thousands or a fraction: leave the mark out, or write all decimals")
    return _ungrouped(digits, mark)


def _ungrouped(digits: str, mark: str) -> str:
    if digits.startswith("0") or _GROUPED[mark].fullmatch(digits) is None:
        raise Refused("number", "has its digits grouped in no known way")
    return digits.replace(mark, "")


def _currency(named: list[str], allowed: tuple[str, ...]) -> str:
    """The one currency that all names can mean."""
    names = [name for name in named if name]
    if not names and len(allowed) == 1:
        return allowed[0]
    meant = [_currencies(name, allowed) for name in names]
    if not meant or not all(meant):
        raise Refused("currency", f"names no currency: write one of {', '.join(allowed) or 'its three letters'}")
    common = [code for code in meant[0] if all(code in codes for codes in meant)]
    if not common:
        raise Refused("currency", "names two currencies")
    fitting = [code for code in common if not allowed or code in allowed]
    if not fitting:
        raise Refused("currency", f"is in {common[0]}, not in {' or '.join(allowed)}")
    if len(fitting) > 1:
        raise Refused("ambiguous", f"may mean {' or '.join(fitting)}: write the three letters")
    return fitting[0]


def _currencies(name: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """What a code or a sign may mean; nothing, if it is neither."""
    code = name.upper()
    return (code,) if code in CODES or code in allowed else SIGNS.get(name.lower(), ())
