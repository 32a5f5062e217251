"""The middle of a window after so many segments: made once for a policy, kept, and made again where something was amended.

A middle is made from the one before it and a segment's own turns. It is kept under all that it depends on, so a kept one is
never wrong: it is the one that would be made. The stubs of all turns of the segment are kept with it: a window as of a version
at which the segment was not compacted yet shows the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol, TypeVar

from ledger.events import SummaryRecorded
from ledger.record import Recorded
from projections.basis import ENGINE
from projections.classifications import ClassificationsFold
from projections.compacting.middle import NOTHING, Middle, SegmentStubs, Stub
from projections.compacting.middle_bytes import bytes_of_middle, bytes_of_stubs, middle_of_bytes, stubs_of_bytes
from projections.compacting.segments import Segment, compacted, segment_stubs
from projections.compacting.summaries import summary_of
from projections.fold import run
from projections.policy import Policy
from projections.state_block import Count
from projections.told import Turns
from projections.verdicts.verdict import LOOK_BACK, Classified
from replay.windows.middle_rows import packed, packed_stubs, unpacked, unpacked_stubs, written_against

Result = TypeVar("Result")

KIND: Final = f"middle/{ENGINE}"
"""The kind of the rows in which middles are kept."""

STUBS_KIND: Final = f"stubs/{ENGINE}"
"""The kind of the rows in which the stubs of segments are kept; one without a turn whose results may be stubs has none."""

_AT_ONCE: Final = 64
"""So many rows are written at once."""

Said = Callable[[int, int], Sequence[Recorded]]
"""The classifications of turns from one to another, and the summaries of exactly these."""


class Shelf(Protocol):
    """Where what is derived from one ledger is kept, unless something of it was forgotten."""

    def get(self, kind: str, key: str) -> bytes | None:
        """A row."""
        ...

    def put(self, kind: str, rows: Mapping[str, bytes]) -> None:
        """Keep rows, if the ledger is still what it was."""
        ...

    def recall(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """What this process worked out of the ledger, made where it is not remembered."""
        ...


class Middles:
    """The middles of one ledger under one policy as of one version.

    ``task``: the number of the turn that states the task. ``said``: what was recorded of turns.
    """

    def __init__(self, turns: Turns, policy: Policy, task: int, *, said: Said, count: Count, shelf: Shelf) -> None:
        self._turns = turns
        self._policy = policy
        self._task = task
        self._said = said
        self._count = count
        self._shelf = shelf

    def __call__(self, segments: int) -> Middle:
        """The middle once so many segments are compacted."""
        if not segments:
            return NOTHING
        key = ("middle", self._policy.middle_digest, segments, self._amended(segments), self._task)
        return self._shelf.recall(key, lambda: self._found(segments))

    def _found(self, segments: int) -> Middle:
        """The middle as it is kept, or made from the last one before it that is."""
        place, middle, written = self._last_kept(segments)
        rows: dict[str, bytes] = {}
        stub_rows: dict[str, bytes] = {}
        for number in range(place + 1, segments + 1):
            segment, key, against = self.segment(number), self._key(number), written_against(number)
            stubs = segment_stubs(segment, self._policy, self._count)
            made = compacted(middle, segment, policy=self._policy, task=self._task, stubs=stubs, count=self._count)
            middle = replace(made, key=key)
            written = {**({} if against is None else written), number: bytes_of_middle(middle)}  # of no more than eight
            rows[key] = packed(written[number], None if against is None else written[against])
            stub_rows |= {key: packed_stubs(bytes_of_stubs(stubs))} if stubs else {}
            if len(rows) == _AT_ONCE or number == segments:
                self._put(rows, stub_rows)
                rows, stub_rows = {}, {}
        return middle

    def _put(self, rows: Mapping[str, bytes], stub_rows: Mapping[str, bytes]) -> None:
        if stub_rows:  # first, so that no middle is there without them
            self._shelf.put(STUBS_KIND, stub_rows)
        self._shelf.put(KIND, rows)

    def stubs(self, turn: int) -> Sequence[Stub] | None:
        """The stubs of a turn as they are kept with its segment; None where none were made for it."""
        if self._policy.compaction is None:
            return None
        number = -(-turn // self._policy.compaction.segment_turns)
        key = ("stubs of a segment", self._policy.middle_digest, number, self._amended(number), self._task)
        return self._shelf.recall(key, lambda: self._kept_stubs(self._key(number))).get(turn)

    def _kept_stubs(self, key: str) -> SegmentStubs:
        row = self._shelf.get(STUBS_KIND, key)
        written = None if row is None else unpacked_stubs(row)
        found = None if written is None else stubs_of_bytes(written)
        return {} if found is None else found

    def _last_kept(self, segments: int) -> tuple[int, Middle, Mapping[int, bytes]]:
        """The last middle up to so many segments that is kept, after how many segments it stands, and how it is written."""
        for place in range(segments, 0, -1):
            written = self._written(place)
            middle = middle_of_bytes(written[place]) if written else None
            if middle is not None:  # what is of another form is made anew
                return place, middle, written
        return 0, NOTHING, {}

    def _written(self, segments: int) -> Mapping[int, bytes]:
        """The middle after so many segments as it is written, with those against which it is; nothing if one is not kept."""
        row = self._shelf.get(KIND, self._key(segments))
        if row is None:
            return {}
        against = written_against(segments)
        before = {} if against is None else self._written(against)
        if against is not None and not before:
            return {}
        written = unpacked(row, None if against is None else before[against])
        return {} if written is None else {**before, segments: written}

    def segment(self, number: int) -> Segment:
        """The segment of a number, from 1, with its neighbours and what was recorded of it."""
        assert self._policy.compaction is not None
        length = self._policy.compaction.segment_turns
        first, last = (number - 1) * length + 1, number * length
        ahead = self._policy.looks_ahead + 1
        told = self._turns.between(max(1, first - LOOK_BACK), last + ahead)
        said = self._said(first, last)
        fold = ClassificationsFold()
        run([fold], said)
        return Segment(
            [one for one in told if first <= one.turn.number <= last],
            [one for one in told if one.turn.number < first],
            [one for one in told if one.turn.number > last],
            {turn: Classified(found.event.verdict, found.event.by) for turn, found in fold.by_turn.items()},
            [summary_of(item.version, item.event) for item in said if isinstance(item.event, SummaryRecorded)],
        )

    def _key(self, segments: int) -> str:
        return f"{self._policy.middle_digest[:32]}/{segments:010d}/{self._amended(segments):020d}/{self._task}"

    def _amended(self, segments: int) -> int:
        assert self._policy.compaction is not None
        return self._turns.amended(segments * self._policy.compaction.segment_turns + self._policy.looks_ahead + 1)
