"""All that a window is chosen from, with what each piece of it costs in a form: numbers first, texts only where they stand."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple, Protocol, TypeVar

from projections.cards import Card
from projections.compacting.middle import Middle, Stub
from projections.compacting.middle_text import Fullness, middle_text
from projections.compacting.segments import stubs_of
from projections.framing import Framing, note_price, price
from projections.planning.calibration import Budgets
from projections.planning.clearing import Away, away, cleared_at, shown_used_through
from projections.planning.tailing import clearable_tokens, cuttable_tokens, is_too_large, settled_sums
from projections.planning.taken_on import Each, Recall
from projections.policy import Policy
from projections.state_block import Count
from projections.told import Told

Result = TypeVar("Result")


class Form(Protocol):
    """What pricing has to know of a provider's form."""

    provider: str
    framing: Framing


@cache
def _written(framing: Framing) -> str:
    return repr(framing)


@dataclass(frozen=True, slots=True)
class Fixed:
    """Texts that are never left out: a task given at opening, and the state block, where they say something new.

    ``system_tokens`` and ``tools_tokens``: what the system texts cost in the form, and the definitions of tools.
    ``state_tokens``: those of the state block, which is counted by its lines.
    """

    task: str | None
    state: str | None
    system_tokens: int
    tools_tokens: int
    state_tokens: int = 0


class Cost(NamedTuple):
    """What a turn costs ``whole``, and ``said`` without the contents of its results; what stubs and cuts save.

    ``pressing``: what it costs where it is shown, nothing if it is too large for that.
    """

    whole: int
    said: int
    saved: int
    cuttable: int
    pressing: int


@dataclass(frozen=True)
class Scene:
    """The turns of a window and their surroundings at one version.

    ``live``: every turn that is not compacted and may be shown, the current one last; the first of them may have left the
    tail. ``kept``: turns that are compacted and stand in the window whole, by number. ``task``: the number of the turn that
    states it. ``evidence``: ids of what was recorded of compacted turns. ``budget_tokens``: what the request may cost, as we
    count, ``budgets``: what it might at earlier turns. ``unread``: the numbers of turns that are not compacted either, but so
    far back that they were not even read. ``room_for_turns``: what is left of the budget for them, as compaction sees it.
    ``kept_stubs``: those that are kept of a turn whose segment was compacted at whatever version, by its number; None where
    none are kept. ``pressed_before``: how hard the budget pressed before what was recorded late of compacted turns.
    """

    policy: Policy
    form: Form
    count: Count
    budget_tokens: int
    budgets: Budgets
    middle: Middle
    live: Sequence[Told]
    kept: Mapping[int, Told]
    task: int | None
    fixed: Fixed
    recall: Recall
    evidence: tuple[str, ...]
    unread: Sequence[int]
    room_for_turns: int
    kept_stubs: Callable[[int], Sequence[Stub] | None]
    pressed_before: Callable[[Scene], int]

    @property
    def current(self) -> Told:
        """The current turn."""
        return self.live[-1]

    @cached_property
    def first(self) -> int:
        """The number of the first live turn; the others follow without a gap."""
        return self.live[0].turn.number

    @cached_property
    def users(self) -> list[int]:
        """The numbers of the live turns of the user."""
        return [told.turn.number for told in self.live if told.turn.role == "user"]

    @cached_property
    def costs(self) -> list[Cost]:
        """What each live turn costs."""
        costs: Each[Told, Cost] = self.recall(("costs", self.pricing), Each)
        return costs.of(self.live, self._cost)

    @cached_property
    def can_give_way(self) -> list[bool]:
        """Whether results of each live turn may be shortened once they were answered: never those of turns that are pinned."""
        pinned = self.pinned - {self.current.turn.number}
        return [cost.saved > 0 and told.turn.number not in pinned for told, cost in zip(self.live, self.costs, strict=True)]

    @cached_property
    def saved(self) -> list[int]:
        """What the spent results of each live turn would save as stubs, about."""
        return [cost.saved if can else 0 for cost, can in zip(self.costs, self.can_give_way, strict=True)]

    @cached_property
    def cuttable(self) -> list[int]:
        """What is saved of each live turn while it is in the tail, about."""
        return [cost.cuttable if can else 0 for cost, can in zip(self.costs, self.can_give_way, strict=True)]

    @cached_property
    def cleared(self) -> dict[int, int]:
        """When the spent results of live turns were cleared, by turn."""
        compacted_at = self.epoch if self.middle.through else 0
        upto = self.current.turn.number
        return cleared_at(self.saved, self.away, self.policy, first=self.first, upto=upto, compacted_at=compacted_at)

    def away(self, place: int) -> Away:
        """When the results of a live turn were spent and away."""
        found = self._aways.get(place)
        if found is None:
            found = self._aways[place] = away(self.live, place, self.policy)
        return found

    @cached_property
    def _aways(self) -> dict[int, Away]:
        return {}

    def tail_begins(self, number: int) -> int:
        """The first turn of the tail when the turn ``number`` was the current one."""
        by_turns = max(1, number - self.policy.tail_turns)
        exchanges = self.policy.tail_exchanges
        if not exchanges:
            return by_turns
        users = bisect_right(self.users, number)
        return min(by_turns, self.live[0].turn.number if users < exchanges else self.users[users - exchanges])

    @cached_property
    def epoch(self) -> int:
        """The number of the turn at whose coming the last segment was compacted, or of the first live turn."""
        first, last = self.live[0].turn.number, self.current.turn.number
        compaction, through = self.policy.compaction, self.middle.through
        if not through or compaction is None:
            return first
        request, settled = self.policy.request_tokens, self.middle.settled
        room = request * compaction.live_percent // 100 - self.middle.last_settled
        in_all = request * compaction.percent // 100 - settled
        whole = self.room_for_turns - settled
        remembered: Each[Card, int] = self.recall(("settled live", self.policy.settling), Each)
        sums = settled_sums([told.card for told in self.live], self.policy, remembered)

        def is_compacted(number: int) -> bool:
            start = self.tail_begins(number)
            left = sums[min(len(sums) - 1, max(0, start - first))]
            is_full = in_all < left or whole < sums[max(0, number - first)]
            return room < left and is_full and start > through

        begins = through + self.policy.looks_ahead + 1
        found = bisect_left(range(begins, max(begins, last)), 1, key=is_compacted)  # once it is so, it stays so
        return max(begins + found, first) if begins + found < last else last

    @cached_property
    def pinned(self) -> frozenset[int]:
        """The numbers of the turns that never give way."""
        task = {self.task} if self.task is not None and self.policy.pins_task else set()
        return frozenset({*task, *self.policy.pins, self.current.turn.number})

    def is_spent(self, place: int) -> bool:
        """Whether an assistant turn has answered the results of a live turn by now."""
        return self.away(place).spent <= self.current.turn.number

    @cached_property
    def gives_way(self) -> Sequence[int]:
        """The places of the live turns whose results may be shortened by now."""
        return [place for place, can in enumerate(self.can_give_way) if can and self.is_spent(place)]

    @cached_property
    def pricing(self) -> str:
        """What the costs of a turn depend on, beside the turn."""
        return f"{self.form.provider}/{_written(self.form.framing)}/{self.policy.settling}"

    def _cost(self, told: Told) -> Cost:
        whole, results = self.price(told, {}), told.card.results
        said = self.price(told, {result.version: 0 for result in results}) if results else whole
        if is_too_large(told.card, self.policy):
            return Cost(whole, said, 0, 0, 0)
        return Cost(whole, said, clearable_tokens(told.card, self.policy), cuttable_tokens(told.card, self.policy), whole)

    def price(self, told: Told, replaced: Mapping[int, int]) -> int:
        """What a turn costs in the form."""
        return price(told.card, self.form.framing, self.policy, self.form.provider, replaced)

    def result_price(self, told: Told, version: int) -> int:
        """What the contents of a result cost in the form."""
        return self.price(told, {}) - self.price(told, {version: 0})

    def note(self, text: str) -> int:
        """What a text of ours costs in the form."""
        return note_price(self.count(text), self.form.framing)

    def stubs(self, place: int) -> list[Stub]:
        """The stubs of a live turn: the same ones from the moment on at which they are made."""
        told = self.live[place]
        through = self.stubs_through(place)
        returned = tuple(result.version for result in told.card.results)
        key = ("stubs", told.turn.number, returned, through, self.policy.settling, self.policy.encoding)
        return self.recall(key, lambda: self._stubs(place, through))

    def stubs_through(self, place: int) -> int:
        """The last turn whose use of a live turn's results its stubs show."""
        return shown_used_through(self.first + place, self.away(place).moment, self.policy)

    def _stubs(self, place: int, through: int) -> list[Stub]:
        told = self.live[place]
        kept = self.kept_stubs(told.turn.number)
        if kept is not None:
            return list(kept)
        later = [other for other in self.live[place + 1 :] if other.turn.number <= through]
        return stubs_of(told, later, self.policy, self.count)

    def told_middle(self, fullness: Fullness) -> tuple[str | None, int]:
        """The text of the middle, and what it costs."""
        if fullness not in self._told_middles:
            key = ("middle text", self.middle.key, fullness, self.evidence, self.policy.encoding, self.form.framing.note)
            self._told_middles[fullness] = self.recall(key, lambda: self._told_middle(fullness))
        return self._told_middles[fullness]

    @cached_property
    def _told_middles(self) -> dict[Fullness, tuple[str | None, int]]:
        return {}

    def _told_middle(self, fullness: Fullness) -> tuple[str | None, int]:
        told = middle_text(self.middle, self.policy, fullness=fullness, evidence=self.evidence)
        return (None, 0) if told is None else (told[0], note_price(told[1], self.form.framing))
