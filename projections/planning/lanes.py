"""What is known of the live turns before the current one, side by side, taken on from one window to the next.

None of it changes when a turn comes behind them. So who asks after one more turn works out what that turn adds, and no more.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from ledger.assembling import assembler, values_of
from projections.planning.clearing import Away
from projections.planning.pricing import Pricing
from projections.planning.shown import Shown
from projections.planning.tailing import latest_result, timely_tokens
from projections.told import Told


class Clearable(NamedTuple):
    """What stubs in the place of a turn's results would save, about, and cuts."""

    saved: int
    cuttable: int


@dataclass(slots=True)
class Known:
    """What was found of live turns and of those behind them, and stays so once it is found.

    ``aways``: when the results of a turn were spent and away; ``stubbed``: how a turn stands with stubs; both by its place.
    ``cleared``: by number, when the spent results of a turn were cleared, and the number of the turn that was the current one
    when that was found. ``epoch``: the number of the turn at whose coming the last segment was compacted.
    """

    aways: dict[int, Away] = field(default_factory=dict)
    stubbed: dict[int, Shown] = field(default_factory=dict)
    cleared: tuple[int, Mapping[int, int]] = (0, MappingProxyType({}))
    epoch: int | None = None


@dataclass(frozen=True, slots=True)
class Lanes:
    """Turns in a row, each with another behind it. A lane tells one thing of all of them; a turn's place is the same in each.

    ``told``: the turns; ``shown``: how each stands whole; ``said``: what it costs without the contents of its results.

    Sums, before each place and after the last, without turns that are too large to be shown: ``whole``: of what the turns
    cost as they are; ``settled``: with stubs for their results; ``cut``: with cuts; ``timely``: as they crowd each other out of
    the tail.

    Of some turns only: ``clearable``: those whose results may give way, by place; ``late``: the places of those of them whose
    results came when the next turn had begun; ``users``: the numbers of the user's turns; ``assistants``: the places of the
    assistant's; ``answered``: by place, the number of the turn that answered all results of a turn; ``waiting``: by place, the
    version of the latest result of a turn that none has answered. ``known``: what is shared by all lanes that go on from these.
    """

    told: list[Told] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    said: list[int] = field(default_factory=list)
    whole: list[int] = field(default_factory=lambda: [0])
    settled: list[int] = field(default_factory=lambda: [0])
    cut: list[int] = field(default_factory=lambda: [0])
    timely: list[int] = field(default_factory=lambda: [0])
    clearable: dict[int, Clearable] = field(default_factory=dict)
    late: list[int] = field(default_factory=list)
    users: list[int] = field(default_factory=list)
    assistants: list[int] = field(default_factory=list)
    answered: dict[int, int] = field(default_factory=dict)
    waiting: dict[int, int] = field(default_factory=dict)
    known: Known = field(default_factory=Known)

    def before(self, live: Sequence[Told], pricing: Pricing, pinned: frozenset[int]) -> Lanes:
        """Those of all live turns but the last: these and what came behind them, or others where these are other turns."""
        known = len(self.told)
        if known >= len(live) or self.told != [*live[:known]]:
            return Lanes().before(live, pricing, pinned)
        if known == len(live) - 1:
            return self
        made = _copied(self)
        for place in range(known, len(live) - 1):
            _take(made, live[place], pricing, pinned, begins=live[place + 1].turn.version)
        return made


_lanes: Final = assembler(Lanes)
_lanes_of: Final = values_of(Lanes)


class Carried:
    """The lanes that were asked for last, to be gone on with: those of one form and policy. Threads may share it.

    ``given`` is all else that they depend on beside the turns: where it is another, they begin anew.
    """

    def __init__(self) -> None:
        self._held: tuple[Hashable, Lanes] = (None, Lanes())

    def lanes(self, given: Hashable, live: Sequence[Told], pricing: Pricing, pinned: frozenset[int]) -> Lanes:
        """Those of all live turns but the last."""
        known, lanes = self._held
        made = (lanes if known == given else Lanes()).before(live, pricing, pinned)
        self._held = given, made
        return made


def _copied(lanes: Lanes) -> Lanes:
    """Lanes to add turns to: whoever has the others, an earlier window or another thread, goes on with them as they are."""
    *own, known = _lanes_of(lanes)
    copies = [*(lane.copy() for lane in own), known]
    return _lanes(*copies)


def _take(lanes: Lanes, told: Told, pricing: Pricing, pinned: frozenset[int], *, begins: int) -> None:
    """Add a turn to lanes that nobody has seen yet; ``begins`` is the version of the turn behind it."""
    place, turn = len(lanes.told), told.turn
    shown, cost = pricing.priced(told)
    gives = Clearable(cost.saved, cost.cuttable) if cost.saved > 0 and turn.number not in pinned else Clearable(0, 0)
    lanes.told.append(told)
    lanes.shown.append(shown)
    lanes.said.append(cost.said)
    lanes.whole.append(lanes.whole[-1] + cost.pressing)
    lanes.settled.append(lanes.settled[-1] + cost.pressing - gives.saved)
    lanes.cut.append(lanes.cut[-1] + cost.pressing - gives.cuttable)
    lanes.timely.append(lanes.timely[-1] + timely_tokens(told, pricing.policy, begins=begins))
    if turn.role == "user":
        lanes.users.append(turn.number)
    else:
        lanes.assistants.append(place)
        for other in [other for other, latest in lanes.waiting.items() if latest < turn.version]:
            del lanes.waiting[other]
            lanes.answered[other] = turn.number
    if told.card.results:
        latest = lanes.waiting[place] = latest_result(told)
        if gives.saved:
            lanes.clearable[place] = gives
            if latest > begins:
                lanes.late.append(place)
