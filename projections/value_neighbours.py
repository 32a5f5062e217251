"""Whether the words beside a number, an amount or a time make another one of it than its own words say. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from ledger.schema.currencies import CODES
from ledger.schema.formats import MoneyFormat, NumberFormat, TimeFormat
from projections.passages import Run
from projections.value_words import (
    CURRENCY_CHARACTERS,
    CURRENCY_WORDS,
    EARLIER_CHARACTERS,
    EARLIER_HALF,
    LATER_CHARACTERS,
    LATER_HALF,
    MINUS,
    SCALE_CHARACTERS,
    SCALES,
)

_NAMED: Final = re.compile(r"[^\W\d_]")
_FRACTION: Final = re.compile(r"\d{1,3}/\d{1,3}|[\u00bc-\u00be]")
_NEAR: Final = 2
"""A currency is named so many words from its amount at most: "4,180 US dollars"."""


def is_changed(run: Run, form: Any, wanted: str) -> bool:
    """Whether the words around a run make something else of it; ``wanted``: what it means in its format, canonical JSON."""
    before, after = run.before(), run.after()
    if isinstance(form, NumberFormat | MoneyFormat) and _is_scaled(before, after):
        return True
    if _NAMED.search(run.text) is not None:
        return False
    if isinstance(form, MoneyFormat):
        currency = json.loads(wanted)["currency"]
        return any(_is_other_currency(word, currency) for word in (*before[-_NEAR:], *after[:_NEAR]))
    return isinstance(form, TimeFormat) and _is_of_other_half(json.loads(wanted), [*before, *after])


def _is_scaled(before: list[str], after: list[str]) -> bool:
    """Whether a number is followed by a scale ("4 million") or a fraction ("4 1/2"), or a minus is said before it."""
    if before and before[-1].casefold() in MINUS:
        return True
    if not after:
        return False
    return (
        after[0].lstrip("-").casefold() in SCALES
        or after[0][0] in SCALE_CHARACTERS
        or _FRACTION.fullmatch(after[0]) is not None
    )


def _is_other_currency(word: str, currency: str) -> bool:
    """Whether a word, or a part of one ("USD/month"), names other currencies only."""
    named = [codes for part in re.split(r"[/-]", word) if part for codes in _currencies(part)]
    return bool(named) and all(currency not in codes for codes in named)


def _currencies(word: str) -> Iterator[tuple[str, ...]]:
    """What a word for money may mean."""
    name = word.casefold()
    if word in CODES:
        yield (word,)
    elif (meant := CURRENCY_WORDS.get(name, CURRENCY_WORDS.get(name.removesuffix("s")))) is not None:
        yield meant
    else:
        yield from [codes for text, codes in CURRENCY_CHARACTERS.items() if name.startswith(text)][:1]


def _is_of_other_half(time: str, words: list[str]) -> bool:
    """Whether words say that a time by the clock of twelve hours is in the other half of the day."""
    hour = int(time[:2])
    names = {word.casefold() for word in words}
    is_later = bool(names & LATER_HALF) or any(text in word for word in words for text in LATER_CHARACTERS)
    is_earlier = bool(names & EARLIER_HALF) or any(text in word for word in words for text in EARLIER_CHARACTERS)
    if hour == 12:
        return is_earlier or bool(names & {"night", "midnight", "nachts", "nuit", "noche"})
    return 1 <= hour < 12 and is_later
