"""What is worked out of turns in a row, taken on from one window to the next instead of being worked out again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate
from typing import Generic, Protocol, TypeVar


class Numbered(Protocol):
    """A turn, or what is known of one."""

    @property
    def number(self) -> int:
        """The number of the turn."""
        ...


One = TypeVar("One", bound=Numbered)
Value = TypeVar("Value")


Result = TypeVar("Result")


class Recall(Protocol):
    """Gives the result of a key, made where it is not remembered: a key names all that its result depends on."""

    def __call__(self, key: Hashable, make: Callable[[], Result]) -> Result: ...


class TakenOn(Generic[One, Value]):
    """Values between turns in a row, each made of the value before a turn and the turn; ``start`` is the first of all.

    They are taken on for turns that are the same as before, one after the other: so it is never wrong, whatever it was asked
    before, as long as what ``make`` does depends on nothing else. Threads may share it.
    """

    def __init__(self, start: Value) -> None:
        self._start = start
        self._held: tuple[Sequence[One], list[Value]] = ((), [start])

    def of(self, turns: Sequence[One], make: Callable[[Value, One], Value]) -> list[Value]:
        """The value before the first of some turns in a row, and after each of them."""
        before, values = self._held
        skipped = turns[0].number - before[0].number if turns and before else 0
        same = min(len(turns), len(before) - skipped) if 0 <= skipped < len(before) else 0
        if not same or before[skipped : skipped + same] != turns[:same]:
            skipped = same = 0
            values = [self._start]
        found = values[skipped : skipped + same + 1]
        for one in turns[same:]:
            found.append(make(found[-1], one))
        self._held = turns, found
        return found


class Sums(Generic[One]):
    """What turns in a row cost, added up from anywhere: before each of them and after the last.

    What is known of turns that are the same as before is taken on, whether others come before or behind them. Threads may share
    it.
    """

    def __init__(self) -> None:
        self._held: tuple[Sequence[One], list[int]] = ((), [0])

    @property
    def begins(self) -> int | None:
        """The number of the first turn that it was asked for last; None where there was none."""
        turns = self._held[0]
        return turns[0].number if turns else None

    def of(self, turns: Sequence[One], cost: Callable[[One], int]) -> list[int]:
        """The sums of some turns, of which each costs what ``cost`` says, whatever stands around it."""
        before, sums = self._held
        skipped = turns[0].number - before[0].number if turns and before else 0
        ahead, since = max(0, -skipped), max(0, skipped)
        same = max(0, min(len(turns) - ahead, len(before) - since))
        if not same or before[since : since + same] != turns[ahead : ahead + same]:
            ahead = same = 0
        known = sums[since : since + same + 1] if same else [0]
        if same == len(turns):
            return known
        earlier = list(accumulate(map(cost, turns[:ahead]), initial=0))
        later = accumulate(map(cost, turns[ahead + same :]), initial=known[-1])
        found = [*(known[0] - earlier[-1] + total for total in earlier[:-1]), *known[:-1], *later]
        self._held = turns, found
        return found
