"""Whether a user's turn says a value, judged without the code that judges it in earnest: generous, and never about a format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ledger.events import Source
from ledger.schema import Schema
from projections.extraction import Candidate
from projections.transcript import Turn

Judge = Callable[[Candidate, Turn, Schema], Source | None]

_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
"""Letters of Chinese and Japanese, which set no spaces between words."""

_TIME: Final = re.compile(r"\d{1,2}(?::\d{2}|(?::\d{2})? ?[ap]\.?m\.?)")
_CLOCK: Final = re.compile(r"(\d{1,2})(?:[:.](\d{2}))?\s*([ap])?")


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate with the turn that it is about and what a judge took it for."""

    candidate: Candidate
    turn: Turn
    source: Source | None


def judged(candidates: Sequence[Candidate], turns: Sequence[Turn], schema: Schema, judge: Judge) -> list[Judged]:
    """What a judge says of each candidate."""
    numbered = {turn.number: turn for turn in turns}
    return [Judged(one, numbered[one.turn], judge(one, numbered[one.turn], schema)) for one in candidates]


def not_said(verdicts: Sequence[Judged]) -> list[Judged]:
    """What was taken for the user's word although the turn is not a user's, or does not say the value."""
    return [one for one in verdicts if one.source == "user" and not says(one.turn, one.candidate.value)]


def says(turn: Turn, value: str) -> bool:
    """Whether the turn is a user's and holds the words of a value, one after the other, or its number, or its time of day."""
    if turn.role != "user":
        return False
    if _UNSPACED.search(value) is not None and value in turn.text:
        return True
    words, wanted = _words(turn.text), _words(value)
    if any(words[place : place + len(wanted)] == wanted for place in range(len(words))):
        return True
    return _TIME.fullmatch(value.casefold()) is not None and bool(set(_times(value)) & set(_times(turn.text)))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _times(text: str) -> Iterator[tuple[int, int]]:
    """Every time of day that a text may name, in hours and minutes."""
    for hour, minute, half in _CLOCK.findall(text.casefold()):
        later = half == "p" and int(hour) < 12
        yield int(hour) + (12 if later else 0), int(minute or 0)
