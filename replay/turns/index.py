"""The index of a ledger's turns: where each of them stands in the record, found without reading the ledger.

What the rows in the store do not reach yet is read once and kept in memory; it is written when a block became complete or much
was read. What cannot be kept, as on a standby or in a file that may not be written to, is made again by every process.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Final

from ledger.deriving import Derived
from ledger.reading import Reader
from ledger.store import Selection, Store, Stored
from replay.facts.rows import numbered, version_of
from replay.kept.derived_rows import DerivedRows
from replay.kept.overtaken import Overtaken
from replay.turns.blocks import (
    AMENDMENTS,
    ARTIFACTS,
    BLOCK_TURNS,
    CLASSIFICATIONS,
    FRONTIER,
    SUMMARIES,
    SYSTEM,
    TURNS,
    Frontier,
    Versions,
    first_of_block,
    unpacked_block,
)

KIND: Final = "turns/1"
_ABOUT_TURNS: Final = ("turn.recorded", "tool.returned")
_WORTH_KEEPING_EVENTS: Final = 256
_BLOCKS_IN_MEMORY: Final = 256
_ANSWERS_IN_MEMORY: Final = 1_024
_FEW: Final = 16


class TurnIndex:
    """The index of one ledger, as far as its frontier goes. ``forgettings`` is how many forgettings were taken into account.

    ``Overtaken`` from its questions: rows were purged since; it begins again then, and has to be brought up to date.
    """

    def __init__(self, store: Store, ledger: bytes, forgettings: int) -> None:
        self._store = store
        self._ledger = ledger
        self._rows = DerivedRows(store, ledger, kind=KIND, forgettings=forgettings)
        self._begin(self._rows.get(FRONTIER))

    def _begin(self, row: bytes | None) -> None:
        """Begin where a row says, or at the first event where there is none, or one of another form."""
        try:
            self.frontier = Frontier() if row is None else Frontier.unpacked(row)
        except (TypeError, ValueError):
            self.frontier = Frontier()
        self._kept = self.frontier.through
        self._blocks: OrderedDict[int, list[Versions]] = OrderedDict()
        self._system: list[int] | None = None
        self._since = self.frontier.through
        self._quiet_from = self.frontier.through
        self._amended: dict[int, int] = {}
        self._amendments: list[tuple[int, int]] = []
        self._latest_amendments: list[Derived] | None = None

    def catch_up(self, reader: Reader, upto: int, passed: Callable[[Stored], None]) -> None:
        """Look at the events up to a version that were not looked at yet; each of them is ``passed`` on, once it was taken."""
        if upto <= self.frontier.through:
            return
        first = self.frontier.first
        for row in self._store.read(self._ledger, Selection(after=self.frontier.through, upto=upto)):
            if row.envelope.type not in _ABOUT_TURNS:
                self._quiet_from = row.envelope.version
            for key, value in self.frontier.take(row, reader.recorded):
                self._took(key, value)
            passed(row)
        if self.frontier.first > first or self.frontier.through - self._kept >= _WORTH_KEEPING_EVENTS:
            self.keep()

    def keep(self) -> None:
        """Write what is not written yet, unless rows were purged since, or nothing can be written here."""
        if self._kept < self.frontier.through:
            self._rows.write({FRONTIER: self.frontier.packed()})
            self._kept = self.frontier.through

    def _took(self, key: str, value: bytes) -> None:
        self._rows.put(key, value)
        if key.startswith(SYSTEM) and self._system is not None:
            self._system.append(version_of(key))
        elif key.startswith(AMENDMENTS):
            self._amendments.append((version_of(key), int(value)))
        elif key.startswith(TURNS) and key.count("/") > 1:
            self._late(int(key.split("/")[1], 16), version_of(key))

    def _late(self, turn: int, version: int) -> None:
        block = self._blocks.get(first_of_block(turn))
        if block is not None and version not in block[(turn - 1) % BLOCK_TURNS]:
            block[(turn - 1) % BLOCK_TURNS] += (version,)

    def quiet_from(self, version: int) -> int:
        """A version from which on to this one nothing but turns and returns was recorded, the earliest that is known here."""
        return self._quiet_from if self._quiet_from <= version <= self.frontier.through else version

    def versions(self, turns: Iterable[int]) -> dict[int, Versions]:
        """The versions of each of these turns and of what its calls returned, as far as the frontier; they must exist."""
        wanted = list(turns)
        first, latest = self.frontier.first, self.frontier.turns
        places = [(turn - 1) % BLOCK_TURNS for turn in wanted]
        needed = dict.fromkeys(turn - place for turn, place in zip(wanted, places, strict=True) if turn < first)
        self._load([block for block in needed if block not in self._blocks])
        for block in needed:
            self._blocks.move_to_end(block)
        blocks = self._blocks
        found = {
            turn: latest[turn - first] if turn >= first else blocks[turn - place][place]
            for turn, place in zip(wanted, places, strict=True)
        }
        while len(self._blocks) > _BLOCKS_IN_MEMORY:
            self._blocks.popitem(last=False)
        return found

    def last_at(self, version: int) -> int:
        """The last turn that had begun at a version up to the frontier; 0 if none had."""
        if version >= self.frontier.through:
            return self.frontier.last
        turns = self.frontier.turns
        if turns and turns[0][0] <= version:
            return self.frontier.first - 1 + sum(versions[0] <= version for versions in turns)
        found = self._store.envelope(self._ledger, Selection(upto=version, kind="numbered", newest_first=True))
        return 0 if found is None or found.turn is None else found.turn

    def system(self, version: int) -> list[int]:
        """The versions of the system texts up to a version."""
        if self._system is None:
            self._system = [version_of(row.key) for row in self._scan(SYSTEM, before=None)]
        return [found for found in self._system if found <= version]

    def artifacts(self, version: int) -> list[int]:
        """The versions at which artifacts were stored, up to a version."""
        return [version_of(row.key) for row in self._scan(ARTIFACTS, before=numbered(ARTIFACTS, version + 1))]

    def said(self, first: int, last: int, version: int) -> list[int]:
        """The versions, up to one, of what was said of turns: their classifications, and the summaries of exactly these."""
        after, before = numbered("", first - 1) + "/g", numbered("", last + 1)
        classified = self._scan(CLASSIFICATIONS, after=CLASSIFICATIONS + after, before=CLASSIFICATIONS + before)
        whole = numbered(SUMMARIES, last) + "/"
        summaries = (row for row in self._scan(whole, before=None) if int(row.value) == first)
        found = (version_of(row.key) for row in (*classified, *summaries))
        return sorted(one for one in found if one <= version)

    def amended(self, through_turn: int, version: int) -> int:
        """The version of the last amendment up to a version that concerns a turn up to ``through_turn``; 0 if there is none."""
        if version < self._since:
            return self._amended_at(through_turn, version)
        for amended, turn in reversed(self._amendments):  # those that came since this process began
            if amended <= version and turn <= through_turn:
                return amended
        if through_turn not in self._amended:
            if len(self._amended) == _ANSWERS_IN_MEMORY:
                self._amended.clear()
            self._amended[through_turn] = self._amended_at(through_turn, self._since)
        return self._amended[through_turn]

    def amendments(self, after: int, *, most: int) -> list[int]:
        """The versions of the latest amendments after a version, as far as the frontier, in order."""
        rows = self._scan(AMENDMENTS, after=numbered(AMENDMENTS, after), before=None, newest_first=True, limit=most)
        return [version_of(row.key) for row in reversed(rows)]

    def _amended_at(self, through_turn: int, version: int) -> int:
        before, limit = numbered(AMENDMENTS, version + 1), _FEW
        if self._latest_amendments is None:
            self._latest_amendments = self._scan(AMENDMENTS, before=None, newest_first=True, limit=limit)
        rows = self._latest_amendments  # most often there are no others
        while True:
            for row in rows:
                if row.key < before and int(row.value) <= through_turn:
                    return version_of(row.key)
            if len(rows) < limit:
                return 0
            before, limit = min(before, rows[-1].key), limit * _FEW
            rows = self._scan(AMENDMENTS, before=before, newest_first=True, limit=limit)

    def _load(self, blocks: list[int]) -> None:
        """Read blocks, those that stand side by side at once."""
        while blocks:
            first = last = blocks.pop(0)
            while blocks and blocks[0] == last + BLOCK_TURNS:
                last = blocks.pop(0)
            after, before = numbered(TURNS, first - 1) + "/g", numbered(TURNS, last + BLOCK_TURNS)
            rows = self._scan(TURNS, after=after, before=before)
            try:
                self._blocks |= {
                    int(key, 16): unpacked_block(row.value) for row in rows if (key := row.key[2:]).count("/") == 0
                }
            except (TypeError, ValueError):  # a row of another form: all are made anew
                self._begin(None)
                raise Overtaken from None
            for row in rows:
                if row.key.count("/") > 1:
                    self._late(int(row.key.split("/")[1], 16), version_of(row.key))

    def _scan(
        self, prefix: str, *, before: str | None, after: str | None = None, newest_first: bool = False, limit: int | None = None
    ) -> list[Derived]:
        try:
            return self._rows.scan(prefix, before=before, after=after, newest_first=newest_first, limit=limit)
        except Overtaken:
            self._rows.begin_again()
            self._begin(self._rows.get(FRONTIER))
            raise
