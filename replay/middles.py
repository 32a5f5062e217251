"""The middle of a window after so many segments: made once for a policy, kept, and made again where something was amended.

A middle is made from the one before it and a segment's own turns. It is kept under all that it depends on, so a kept one is
never wrong: it is the one that would be made.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Final, Protocol

from ledger.events import SummaryRecorded
from ledger.record import Recorded
from projections.basis import ENGINE
from projections.classifications import ClassificationsFold
from projections.compacting import Segment, compacted
from projections.fold import run
from projections.middle import NOTHING, Middle, middle_from_json, middle_to_json
from projections.policy import Policy
from projections.state_block import Count
from projections.summaries import summary_of
from projections.told import Turns
from projections.verdicts.verdict import LOOK_BACK, Classified

KIND: Final = f"middle/{ENGINE}"
"""The kind of the rows in which middles are kept."""

KEPT_EVERY: Final = 4
"""Of the segments of a policy, the middle after every fourth is kept, and after the last."""

_REMEMBERED: Final = 256


Said = Callable[[int, int], Sequence[Recorded]]
"""The classifications of turns from one to another, and the summaries of exactly these."""


class Shelf(Protocol):
    """Where what is derived from one ledger is kept, unless something of it was forgotten."""

    def get(self, kind: str, key: str) -> bytes | None:
        """A row."""
        ...

    def put(self, kind: str, key: str, value: bytes) -> None:
        """Keep a row, if the ledger is still what it was."""
        ...

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells this ledger, as far as it is not forgotten, from all others of this process."""
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
        place, middle = segments, None
        while place and middle is None:
            middle = self._known(place)
            place -= middle is None
        found = NOTHING if middle is None else middle
        for number in range(place + 1, segments + 1):
            found = compacted(found, self.segment(number), policy=self._policy, task=self._task, count=self._count)
            self._keep(number, found, is_last=number == segments)
        return found

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
        assert self._policy.compaction is not None
        through = segments * self._policy.compaction.segment_turns + self._policy.looks_ahead + 1
        amended = self._turns.amended(through)
        return f"{self._policy.middle_digest[:32]}/{segments:010d}/{amended:020d}/{self._task}"

    def _known(self, segments: int) -> Middle | None:
        key = self._key(segments)
        remembered = _MEMO.get((*self._shelf.identity, key))
        if remembered is not None:
            return remembered
        kept = self._shelf.get(KIND, key)
        return None if kept is None else _MEMO.put((*self._shelf.identity, key), middle_from_json(kept))

    def _keep(self, segments: int, middle: Middle, *, is_last: bool) -> None:
        key = self._key(segments)
        _MEMO.put((*self._shelf.identity, key), middle)
        if is_last or segments % KEPT_EVERY == 0:
            self._shelf.put(KIND, key, middle_to_json(middle))


class _Memo:
    """The middles that this process used last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[object, ...], Middle] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[object, ...]) -> Middle | None:
        """A middle, by all that it depends on."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: tuple[object, ...], middle: Middle) -> Middle:
        """Remember a middle."""
        with self._lock:
            self._kept[key] = middle
            if len(self._kept) > _REMEMBERED:
                self._kept.popitem(last=False)
        return middle


_MEMO: Final = _Memo()
