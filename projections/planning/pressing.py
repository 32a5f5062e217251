"""How hard the budget presses on what stands before the tail, and what gives way there.

The level is the highest one that was needed at any turn since the last compaction: so what gave way stays away until then, and
the bytes before the state do not go to and fro with the size of the last turns. It is told by adding numbers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby
from operator import sub
from typing import Final

from projections.compacting.middle import KeptTurn
from projections.compacting.middle_text import Fullness, kept_note
from projections.framing import request_price
from projections.planning.scene import Scene

LEVELS: Final[tuple[Fullness, ...]] = ("whole", "whole", "half", "bare")
"""What is shown of the compressed text at each level; from level 1 on, all spent results are stubs at once."""

FRESH_PERCENT: Final = 25
"""So much of the budget results that nobody answered yet may take, before they are cut to what is left."""


def pressure(scene: Scene) -> int:
    """The level, from 0."""
    costs = _Costs(scene)
    return max((costs.needed(number) for number in range(scene.epoch, scene.current.turn.number + 1)), default=0)


def kept_notes_price(scene: Scene, kept: Iterable[KeptTurn]) -> int:
    """What the notes cost that stand before turns of a segment that are kept; before the task there is none."""
    task = scene.task if scene.task in scene.pinned else None
    noted = [turn for turn in kept if turn.number != task]
    places = tuple((turn.number, turn.first, turn.last) for turn in noted)
    key = ("kept notes", places, scene.policy.encoding, scene.form.framing.note)
    groups = groupby(noted, key=lambda turn: turn.first)
    return scene.recall(key, lambda: sum(scene.note(kept_note(tuple(turns))) for _, turns in groups))


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
        self._settled = [0, *accumulate(map(sub, scene.whole, scene.saved))]
        self._cut = [0, *accumulate(map(sub, scene.whole, scene.cuttable))]
        places = ((scene.places[number], moment) for number, moment in scene.cleared.items())
        cleared = sorted((max(moment, scene.leaves_tail(place)), scene.saved[place]) for place, moment in places)
        self._moments = [moment for moment, _ in cleared]
        self._cleared = [0, *accumulate(saved for _, saved in cleared)]
        self._assistants = [place for place, told in enumerate(scene.live) if told.turn.role == "assistant"]

    def needed(self, number: int) -> int:
        """The lowest level at which the window fitted when a turn was the current one."""
        scene = self._scene
        place = scene.places[number]
        left = min(place, max(0, scene.tail_begins(number) - scene.live[0].turn.number))
        answered = bisect_right(self._assistants, place)
        spent = self._assistants[answered - 1] if answered else 0  # results from here on were not answered yet
        current = min(scene.whole[place], scene.said_price(scene.live[place]) + self._fresh)
        always = self._fixed + self._sum(self._cut, left, place, spent) + current
        cleared = self._whole[left] - self._cleared[bisect_right(self._moments, number)]
        settled = self._sum(self._settled, 0, left, spent)
        for level, middle in enumerate(self._middles):
            if always + middle + (settled if level else cleared) <= scene.budget_tokens:
                return level
        return len(LEVELS) - 1

    def _sum(self, shorter: Sequence[int], first: int, end: int, spent: int) -> int:
        """What the live turns of some places cost, those before ``spent`` as in the sums of ``shorter``."""
        between = min(max(first, spent), end)
        return shorter[between] - shorter[first] + self._whole[end] - self._whole[between]
