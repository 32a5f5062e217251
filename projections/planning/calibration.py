"""How a model counts tokens, against our own count: learnt from what its provider said that it used.

Some vendors count half as much again as the public encodings. Where windows were recorded as served, what the provider
counted for the next answer is set against what we counted for the window. Where none were, as in imported conversations, the
request grew from one answer to the next by what was said in between: that growth is set against our count of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ledger.parts import Usage
from projections.cards import Card
from projections.told import Told

LOOKED_AT_TURNS: Final = 64
"""So many of the latest turns are looked at."""

_FEWEST_SAMPLES: Final = 3
_FEWEST_TOKENS: Final = 300
_STEPS: Final = 20  # factors are rounded up to a twentieth, so that they rarely change
_PLAUSIBLE: Final = (0.5, 4.0)
_CACHED: Final = ("cache_read_input_tokens", "cache_creation_input_tokens")  # counted beside ``input_tokens`` by one vendor


@dataclass(frozen=True, slots=True)
class Calibration:
    """How a model counts, against our own count: ``factor`` times as much, learnt from ``samples`` of its recorded usage."""

    model: str
    factor: float
    samples: int


def calibration_of(told: Sequence[Told], *, served: Mapping[int, int], model: str | None) -> Calibration | None:
    """What the latest turns tell of a model, or of the one that answered last; None where they tell too little.

    ``served``: what was counted for the window that an assistant turn answers, by the number of the turn. A factor below 1 is
    taken for 1: a budget is never made larger than it was asked for.
    """
    answers = [one for one in told if answers_with_usage(one)]
    if not answers:
        return None
    name = answers[-1].turn.model if model is None else model
    samples = list(_of_windows(answers, served, name)) or list(_of_growth(told, name))
    ours, theirs = sum(sample[0] for sample in samples), sum(sample[1] for sample in samples)
    if name is None or len(samples) < _FEWEST_SAMPLES or ours < _FEWEST_TOKENS:
        return None
    factor = -(-theirs * _STEPS // ours) / _STEPS
    return Calibration(name, max(1.0, factor), len(samples))


def answers_with_usage(told: Told) -> bool:
    """Whether a turn is an answer of a model that is known, with what it used."""
    turn = told.turn
    return turn.role == "assistant" and turn.model is not None and turn.usage is not None


def input_tokens(usage: Usage) -> int | None:
    """What a provider counted for a request, with what it took from its cache."""
    if usage.input_tokens is None:
        return None
    raw = None if usage.raw is None else usage.raw.value
    cached = [raw.get(name) for name in _CACHED] if isinstance(raw, dict) else []
    return usage.input_tokens + sum(found for found in cached if isinstance(found, int))


def _of_windows(answers: Sequence[Told], served: Mapping[int, int], name: str | None) -> Iterator[tuple[int, int]]:
    for one in answers:
        ours = served.get(one.turn.number)
        theirs = None if one.turn.usage is None else input_tokens(one.turn.usage)
        if ours and theirs and one.turn.model == name and _is_plausible(ours, theirs):
            yield ours, theirs


def _of_growth(told: Sequence[Told], name: str | None) -> Iterator[tuple[int, int]]:
    """What was said between two answers of the model, the first of them included, and by how much the request grew."""
    places = [place for place, one in enumerate(told) if one.turn.role == "assistant" and one.turn.usage is not None]
    for before, after in pairwise(places):
        first, last = told[before].turn, told[after].turn
        counted = [None if turn.usage is None else input_tokens(turn.usage) for turn in (first, last)]
        if first.model != name or last.model != name or counted[0] is None or counted[1] is None:
            continue
        ours = sum(_tokens(one.card) for one in told[before:after])
        theirs = counted[1] - counted[0]
        if _is_plausible(ours, theirs):
            yield ours, theirs


def _tokens(card: Card) -> int:
    """What a turn adds to a request, without pictures, and without reasoning, which is not sent again."""
    return card.contents.tokens + sum(result.contents.tokens for result in card.results)


def _is_plausible(ours: int, theirs: int) -> bool:
    """Whether the two can be counts of the same: something else may have come or gone in between."""
    return ours > 0 and _PLAUSIBLE[0] <= theirs / ours <= _PLAUSIBLE[1]
