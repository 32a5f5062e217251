"""Turns with what they cost, by their numbers: what a window is planned from, however long the ledger is."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from projections.cards import Card
from projections.transcript import SystemText, Turn

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Told:
    """A turn and its card. ``remembered`` holds what was worked out of them alone, by what it is."""

    turn: Turn
    card: Card
    remembered: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def number(self) -> int:
        """The number of the turn."""
        return self.turn.number

    def recall(self, key: Hashable, make: Callable[[Told], Result]) -> Result:
        """What is worked out of this turn and its card alone, once."""
        known = self.remembered.get(key)
        if known is None:
            known = self.remembered[key] = make(self)
        found: Result = known
        return found


class Turns(Protocol):
    """The turns of a ledger as of one version. Whoever asks for a few of them pays for these few."""

    @property
    def last(self) -> int:
        """The number of the last turn; 0 if there is none."""
        ...

    @property
    def system(self) -> tuple[tuple[SystemText, int], ...]:
        """The system texts in order, each with its tokens."""
        ...

    def between(self, first: int, last: int) -> Sequence[Told]:
        """The turns from ``first`` to ``last``, both included, in order; as far as there are any."""
        ...

    def cards(self, first: int, last: int) -> Sequence[Card]:
        """What the turns from ``first`` to ``last`` cost, likewise: no text is read."""
        ...

    def at(self, numbers: Iterable[int]) -> Mapping[int, Told]:
        """The turns of some numbers."""
        ...

    def amended(self, through_turn: int) -> int:
        """The version of the last event that changed how a turn up to ``through_turn`` reads after the next one had begun.

        That is a result that came late, a classification, or a summary of turns up to there; 0 if there was none.
        """
        ...
