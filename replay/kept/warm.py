"""What a process has read of ledgers, kept for its next answer: bounded, and never from before a forgetting.

It is kept per store and ledger, and belongs to a number of forgettings that were taken into account. Whoever asks says which
number they know: if it is higher, all is thrown away, and if it is lower, they get nothing of what is kept here.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal

from ledger.reading import Reader
from ledger.record import Recorded
from ledger.store import Store, Stored
from projections.told import Told
from projections.transcript import SystemText, Turn
from replay.kept.counted import Counted
from replay.kept.memory import Memory
from replay.kept.recent import Recent
from replay.loading import Loaded
from replay.standing.live_events import LiveEvents
from replay.turns.cards import TurnCards
from replay.turns.index import TurnIndex
from replay.turns.latest import LatestTurns, SameTurns

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
"""The last windows of so many policies and forms, of each ledger."""

MOST_TOKENS_IN_ONE: Final = 500_000
"""So long is what is kept in one piece, whether it is among these or not: the latest turns and some others, each for the last
version and for one before it."""

MOST_NEWS: Final = 64
"""So many events are handed on to whoever reads their turns next, of those that were passed last."""

MOST_NEWS_BYTES: Final = 256 * 1024
"""So long, in bytes, are they together at the most."""

Row = Literal["turns", "cards"]
"""What is kept in a row: turns with their cards, or these alone."""

_OF_TURNS: Final = ("turn.recorded", "tool.returned")


class Shelf:
    """What is kept of one ledger; hold ``lock`` while asking it.

    Turns, with and without their cards, are kept with the versions at which they read so: to be asked after ``catch_up``.
    ``memory`` has what windows are made of, ``windows`` the last one of a policy and form; each has a lock of its own.
    """

    def __init__(self, store: Store, ledger: bytes, *, forgettings: int, erasures: int) -> None:
        self.lock = threading.RLock()
        self.forgettings = forgettings
        self.erasures = erasures
        self._store: Store = weakref.proxy(store)  # a store that nobody uses any more is not kept alive by what was read of it
        self._ledger = ledger
        self._cards: dict[str, TurnCards] = {}
        self._notes: dict[str, Counted] = {}
        self._told: dict[str, Recent[Told]] = {}
        self.turns: Recent[Turn] = Recent(MOST_TURNS_ALONE)
        # By whether nothing was known to come behind them, as a window of now wants them, or they are from somewhere before.
        self._latest: dict[tuple[Row, str, bool], LatestTurns[Any]] = {}
        self._same: dict[tuple[str, bool], SameTurns] = {}
        self._news: dict[int, Stored] = {}
        self._news_bytes = 0
        self._system: dict[int, Recorded] = {}
        self.system: dict[str, tuple[list[int], tuple[tuple[SystemText, int], ...]]] = {}
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

    def told(self, encoding: str) -> Recent[Told]:
        """The turns that were read lately, with their cards in an encoding."""
        found = self._told.get(encoding)
        if found is None:
            found = self._told[encoding] = Recent(MOST_TURNS, MOST_TOKENS)
        return found

    def latest(self, row: Row, encoding: str, version: int) -> LatestTurns[Any] | None:
        """Turns in a row up to the latest at some version, or their cards in an encoding, if they read so at this one."""
        kept = (self._latest.get((row, encoding, is_last)) for is_last in (True, False))
        return next((found for found in kept if found is not None and found.since <= version < found.until), None)

    def put_latest(self, row: Row, encoding: str, latest: LatestTurns[Any]) -> None:
        """Keep the latest turns of a version."""
        self._latest[row, encoding, self.is_last(latest.since)] = latest.within(MOST_TOKENS_IN_ONE)

    def same(self, encoding: str, version: int) -> SameTurns | None:
        """The turns that were asked for by their numbers lately, likewise."""
        kept = (self._same.get((encoding, is_last)) for is_last in (True, False))
        return next((found for found in kept if found is not None and found.since <= version < found.until), None)

    def put_same(self, encoding: str, same: SameTurns) -> None:
        """Keep turns that were asked for by their numbers, unless they are too long together."""
        if same.tokens <= MOST_TOKENS_IN_ONE:
            self._same[encoding, self.is_last(same.since)] = same

    def is_last(self, version: int) -> bool:
        """Whether no event after a version was passed."""
        return version >= self.index.frontier.through

    def catch_up(self, reader: Reader, upto: int) -> None:
        """Bring what is kept of turns up to a version. ``Overtaken`` from it, or from the index: ``begin_again``."""
        index = self.index
        if upto > index.frontier.through:
            self._news, self._news_bytes = {}, 0
            index.catch_up(reader, upto, self._passed)

    def begin_again(self) -> None:
        """Keep no turns: the index was overtaken, and where it begins again it may have skipped what changed them."""
        self._told, self._latest, self._same, self.turns = {}, {}, {}, Recent(MOST_TURNS_ALONE)
        self._news, self._news_bytes = {}, 0
        for cards in self._cards.values():
            cards.changed(1)

    def news(self, versions: Iterable[int]) -> dict[int, Stored]:
        """Of the events of these versions those that were read just now, by version, each handed on once."""
        news = self._news
        return {version: news.pop(version) for version in versions if version in news} if news else {}

    def _passed(self, row: Stored) -> None:
        envelope = row.envelope
        if envelope.type not in _OF_TURNS:
            return
        if envelope.type == "tool.returned" and envelope.turn is not None:
            self._changed(envelope.turn, envelope.version)
        self._news_bytes += len(row.payload or b"")
        if len(self._news) < MOST_NEWS and self._news_bytes <= MOST_NEWS_BYTES:
            self._news[envelope.version] = row

    def _changed(self, turn: int, version: int) -> None:
        """A turn reads otherwise from a version on."""
        self.turns.changed(turn, version)
        for kept in self._told.values():
            kept.changed(turn, version)
        for cards in self._cards.values():
            cards.changed(turn)
        self._latest = {row: latest.cut(turn) for row, latest in self._latest.items()}
        self._same = {where: same for where, same in self._same.items() if turn not in same.told}

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
            shelves = self._of_stores.get(store)
            if shelves is None:
                shelves = self._of_stores[store] = OrderedDict()
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
