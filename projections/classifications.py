"""What somebody said becomes of single turns in windows: the latest word on each, and a person's before a model's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ledger.erased import Erased
from ledger.events import TurnClassified
from ledger.record import Recorded


@dataclass(frozen=True, slots=True)
class Classification:
    """What was said of a turn, and the version at which it was said."""

    version: int
    event: TurnClassified


def stands_after(standing: TurnClassified | None, said: TurnClassified) -> TurnClassified:
    """Which of two classifications of a turn stands once ``said`` was recorded after the ``standing`` one.

    The later one, save that a model's never takes the place of a person's.
    """
    is_overruled = standing is not None and standing.by == "person" and said.by == "model"
    return standing if standing is not None and is_overruled else said


class ClassificationsFold:
    """Folds classifications by turn.

    Of one that was forgotten nobody knows what it said, or whether a person said it: what a model said before it does not come
    back, what a person said goes on standing.
    """

    reads: ClassVar[frozenset[type[Any]]] = frozenset({TurnClassified, Erased})

    def __init__(self) -> None:
        self._by_turn: dict[int, Classification] = {}

    def evolve(self, recorded: Recorded) -> None:
        """Let the classification stand, or the one that it may not replace."""
        match recorded.event:
            case TurnClassified(turn=int(turn)) as said:
                known = self._by_turn.get(turn)
                if stands_after(None if known is None else known.event, said) is said:
                    self._by_turn[turn] = Classification(recorded.version, said)
            case Erased(type="turn.classified", turn=int(turn)):
                known = self._by_turn.get(turn)
                if known is not None and known.event.by != "person":
                    del self._by_turn[turn]
            case _:
                pass

    def of_turn(self, turn: int) -> Classification | None:
        """What stands of a turn; None if nobody classified it."""
        return self._by_turn.get(turn)

    @property
    def by_turn(self) -> dict[int, Classification]:
        """What stands, by turn, in the order of the turns."""
        return dict(sorted(self._by_turn.items()))
