"""What was chosen for a window: its pieces in order, what they cost, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from projections.pieces import Pieces
from projections.receipt import Row
from projections.wire import to_json


@dataclass(frozen=True)
class Plan:
    """The chosen pieces in order, what they cost, and why; ``breakpoints`` are the places after which a stable block ends."""

    pieces: Pieces
    tokens: int
    made_rows: Callable[[], Iterable[Row]] = field(compare=False, repr=False)
    blocks: Mapping[str, int]
    breakpoints: tuple[int, ...]
    effective_tail: int
    gave_way: tuple[str, ...]
    told_of: tuple[tuple[int, int], ...]
    summaries: tuple[str, ...]

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The turns of which something stands in the window, in order, and those that gave way to the budget."""
        return tuple(self.made_rows())

    def to_json(self) -> bytes:
        """Which turns stand in the window, and which are told of, by ranges of their numbers; and what each block costs."""
        shown = {verdict: [row.turn for row in self.rows if row.verdict == verdict] for verdict in ("keep", "stub", "compress")}
        return to_json(
            {
                **{verdict: ranges(turns) for verdict, turns in shown.items()},
                "told": [list(both) for both in self.told_of],
                "blocks": dict(self.blocks),
            }
        )


def ranges(numbers: Iterable[int]) -> list[list[int]]:
    """Numbers as ranges, both ends included, in order."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found
