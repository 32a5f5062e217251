"""What a process has read of ledgers, kept for its next answer: bounded, and never from before a forgetting.

It is kept per store and ledger, and belongs to a number of forgettings that were taken into account. Whoever asks says which
number they know: if it is higher, all is thrown away, and if it is lower, they get nothing of what is kept here.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar

from ledger.record import Recorded
from ledger.store import Store
from projections.told import Told
from projections.transcript import Turn
from replay.counted import Counted
from replay.live_events import LiveEvents
from replay.loading import Loaded
from replay.memory import Memory
from replay.turn_cards import TurnCards
from replay.turn_index import TurnIndex

MOST_LEDGERS: Final = 16
"""So many ledgers of a store are kept."""

MOST_TURNS: Final = 2_048
"""So many turns of a ledger are kept with their texts."""

MOST_TOKENS: Final = 2_000_000
"""So long, in tokens, are they together at the most."""

MOST_TURNS_ALONE: Final = 32
"""So many are kept that were read without their cards."""

MOST_RESULTS: Final = 4_096
"""So much is remembered of what windows of a ledger are made of."""

MOST_WINDOWS: Final = 8
"""So many windows of a ledger."""

Kept = TypeVar("Kept")


class Recent(Generic[Kept]):
    """The values that were used last, by number, as many and as heavy as may be."""

    def __init__(self, most: int, heaviest: int = 0) -> None:
        self._most = most
        self._heaviest = heaviest
        self._weight = 0
        self._kept: OrderedDict[int, tuple[Kept, int]] = OrderedDict()

    def get(self, number: int) -> Kept | None:
        """The value of a number, if it is kept."""
        found = self._kept.get(number)
        if found is None:
            return None
        self._kept.move_to_end(number)
        return found[0]

    def put(self, number: int, value: Kept, *, weight: int = 0) -> None:
        """Keep a value, unless it is too heavy by itself; those that were used longest ago give way."""
        if number in self._kept:
            self._weight -= self._kept.pop(number)[1]
        if weight > self._heaviest:
            return
        self._kept[number] = value, weight
        self._weight += weight
        while len(self._kept) > self._most or self._weight > self._heaviest:
            self._weight -= self._kept.popitem(last=False)[1][1]


class Shelf:
    """What is kept of one ledger; hold ``lock`` while asking it.

    Turns, with and without their cards, are kept with the versions that they were read from. ``memory`` has what windows are
    made of, ``windows`` the last ones; each has a lock of its own.
    """

    def __init__(self, store: Store, ledger: bytes, *, forgettings: int, erasures: int) -> None:
        self.lock = threading.RLock()
        self.forgettings = forgettings
        self.erasures = erasures
        self._store: Store = weakref.proxy(store)  # a store that nobody uses any more is not kept alive by what was read of it
        self._ledger = ledger
        self._cards: dict[str, TurnCards] = {}
        self._notes: dict[str, Counted] = {}
        self._told: dict[str, Recent[tuple[tuple[int, ...], Told]]] = {}
        self.turns: Recent[tuple[tuple[int, ...], Turn]] = Recent(MOST_TURNS_ALONE)
        self._system: dict[int, Recorded] = {}
        self._index: TurnIndex | None = None
        self._live: LiveEvents | None = None
        self.memory = Memory(MOST_RESULTS)
        self.windows = Memory(MOST_WINDOWS)

    @property
    def live(self) -> LiveEvents:
        """What stands in the ledger."""
        if self._live is None:
            self._live = LiveEvents(self._store, self._ledger, self.forgettings)
        return self._live

    @property
    def index(self) -> TurnIndex:
        """Where the turns stand in the record."""
        if self._index is None:
            self._index = TurnIndex(self._store, self._ledger, self.forgettings)
        return self._index

    def cards(self, encoding: str) -> TurnCards:
        """What the turns cost in an encoding."""
        with self.lock:
            if encoding not in self._cards:
                self._cards[encoding] = TurnCards(self._store, self._ledger, forgettings=self.forgettings, encoding=encoding)
            return self._cards[encoding]

    def notes(self, encoding: str) -> Counted:
        """The counts of our own texts in an encoding."""
        with self.lock:
            if encoding not in self._notes:
                self._notes[encoding] = Counted(self._store, self._ledger, encoding)
            return self._notes[encoding]

    def told(self, encoding: str) -> Recent[tuple[tuple[int, ...], Told]]:
        """The turns that were read lately, with their cards in an encoding."""
        return self._told.setdefault(encoding, Recent(MOST_TURNS, MOST_TOKENS))

    def system_events(self, versions: Sequence[int], read: Callable[[Sequence[int]], list[Recorded]]) -> list[Recorded]:
        """The events of system texts; those that are not known yet are read."""
        missing = [version for version in versions if version not in self._system]
        self._system |= {item.version: item for item in (read(missing) if missing else ())}
        return [self._system[version] for version in versions]


class _Shelves:
    """The shelves of this process. A child that was forked begins with none: a thread of its parent may hold their locks."""

    def __init__(self) -> None:
        self.begin()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.begin)

    def begin(self) -> None:
        """Keep nothing yet."""
        self._lock = threading.Lock()
        self._of_stores: weakref.WeakKeyDictionary[Any, OrderedDict[bytes, Shelf]] = weakref.WeakKeyDictionary()

    def of(self, store: Store, ledger: bytes, *, forgettings: int, erasures: int) -> Shelf:
        """The shelf of a ledger for those who know of so many forgettings, carried out or not, and erasures."""
        with self._lock:
            shelves = self._of_stores.setdefault(store, OrderedDict())
            shelf = shelves.get(ledger)
            if shelf is None or (forgettings, erasures) > (shelf.forgettings, shelf.erasures):
                shelf = shelves[ledger] = Shelf(store, ledger, forgettings=forgettings, erasures=erasures)
            shelves.move_to_end(ledger)
            if len(shelves) > MOST_LEDGERS:
                shelves.popitem(last=False)
        if shelf.forgettings == forgettings:
            return shelf
        return Shelf(store, ledger, forgettings=forgettings, erasures=erasures)


_SHELVES: Final = _Shelves()


def shelf_of(loaded: Loaded) -> Shelf:
    """What is kept of a ledger for those who know the forgettings that ``loaded`` knows."""
    head = loaded.head
    return _SHELVES.of(loaded.store.store, head.ledger, forgettings=loaded.erasures, erasures=head.erasures)
