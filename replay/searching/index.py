"""The index of searches of one ledger: pieces for ranges of versions, which begin at multiples of their size.

What a piece holds follows from the events of its range alone, so that two who make it at once make the same. As a ledger grows,
eight pieces become one of the next size. The last events, which fill no piece yet, are read as they are, and kept in a piece
that goes on where they are many. All rows are derived: they go when anything of the ledger is forgotten. What cannot be kept,
as on a standby or in a file that may not be written to, is made again for each answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ledger.errors import StoreError
from ledger.reading import Reader
from ledger.store import Head as LedgerHead
from ledger.store import Selection, Store
from replay.kept.overtaken import Overtaken
from replay.searching.segments import Gathered, Head, Segment, StoredSegment, pieces

KIND: Final = "search/1"
"""Of the rows that are kept. What cuts texts into words, or writes postings otherwise, has to be another kind."""

SIZES: Final = (32, 256, 2_048, 16_384)
"""So many versions has a piece of each level."""

_HEADS: Final = "d/"
_BLOCKS: Final = "b/"
_WORTH_KEEPING_EVENTS: Final = 8
_WORTH_KEEPING_CHARACTERS: Final = 65_536
_BLOCKS_AT_ONCE: Final = 100

_Place = tuple[int, int]
"""Level and first version, less one."""


@dataclass
class LedgerIndex:
    """The index of a ledger as far as its head goes. ``Overtaken`` from any of it: pieces were purged or joined meanwhile."""

    store: Store
    head: LedgerHead
    reader: Reader
    _heads: dict[_Place, Head] = field(default_factory=dict)
    _keeps: bool = True

    def segments(self, upto: int) -> list[Segment]:
        """Pieces that together hold all events up to a version, and maybe later ones; those that are missing are made."""
        rows = self.store.derived_scan(KIND, _HEADS, ledger=self.head.ledger).rows
        self._heads = {_place_of(row.key): Head.decoded(row.value) for row in rows}
        found: list[Segment] = []
        after = 0
        while after < upto:
            segment, after = self._segment_after(after)
            found.append(segment)
        return found

    def _segment_after(self, after: int) -> tuple[Segment, int]:
        """The largest piece that begins after a version, and the last version that it may hold."""
        whole = [level for level, size in enumerate(SIZES) if after % size == 0 and after + size <= self.head.version]
        stored = [level for level, size in enumerate(SIZES) if self._is_whole((level, after))]
        level = max(whole + stored, default=None)
        if level is None:
            return self._last(after), self.head.version
        end = after + SIZES[level]
        if level in stored:
            return self._stored((level, after)), end
        gathered = Gathered()
        self._gather(gathered, after, end)
        return self._kept((level, after), gathered, end), end

    def _last(self, after: int) -> Segment:
        """What fills no piece yet."""
        gathered = Gathered()
        begun = self._heads.get((0, after))
        through = after if begun is None else begun.through
        if begun is not None:
            gathered.join(self._stored((0, after)))
        if through < self.head.version:
            gathered.add(self.reader.read(Selection(after=through, upto=self.head.version)))
        is_long = self.head.version - through >= _WORTH_KEEPING_EVENTS
        if is_long or gathered.characters >= _WORTH_KEEPING_CHARACTERS:
            return self._kept((0, after), gathered, self.head.version)
        return gathered

    def _gather(self, gathered: Gathered, after: int, end: int) -> None:
        """Take in all events of a range: from the pieces that there are, else from the record."""
        unread = after
        for place in self._inside(after, end):
            if unread < place[1]:
                gathered.add(self.reader.read(Selection(after=unread, upto=place[1])))
            gathered.join(self._stored(place))
            unread = self._heads[place].through
        if unread < end:
            gathered.add(self.reader.read(Selection(after=unread, upto=end)))

    def _inside(self, after: int, end: int) -> Iterator[_Place]:
        """The largest pieces inside of a range, in order."""
        place = after
        while place < end:
            levels = [level for level in range(len(SIZES)) if (level, place) in self._heads and place + SIZES[level] <= end]
            if levels:
                yield max(levels), place
                place += SIZES[max(levels)]
            else:
                place += SIZES[0]

    def _kept(self, place: _Place, gathered: Gathered, through: int) -> Segment:
        """A piece that is put into the store, in the place of the smaller ones that it is made of."""
        head, blocks = pieces(gathered, through)
        if not self._keeps:
            return gathered
        try:
            for first in range(0, len(blocks), _BLOCKS_AT_ONCE):
                some = blocks[first : first + _BLOCKS_AT_ONCE]
                self._put({_block_key(place, through, first + number): block for number, block in enumerate(some)})
            self._put({_head_key(place): head.encoded()})
            self._drop_inside(place)
        except StoreError:  # what cannot be kept is no less true
            self._keeps = False
        return gathered

    def _drop_inside(self, place: _Place) -> None:
        """Delete the smaller pieces that one was made of."""
        for level in range(place[0]):
            for prefix in (_HEADS, _BLOCKS):
                first, end = (f"{prefix}{level}/{at:016x}" for at in (place[1], place[1] + SIZES[place[0]]))
                self.store.derived_drop(self.head.ledger, KIND, first=first, end=end)

    def _put(self, rows: dict[str, bytes]) -> None:
        if not self.store.derived_put_many(self.head.ledger, KIND, rows, erasures=self.head.erasures):
            raise Overtaken

    def _is_whole(self, place: _Place) -> bool:
        head = self._heads.get(place)
        return head is not None and head.through == place[1] + SIZES[place[0]]

    def _stored(self, place: _Place) -> StoredSegment:
        head = self._heads[place]

        def block(number: int) -> bytes:
            found = self.store.derived_get(self.head.ledger, KIND, _block_key(place, head.through, number))
            if found is None:
                raise Overtaken
            return found

        return StoredSegment(head, block)


def _head_key(place: _Place) -> str:
    return f"{_HEADS}{place[0]}/{place[1]:016x}"


def _block_key(place: _Place, through: int, number: int) -> str:
    """Through which version goes into the key: pieces that go on hold others then, and a key has one content only."""
    return f"{_BLOCKS}{place[0]}/{place[1]:016x}/{through:016x}/{number:06x}"


def _place_of(key: str) -> _Place:
    _, level, start = key.split("/")
    return int(level), int(start, 16)
