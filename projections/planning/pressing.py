"""How hard the budget presses on what stands before the tail, and what gives way there.

The level is the highest one that was needed at any turn since the last compaction: so what gave way stays away until then, and
the bytes before the state do not go to and fro with the size of the last turns. It is told by adding numbers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from projections.compacting.middle_text import Fullness
from projections.framing import request_price
from projections.lazily import lazily
from projections.planning.kept_turns import KeptTurns
from projections.planning.scene import Scene
from projections.planning.taken_on import TakenOn
from projections.told import Told

LEVELS: Final[tuple[Fullness, ...]] = ("whole", "whole", "half", "bare")
"""What is shown of the compressed text at each level; from level 1 on, all spent results are stubs at once, others cut."""

FRESH_PERCENT: Final = 25
"""So much of the budget results that nobody answered yet may take, before they are cut to what is left."""


def pressure(scene: Scene, kept: KeptTurns) -> int:
    """The level, from 0, as what is compacted reads now: where it was amended, it may have been higher before."""
    costs = _Costs(scene, kept)
    if costs.most <= scene.budget_tokens and not scene.budgets.vary(scene.epoch):
        return 0
    taken: TakenOn[Told, int] = scene.recall(costs.key, lambda: TakenOn(0))
    return taken.of(scene.live, costs.needed)[-1]


class _Costs:
    """What a window cost at each turn since the last compaction, at each level: sums over live turns, looked up."""

    def __init__(self, scene: Scene, kept: KeptTurns) -> None:
        self._scene = scene
        framing = scene.form.framing
        system = request_price(framing, scene.fixed.tools_tokens) + scene.fixed.system_tokens
        task = 0 if scene.fixed.task is None else scene.note(scene.fixed.task)
        options = scene.policy.state
        state = 0 if options is None else framing.note + options.budget_tokens  # also while there is none: it may have been
        self._fixed = system + task + state + kept.tokens
        self.most = (
            self._fixed + scene.told_middle(LEVELS[0]).tokens + scene.lanes.whole[-1] + scene.cost(scene.current).pressing
        )
        """More than a window cost at any turn at the lowest level."""

    @lazily
    def _middles(self) -> list[int]:
        return [self._scene.told_middle(fullness).tokens for fullness in LEVELS]

    @lazily
    def _cleared(self) -> list[tuple[int, int]]:
        """At which turn results became stubs, and what that saved."""
        scene = self._scene
        return [(moment, scene.lanes.clearable[number - scene.first].saved) for number, moment in scene.cleared.items()]

    @property
    def key(self) -> tuple[object, ...]:
        """All that the levels depend on, beside the live turns."""
        scene = self._scene
        texts = (self._fixed, *self._middles, scene.room_for_turns)
        return "levels", scene.policy.digest, scene.form, scene.middle.key, scene.task, scene.epoch, texts

    def needed(self, level: int, told: Told) -> int:
        """The lowest level from ``level`` on at which the window fitted when a turn was the current one, else the highest."""
        scene, number = self._scene, told.turn.number
        cost = scene.cost(told)
        if number < scene.epoch or not cost.pressing:
            return level
        budget = scene.budgets.at(number)
        always = self._fixed + cost.whole
        if level == 0:
            cleared = sum(saved for moment, saved in self._cleared if moment <= number)
            if always + self._middles[0] + scene.lanes.whole[number - scene.first] - cleared <= budget:
                return 0
        always -= max(0, cost.whole - cost.said - budget * FRESH_PERCENT // 100)
        always += self._shortened(number)
        for tried in range(max(1, level), len(LEVELS)):
            if always + self._middles[tried] <= budget:
                return tried
        return len(LEVELS) - 1

    def _shortened(self, number: int) -> int:
        """What the turns before a turn cost with stubs before the tail and cuts in it, where results were answered by then."""
        scene, lanes, place = self._scene, self._scene.lanes, number - self._scene.first
        left = min(place, max(0, scene.tail_begins(number) - scene.first))
        answered = bisect_right(scene.assistants, place)
        spent = scene.assistants[answered - 1] if answered else 0  # results from here on were not answered yet
        total = self._sum(lanes.settled, 0, left, spent) + self._sum(lanes.cut, left, place, spent)
        waiting = (late for late in lanes.late if late < spent and number < scene.answered.get(late, number + 1))
        return total + sum(lanes.clearable[late].saved if late < left else lanes.clearable[late].cuttable for late in waiting)

    def _sum(self, shorter: Sequence[int], first: int, end: int, spent: int) -> int:
        """What the live turns of some places cost, those before ``spent`` as in the sums of ``shorter``."""
        whole = self._scene.lanes.whole
        between = min(max(first, spent), end)
        return shorter[between] - shorter[first] + whole[end] - whole[between]
