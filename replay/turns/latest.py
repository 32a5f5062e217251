"""Turns that the next window has nearly all of, too: the latest ones in a row, and some others. Taken on in one piece."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, TypeVar

from projections.cards import Card
from projections.told import Told

One = TypeVar("One", bound=Told | Card)

MOST_LATEST: Final = 192
"""So many turns are kept in a row at the most."""

FEWEST_LATEST: Final = 128
"""So many are left where there are more, unless they are too long."""


class LatestTurns(NamedTuple, Generic[One]):
    """Turns in a row, or their cards, from the turn ``first`` on.

    They were the latest at the version ``since``, and from there on read so. ``tokens`` is how long they are together at the
    most.
    """

    since: int
    first: int
    turns: Sequence[One]
    tokens: int

    @property
    def end(self) -> int:
        """The number of the turn after them."""
        return self.first + len(self.turns)

    def joined(self, version: int, *, before: Sequence[One] = (), after: Sequence[One] = ()) -> LatestTurns[One]:
        """With those that come before and after them, as they read at a version."""
        if not before and not after:
            return self
        tokens = sum(map(_weight, (*before, *after)))
        return LatestTurns(version, self.first - len(before), [*before, *self.turns, *after], self.tokens + tokens)

    def cut(self, turn: int) -> LatestTurns[One]:
        """Those of them that come before a turn."""
        if not self.first <= turn < self.end:
            return self
        return LatestTurns(self.since, self.first, self.turns[: turn - self.first], self.tokens)

    def within(self, most_tokens: int) -> LatestTurns[One]:
        """As many of the latest as are kept in a row, and no longer than so many tokens."""
        if len(self.turns) <= MOST_LATEST and self.tokens <= most_tokens:
            return self
        turns, tokens = self.turns[-FEWEST_LATEST:], self.tokens
        if tokens > most_tokens:
            weights = [_weight(one) for one in turns]
            tokens = sum(weights)
            while tokens > most_tokens:
                tokens -= weights.pop(0)
            turns = turns[len(turns) - len(weights) :]
        return LatestTurns(self.since, self.end - len(turns), turns, tokens)


@dataclass(frozen=True, slots=True)
class SameTurns:
    """Some turns that were asked for by their numbers, at the version ``since``, and from there on they read so."""

    since: int
    numbers: list[int]
    told: Mapping[int, Told]

    @property
    def tokens(self) -> int:
        """How long they are together."""
        return sum(tokens_of(one.card) for one in self.told.values())


def tokens_of(card: Card) -> int:
    """How long a turn is, roughly."""
    return card.contents.tokens + sum(result.contents.tokens for result in card.results)


def _weight(one: Told | Card) -> int:
    """How long it is in memory: a card holds no text."""
    return tokens_of(one.card) if isinstance(one, Told) else 0
