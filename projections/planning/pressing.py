"""How hard the budget presses on what stands before the tail, and what gives way there.

The level is the highest one that was needed at any turn since the last compaction: so what gave way stays away until then, and
the bytes before the state do not go to and fro with the size of the last turns. It is told by adding numbers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from operator import sub
from typing import Final

from projections.compacting.middle_text import Fullness
from projections.framing import request_price
from projections.planning.scene import Scene
from projections.planning.shown import all_kept
from projections.planning.tailing import latest_result
from projections.planning.taken_on import TakenOn
from projections.told import Told

LEVELS: Final[tuple[Fullness, ...]] = ("whole", "whole", "half", "bare")
"""What is shown of the compressed text at each level; from level 1 on, all spent results are stubs at once, others cut."""

FRESH_PERCENT: Final = 25
"""So much of the budget results that nobody answered yet may take, before they are cut to what is left."""


def pressure(scene: Scene) -> int:
    """The level, from 0, as what is compacted reads now: where it was amended, it may have been higher before."""
    costs = _Costs(scene)
    if costs.most <= scene.budget_tokens and not scene.budgets.vary(scene.epoch):
        return 0
    taken: TakenOn[Told, int] = scene.recall(costs.key, lambda: TakenOn(0))
    return taken.of(scene.live, costs.needed)[-1]


class _Costs:
    """What a window cost at each turn since the last compaction, at each level: sums over live turns, looked up."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        framing = scene.form.framing
        system = request_price(framing, scene.fixed.tools_tokens) + scene.fixed.system_tokens
        task = 0 if scene.fixed.task is None else scene.note(scene.fixed.task)
        options = scene.policy.state
        state = 0 if options is None else framing.note + options.budget_tokens  # also while there is none: it may have been
        self._fixed = system + task + state + all_kept(scene).tokens
        self._pressing = [cost.pressing for cost in scene.costs]
        self._whole = list(accumulate(self._pressing, initial=0))
        self.most = self._fixed + scene.told_middle(LEVELS[0])[1] + self._whole[-1]
        """More than a window cost at any turn at the lowest level."""

    @cached_property
    def _middles(self) -> list[int]:
        return [self._scene.told_middle(fullness)[1] for fullness in LEVELS]

    @cached_property
    def _settled(self) -> list[int]:
        return list(accumulate(map(sub, self._pressing, self._scene.saved), initial=0))

    @cached_property
    def _cut(self) -> list[int]:
        return list(accumulate(map(sub, self._pressing, self._scene.cuttable), initial=0))

    @cached_property
    def _cleared(self) -> list[tuple[int, int]]:
        """At which turn results became stubs, and what that saved."""
        scene = self._scene
        return [(moment, scene.saved[number - scene.first]) for number, moment in scene.cleared.items()]

    @cached_property
    def _late(self) -> list[tuple[int, int]]:
        """The places of turns whose results came when later ones had begun, and the turn at which they were answered."""
        scene, after = self._scene, self._scene.live[1:]
        places = (place for place, (can, _) in enumerate(zip(scene.can_give_way, after, strict=False)) if can)
        late = (place for place in places if latest_result(scene.live[place]) > after[place].turn.version)
        return [(place, scene.away(place).spent) for place in late]

    @cached_property
    def _assistants(self) -> list[int]:
        return [place for place, told in enumerate(self._scene.live) if told.turn.role == "assistant"]

    @property
    def key(self) -> tuple[object, ...]:
        """All that the levels depend on, beside the live turns."""
        scene = self._scene
        texts = (self._fixed, *self._middles, scene.room_for_turns)
        return "levels", scene.policy.digest, scene.pricing, scene.middle.key, scene.task, scene.epoch, texts

    def needed(self, level: int, told: Told) -> int:
        """The lowest level from ``level`` on at which the window fitted when a turn was the current one, else the highest."""
        scene, number = self._scene, told.turn.number
        place, cost = number - scene.first, scene.costs[number - scene.first]
        if number < scene.epoch or not cost.pressing:
            return level
        budget = scene.budgets.at(number)
        always = self._fixed + cost.whole
        if level == 0:
            cleared = sum(saved for moment, saved in self._cleared if moment <= number)
            if always + self._middles[0] + self._whole[place] - cleared <= budget:
                return 0
        always -= max(0, cost.whole - cost.said - budget * FRESH_PERCENT // 100)
        always += self._shortened(number)
        for tried in range(max(1, level), len(LEVELS)):
            if always + self._middles[tried] <= budget:
                return tried
        return len(LEVELS) - 1

    def _shortened(self, number: int) -> int:
        """What the turns before a turn cost with stubs before the tail and cuts in it, where results were answered by then."""
        scene, place = self._scene, number - self._scene.first
        left = min(place, max(0, scene.tail_begins(number) - scene.first))
        answered = bisect_right(self._assistants, place)
        spent = self._assistants[answered - 1] if answered else 0  # results from here on were not answered yet
        total = self._sum(self._settled, 0, left, spent) + self._sum(self._cut, left, place, spent)
        waiting = (late for late, answer in self._late if late < spent and number < answer)
        return total + sum(scene.saved[late] if late < left else scene.cuttable[late] for late in waiting)

    def _sum(self, shorter: Sequence[int], first: int, end: int, spent: int) -> int:
        """What the live turns of some places cost, those before ``spent`` as in the sums of ``shorter``."""
        between = min(max(first, spent), end)
        return shorter[between] - shorter[first] + self._whole[end] - self._whole[between]
