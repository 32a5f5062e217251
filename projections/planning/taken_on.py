"""What is worked out of turns in a row, taken on from one window to the next instead of being worked out again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from projections.told import Told

Value = TypeVar("Value")


class TakenOn(Generic[Value]):
    """Values between turns in a row, each made of the value before a turn and the turn; ``start`` is the first of all.

    They are taken on for turns that are the same as before, one after the other: so it is never wrong, whatever it was asked
    before, as long as what ``make`` does depends on nothing else. Threads may share it.
    """

    def __init__(self, start: Value) -> None:
        self._start = start
        self._held: tuple[Sequence[Told], list[Value]] = ((), [start])

    def of(self, told: Sequence[Told], make: Callable[[Value, Told], Value]) -> list[Value]:
        """The value before the first of some turns in a row, and after each of them."""
        before, values = self._held
        skipped = told[0].turn.number - before[0].turn.number if told and before else 0
        same = min(len(told), len(before) - skipped) if 0 <= skipped < len(before) else 0
        if not same or before[skipped : skipped + same] != told[:same]:
            skipped = same = 0
            values = [self._start]
        found = values[skipped : skipped + same + 1]
        for one in told[same:]:
            found.append(make(found[-1], one))
        self._held = told, found
        return found
