"""Why each turn is in a window or not, and what everything in it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from projections.compacting.middle import Total
from projections.planning.calibration import Calibration
from projections.verdicts.verdict import Verdict
from projections.wire import ABSENT


@dataclass(frozen=True, slots=True)
class Row:
    """Why a turn is in the window or not: its verdict, the rule that gave it, and the tokens that it takes in the window.

    ``before`` is what the turn costs whole. "never": it was forgotten; the window has at most its mark. ``asks_to_forget``: the
    user asks in it to forget something, and nobody has forgotten it or declined to.
    """

    turn: int
    verdict: Verdict
    rule: str
    tokens: int
    before: int
    asks_to_forget: bool = field(default=False, metadata=ABSENT)


@dataclass(frozen=True)
class Receipt:
    """What a window cost and why.

    ``totals``: what became of all turns that are compacted, by verdict. ``blocks``: tokens by block, in the order of the
    window. ``through``: the last turn that is compacted. ``effective_tail``: how many turns of the tail are left of those
    that the policy asks for. ``gave_way`` says what gave way to the budget. ``wanting``: how many segments are told in extracts
    although the policy asks for summaries; ``summaries``: the ids of those that were taken. ``calibration``: by how much the
    budget was made smaller, where the model is known to count otherwise.

    ``turns()`` and iteration expand it to a row for every turn.
    """

    made_rows: Callable[[], tuple[Row, ...]] = field(repr=False, compare=False)
    totals: Mapping[Verdict, Total]
    blocks: Mapping[str, int]
    through: int
    effective_tail: int
    gave_way: tuple[str, ...]
    wanting: int
    summaries: tuple[str, ...]
    calibration: Calibration | None
    expand: Callable[[], tuple[Row, ...]] = field(repr=False, compare=False)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The turns of which something stands in the window, in order, and those that gave way to the budget."""
        return self.made_rows()

    def turns(self) -> tuple[Row, ...]:
        """A row for every turn up to the version, in order. Reads the whole ledger."""
        return self._turns

    @cached_property
    def _turns(self) -> tuple[Row, ...]:
        return self.expand()

    def __iter__(self) -> Iterator[Row]:
        return iter(self.turns())

    def summary(self) -> dict[str, Any]:
        """The receipt without its rows."""
        found: dict[str, Any] = {
            "through": self.through,
            "effective_tail": self.effective_tail,
            "blocks": dict(self.blocks),
            "compacted": dict(self.totals),
            "gave_way": list(self.gave_way),
        }
        if self.wanting or self.summaries:
            found["summaries"] = {"taken": list(self.summaries), "missing": self.wanting}
        return found if self.calibration is None else found | {"calibration": self.calibration}
