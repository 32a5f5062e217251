"""Which events change how earlier turns read: results that came late, classifications, and summaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ledger.erased import Erased
from ledger.events import SummaryRecorded, ToolReturned, TurnClassified, TurnRecorded
from ledger.record import Recorded


@dataclass(frozen=True, slots=True)
class Amendment:
    """At ``version`` something was recorded that changes how turns up to ``turn`` read, or how they stand together."""

    version: int
    turn: int


def amended_turn(recorded: Recorded, *, last: int) -> int | None:
    """The turn that an event amends, given the ``last`` turn that had begun before it; None if it amends none.

    A result or a classification amends its turn if a later one had begun, a summary the last turn that it stands for. A summary
    that was forgotten amends nothing: which turns it stood for is not known any more.
    """
    match recorded.event:
        case SummaryRecorded(last_turn=through):
            return through
        case ToolReturned() | TurnClassified() | Erased():
            amends = recorded.envelope.type in ("tool.returned", "turn.classified")
            turn = recorded.turn if amends else None
            return turn if turn is not None and turn < last else None
        case _:
            return None


class AmendmentsFold:
    """Folds amendments, in the order in which they came."""

    reads: ClassVar[frozenset[type[Any]]] = frozenset({TurnRecorded, ToolReturned, TurnClassified, SummaryRecorded, Erased})

    def __init__(self) -> None:
        self._last = 0
        self._all: list[Amendment] = []

    def evolve(self, recorded: Recorded) -> None:
        """Note an amendment, or that a turn began."""
        if recorded.envelope.type == "turn.recorded":
            self._last = max(self._last, recorded.turn or 0)
            return
        turn = amended_turn(recorded, last=self._last)
        if turn is not None:
            self._all.append(Amendment(recorded.version, turn))

    def of(self, through_turn: int) -> int:
        """The version of the last one that concerns a turn up to ``through_turn``; 0 if there is none."""
        return next((found.version for found in reversed(self._all) if found.turn <= through_turn), 0)
