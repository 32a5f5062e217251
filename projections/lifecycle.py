"""The beginning and the end of a ledger: its task, and how it turned out."""

from __future__ import annotations

from typing import Any, ClassVar

from ledger.erased import Erased, Forgotten
from ledger.events import LedgerClosed, LedgerOpened, OutcomeRecorded
from ledger.record import Recorded


class LifecycleFold:
    """Folds the opening, the closing and the outcome; what was forgotten of them happened all the same."""

    reads: ClassVar[frozenset[type[Any]]] = frozenset({LedgerOpened, LedgerClosed, OutcomeRecorded, Erased})

    def __init__(self) -> None:
        self.opened: LedgerOpened | Forgotten | None = None
        self.closed: LedgerClosed | Forgotten | None = None
        self.outcome: OutcomeRecorded | Forgotten | None = None

    def evolve(self, recorded: Recorded) -> None:
        """Keep the latest of each."""
        match recorded.event:
            case LedgerOpened() as opened:
                self.opened = opened
            case LedgerClosed() as closed:
                self.closed = closed
            case OutcomeRecorded() as outcome:
                self.outcome = outcome
            case Erased(type="ledger.opened", forgotten=mark):
                self.opened = mark
            case Erased(type="ledger.closed", forgotten=mark):
                self.closed = mark
            case Erased(type="outcome.recorded", forgotten=mark):
                self.outcome = mark
            case _:
                pass

    @property
    def task(self) -> str | Forgotten | None:
        """The task that was given at the opening. Of a forgotten opening nobody knows whether it gave one: the mark stands."""
        return self.opened.task if isinstance(self.opened, LedgerOpened) else self.opened
