"""What a projection is: the events that it reads, one step, and what it has seen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Protocol, TypeVar

from ledger.record import Recorded


class Fold(Protocol):
    """A read model in the making. ``evolve`` takes events in the order of their versions and nothing else has an influence
    on it.

    ``reads`` names the event models that it looks at; it is never given another one. One that lists ``Erased`` is given all
    events whose content was forgotten, of whatever type they are.
    """

    reads: ClassVar[frozenset[type[Any]]]

    def evolve(self, recorded: Recorded) -> None:
        """One step."""
        ...


AnyFold = TypeVar("AnyFold", bound=Fold)


def run(folds: Iterable[Fold], events: Iterable[Recorded]) -> None:
    """Fold the events into all of the folds, in one pass."""
    listeners: dict[type[Any], list[Fold]] = {}
    for fold in folds:
        for model in fold.reads:
            listeners.setdefault(model, []).append(fold)
    for recorded in events:
        for fold in listeners.get(type(recorded.event), ()):
            fold.evolve(recorded)
