"""The beginning and the end of a ledger: its task, and how it turned out."""

from __future__ import annotations

from typing import Any, ClassVar

from ledger.events import LedgerClosed, LedgerOpened, OutcomeRecorded
from ledger.record import Recorded


class LifecycleFold:
    """Folds the opening, the closing and the outcome."""

    reads: ClassVar[frozenset[type[Any]]] = frozenset({LedgerOpened, LedgerClosed, OutcomeRecorded})

    def __init__(self) -> None:
        self.opened: LedgerOpened | None = None
        self.closed: LedgerClosed | None = None
        self.outcome: OutcomeRecorded | None = None

    def evolve(self, recorded: Recorded) -> None:
        """Keep the latest of each."""
        match recorded.event:
            case LedgerOpened() as opened:
                self.opened = opened
            case LedgerClosed() as closed:
                self.closed = closed
            case OutcomeRecorded() as outcome:
                self.outcome = outcome
            case _:
                pass
