"""Turns that the next window has nearly all of, too: the last ones in a row, and some others. Taken on in one piece."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, TypeVar

from projections.cards import Card
from projections.told import Told

One = TypeVar("One", bound=Told | Card)

NO_END: Final = sys.maxsize

MOST_LATEST: Final = 192
"""So many turns are kept in a row at the most."""

FEWEST_LATEST: Final = 128
"""So many are left where there are more, unless they are too long."""


class LatestTurns(NamedTuple, Generic[One]):
    """Turns in a row, or their cards, from the turn ``first`` on.

    They were the latest at the version ``since``, and from there on read so, up to the one before ``until``, as far as that is
    known. ``tokens`` is how long they are together at the most.
    """

    since: int
    first: int
    turns: Sequence[One]
    tokens: int
    until: int = NO_END

    @property
    def end(self) -> int:
        """The number of the turn after them."""
        return self.first + len(self.turns)

    def joined(
        self, version: int, *, before: Sequence[One] = (), after: Sequence[One] = (), until: int = NO_END
    ) -> LatestTurns[One]:
        """With those that come before and after them, as they read from a version on, and up to the one before ``until``."""
        if not before and not after:
            return self
        tokens, turns = sum(map(_weight, (*before, *after))), [*before, *self.turns, *after]
        return LatestTurns(version, self.first - len(before), turns, self.tokens + tokens, min(self.until, until))

    def cut(self, turn: int) -> LatestTurns[One]:
        """Those of them that come before a turn."""
        if not self.first <= turn < self.end:
            return self
        return self._replace(turns=self.turns[: turn - self.first])

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
        return self._replace(first=self.end - len(turns), turns=turns, tokens=tokens)


@dataclass(frozen=True, slots=True)
class SameTurns:
    """Some turns that were asked for by their numbers. They read so from the version ``since`` on, as above."""

    since: int
    numbers: list[int]
    told: Mapping[int, Told]
    until: int

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
