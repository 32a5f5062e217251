"""How a model counts tokens, against our own count: learnt from what its provider said that it used.

Some vendors count half as much again as the public encodings. Where windows were recorded as served, what the provider
counted for the next answer is set against what we counted for the window. Where none were, as in imported conversations, the
request grew from one answer to the next by what was said in between: that growth is set against our count of it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Final

from projections.cards import Card
from projections.planning.taken_on import Recall
from projections.policy import Policy
from projections.told import Turns

LOOKED_AT_TURNS: Final = 64
"""So many of the latest turns are looked at."""

_FEWEST_SAMPLES: Final = 3
_FEWEST_TOKENS: Final = 300
_STEPS: Final = 20  # factors are rounded up to a twentieth, so that they rarely change
_PLAUSIBLE: Final = (0.5, 4.0)

_ASKED_TOKENS: Final = attrgetter("asked_tokens")

Served = Callable[[int], Sequence[tuple[int, int]]]
"""The windows that were recorded as served after a version, in order: at which version, and what was counted for them."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """How a model counts, against our own count: ``factor`` times as much, learnt from ``samples`` of its recorded usage."""

    model: str
    factor: float
    samples: int


class Budgets:
    """What a request of a policy may cost at each turn, in tokens as we count: less while its model was known to count more."""

    def __init__(self, turns: Turns, policy: Policy, *, served: Served, recall: Recall) -> None:
        self._turns = turns
        self._policy = policy
        self._served = served
        self._recall = recall
        self._current: tuple[Calibration | None] | None = None
        self._windows: tuple[int, Sequence[tuple[int, int]]] | None = None

    def vary(self, first: int) -> bool:
        """Whether it may have been less at one of the turns from ``first`` to the current one."""
        return _is_told(self._turns.cards(first - LOOKED_AT_TURNS + 1, self._turns.last))

    def at(self, number: int) -> int:
        """The budget of the window that turn ``number`` was the current one of."""
        calibration = self.calibration(number)
        tokens = self._policy.request_tokens
        return tokens if calibration is None else int(tokens / calibration.factor)

    def calibration(self, number: int) -> Calibration | None:
        """How the model counted that a window was for when turn ``number`` was the current one, as far as the turns told."""
        if number == self._turns.last:
            if self._current is None:
                cards = self._turns.cards(number - LOOKED_AT_TURNS + 1, number)
                self._current = (self._calibration(cards) if _is_told(cards) else None,)
            return self._current[0]
        return self._recall(("calibration", number, self._policy.model, self._policy.encoding), lambda: self._before(number))

    def _before(self, number: int) -> Calibration | None:
        *cards, following = self._turns.cards(number - LOOKED_AT_TURNS + 1, number + 1)
        return self._calibration([card.as_of(following.version) for card in cards])

    def _calibration(self, cards: Sequence[Card]) -> Calibration | None:
        served = {}
        windows = self._served_since(cards[0].version) if any(map(tells_usage, cards)) else ()
        for before, after in pairwise(cards):
            place = bisect_left(windows, (after.version,)) - 1
            if place >= 0 and windows[place][0] > before.version and after.role == "assistant":
                served[after.number] = windows[place][1]
        return calibration_of(cards, served=served, model=self._policy.model)

    def _served_since(self, version: int) -> Sequence[tuple[int, int]]:
        """Those of the earliest turns that were asked for hold those of the later ones."""
        if self._windows is None or self._windows[0] > version:
            self._windows = version, self._served(version)
        return self._windows[1]


def calibration_of(cards: Sequence[Card], *, served: Mapping[int, int], model: str | None) -> Calibration | None:
    """What the latest turns tell of a model, or of the one that answered last; None where they tell too little.

    ``served``: what was counted for the window that an assistant turn answers, by the number of the turn. A factor below 1 is
    taken for 1: a budget is never made larger than it was asked for.
    """
    answers = [card for card in cards if tells_usage(card)]
    if not answers:
        return None
    name = answers[-1].model if model is None else model
    samples = list(_of_windows(answers, served, name)) or list(_of_growth(cards, answers, name))
    ours, theirs = sum(sample[0] for sample in samples), sum(sample[1] for sample in samples)
    if name is None or len(samples) < _FEWEST_SAMPLES or ours < _FEWEST_TOKENS:
        return None
    factor = -(-theirs * _STEPS // ours) / _STEPS
    return Calibration(name, max(1.0, factor), len(samples))


def _is_told(cards: Sequence[Card]) -> bool:
    """Whether there is anything to learn from. Most often there is not: it is asked of every window."""
    return [*map(_ASKED_TOKENS, cards)].count(None) < len(cards)


def tells_usage(card: Card) -> bool:
    """Whether a turn is an answer of a model that is known, with what its request cost."""
    return card.asked_tokens is not None and card.model is not None and card.role == "assistant"


def _of_windows(answers: Sequence[Card], served: Mapping[int, int], name: str | None) -> Iterator[tuple[int, int]]:
    for card in answers:
        ours = served.get(card.number)
        if ours and card.asked_tokens and card.model == name and _is_plausible(ours, card.asked_tokens):
            yield ours, card.asked_tokens


def _of_growth(cards: Sequence[Card], answers: Sequence[Card], name: str | None) -> Iterator[tuple[int, int]]:
    """What was said between two answers of the model, the first of them included, and by how much the request grew."""
    for before, after in pairwise(answers):
        if before.model != name or after.model != name or before.asked_tokens is None or after.asked_tokens is None:
            continue
        first = cards[0].number
        ours = sum(map(_tokens, cards[before.number - first : after.number - first]))
        theirs = after.asked_tokens - before.asked_tokens
        if _is_plausible(ours, theirs):
            yield ours, theirs


def _tokens(card: Card) -> int:
    """What a turn adds to a request, without pictures, and without reasoning, which is not sent again."""
    return card.contents.tokens + sum(result.contents.tokens for result in card.results)


def _is_plausible(ours: int, theirs: int) -> bool:
    """Whether the two can be counts of the same: something else may have come or gone in between."""
    return ours > 0 and _PLAUSIBLE[0] <= theirs / ours <= _PLAUSIBLE[1]
