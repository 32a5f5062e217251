"""How hard the budget presses on what stands before the tail, and what gives way there.

The level is the highest one that was needed at any turn since the last compaction: so what gave way stays away until then, and
the bytes before the state do not go to and fro with the size of the last turns. It is told by adding numbers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate, groupby
from typing import Final

from projections.compacting.middle import KeptTurn
from projections.compacting.middle_text import Fullness, kept_note
from projections.framing import request_price
from projections.planning.scene import Scene
from projections.planning.tailing import settled_tokens

LEVELS: Final[tuple[Fullness, ...]] = ("whole", "whole", "half", "bare")
"""What is shown of the compressed text at each level; from level 1 on, all spent results are stubs at once."""

FRESH_PERCENT: Final = 25
"""So much of the budget results that nobody answered yet may take, before they are cut to what is left."""


def pressure(scene: Scene) -> int:
    """The level, from 0."""
    costs = _Costs(scene)
    return max((costs.needed(number) for number in range(_epoch(scene), scene.current.turn.number + 1)), default=0)


def tail_begins(scene: Scene, number: int) -> int:
    """The first turn of the tail when the turn ``number`` was the current one."""
    by_turns = max(1, number - scene.policy.tail_turns)
    exchanges = scene.policy.tail_exchanges
    if not exchanges:
        return by_turns
    users = bisect_right(scene.users, number)
    return min(by_turns, scene.live[0].turn.number if users < exchanges else scene.users[users - exchanges])


def kept_notes_price(scene: Scene, kept: Iterable[KeptTurn]) -> int:
    """What the notes cost that stand before turns of a segment that are kept; before the task there is none."""
    task = scene.task if scene.task in scene.pinned else None
    noted = [turn for turn in kept if turn.number != task]
    places = tuple((turn.number, turn.first, turn.last) for turn in noted)
    key = ("kept notes", places, scene.policy.encoding, scene.form.framing.note)
    groups = groupby(noted, key=lambda turn: turn.first)
    return scene.recall(key, lambda: sum(scene.note(kept_note(tuple(turns))) for _, turns in groups))


def _epoch(scene: Scene) -> int:
    """The number of the turn at whose coming the last segment was compacted, or of the first live turn."""
    first, last = scene.live[0].turn.number, scene.current.turn.number
    compaction, through = scene.policy.compaction, scene.middle.through
    if not through or compaction is None:
        return first
    room = scene.policy.request_tokens * compaction.live_percent // 100 - scene.middle.last_settled
    in_all = scene.policy.request_tokens * compaction.percent // 100 - scene.middle.settled
    costs = [settled_tokens(told, scene.policy) for told in scene.live]
    whole = [scene.room_for_turns - scene.middle.settled - before for before in (0, *accumulate(costs))]
    number = through + scene.policy.looks_ahead + 1
    place = 0
    while number < last:
        start = tail_begins(scene, number)
        while place < len(scene.live) and scene.live[place].turn.number < start:
            room, in_all = room - costs[place], in_all - costs[place]
            place += 1
        is_full = in_all < 0 or whole[max(0, number - first)] < 0
        if room < 0 and is_full and start > through:
            return max(number, first)
        number += 1
    return last


class _Costs:
    """What a window cost at each turn since the last compaction, at each level: sums over live turns, looked up."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        framing = scene.form.framing
        system = request_price(framing, scene.fixed.tools_tokens) + scene.fixed.system_tokens
        task = 0 if scene.fixed.task is None else scene.note(scene.fixed.task)
        options = scene.policy.state
        state = 0 if scene.fixed.state is None or options is None else framing.note + options.budget_tokens
        kept = kept_notes_price(scene, scene.middle.kept) + sum(scene.kept_prices.values())
        self._fixed = system + task + state + kept
        self._middles = [scene.told_middle(fullness)[1] for fullness in LEVELS]
        self._fresh = scene.budget_tokens * FRESH_PERCENT // 100
        self._whole = [0, *accumulate(scene.whole)]
        self._settled = [0, *accumulate(whole - saved for whole, saved in zip(scene.whole, scene.saved, strict=True))]
        cleared = sorted((moment, scene.saved[scene.places[number]]) for number, moment in scene.cleared.items())
        self._moments = [moment for moment, _ in cleared]
        self._cleared = [0, *accumulate(saved for _, saved in cleared)]
        self._assistants = [place for place, told in enumerate(scene.live) if told.turn.role == "assistant"]

    def needed(self, number: int) -> int:
        """The lowest level at which the window fitted when a turn was the current one."""
        scene = self._scene
        place = scene.places[number]
        left = min(place, max(0, tail_begins(scene, number) - scene.live[0].turn.number))
        answered = bisect_right(self._assistants, place)
        spent = self._assistants[answered - 1] if answered else 0  # results from here on were not answered yet
        current = min(scene.whole[place], scene.said_price(scene.live[place]) + self._fresh)
        always = self._fixed + self._sum(left, place, spent) + current
        cleared = self._whole[left] - self._cleared[bisect_right(self._moments, number)]
        settled = self._sum(0, left, spent)
        for level, middle in enumerate(self._middles):
            if always + middle + (settled if level else cleared) <= scene.budget_tokens:
                return level
        return len(LEVELS) - 1

    def _sum(self, first: int, end: int, spent: int) -> int:
        """What the live turns of some places cost, those before ``spent`` with stubs."""
        between = min(max(first, spent), end)
        return self._settled[between] - self._settled[first] + self._whole[end] - self._whole[between]
