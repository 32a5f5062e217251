"""All that a window is chosen from, with what each piece of it costs in a form: numbers first, texts only where they stand."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from projections.cards import Card
from projections.compacting.middle import Middle, Stub
from projections.compacting.middle_text import Fullness, middle_text, shown_lines
from projections.compacting.turn_stubs import stubs_of
from projections.lazily import lazily
from projections.pieces import NotePiece
from projections.planning.calibration import Budgets
from projections.planning.clearing import Away, away, cleared_at, shown_used_through
from projections.planning.lanes import Carried, Lanes
from projections.planning.pricing import Cost, Form, Pricing
from projections.planning.shown import Shown
from projections.planning.tailing import settled_tokens, timely_tokens
from projections.planning.taken_on import Recall, Sums
from projections.policy import Compaction, Policy
from projections.state_block import Count
from projections.told import Told


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


class ToldMiddle(NamedTuple):
    """What is told of the compacted turns, and what it costs; from which turn to which its lines tell, and its summaries."""

    piece: NotePiece | None
    tokens: int
    told_of: tuple[tuple[int, int], ...]
    summaries: tuple[str, ...]


NOTHING_TOLD: Final = ToldMiddle(None, 0, (), ())


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

    @lazily
    def current(self) -> Told:
        """The current turn."""
        return self.live[-1]

    @lazily
    def first(self) -> int:
        """The number of the first live turn; the others follow without a gap."""
        return self.live[0].turn.number

    @lazily
    def pricing(self) -> Pricing:
        """What turns cost in the form."""
        return Pricing(self.form, self.policy)

    @lazily
    def lanes(self) -> Lanes:
        """What is known of the live turns before the current one."""
        carried = self.recall(("lanes", self.form, self.policy.digest), Carried)
        given = self.middle.key, self.task, self.room_for_turns
        return carried.lanes(given, self.live, self.pricing, self._always_pinned)

    def cost(self, told: Told) -> Cost:
        """What a live turn costs."""
        return self.pricing.priced(told).cost

    @lazily
    def cleared(self) -> Mapping[int, int]:
        """When the spent results of live turns were cleared, by turn."""
        compacted_at = self.epoch if self.middle.through else 0
        stays, first, upto, known = self._stays_from(), self.first, self.current.turn.number, self.lanes.known
        since, moments = known.cleared
        before = moments if since <= upto else {}  # their moments stay, and nothing else waits for them
        left = (place for place in self.lanes.clearable if place < stays and first + place not in before)
        saved = [(place, self.lanes.clearable[place].saved) for place in left]
        if not saved:
            return before
        found = {**before, **cleared_at(saved, self.away, self.policy, first=first, upto=upto, compacted_at=compacted_at)}
        known.cleared = upto, {number: moment for number, moment in found.items() if moment < upto}
        return found

    def away(self, place: int) -> Away:
        """When the results of a live turn were spent and away."""
        known = self.lanes.known.aways
        found = known.get(place)
        if found is None:
            found = away(self.live, place, self._timely, self.policy)
            if found.moment < self.current.turn.number:  # nothing that is still to come changes it
                known[place] = found
        return found

    @lazily
    def start(self) -> int:
        """The number of the first turn of the tail."""
        return self.tail_begins(self.current.turn.number)

    def _stays_from(self) -> int:
        """The place of the first live turn that neither left the tail by now nor was crowded out of it."""
        timely = self._timely
        return max(self.start - self.first, bisect_left(timely, timely[-1] - self.policy.request_tokens))

    @lazily
    def _timely(self) -> list[int]:
        """What the live turns add up to as they crowd each other out of the tail."""
        timely = self.lanes.timely
        return [*timely, timely[-1] + timely_tokens(self.current, self.policy, begins=None)]

    def tail_begins(self, number: int) -> int:
        """The first turn of the tail when the turn ``number`` was the current one."""
        by_turns = max(1, number - self.policy.tail_turns)
        exchanges = self.policy.tail_exchanges
        if not exchanges:
            return by_turns
        users = bisect_right(self._users, number)
        return min(by_turns, self.first if users < exchanges else self._users[users - exchanges])

    @lazily
    def _users(self) -> list[int]:
        """The numbers of the live turns of the user."""
        current = self.current.turn
        return [*self.lanes.users, *([current.number] if current.role == "user" else [])]

    @lazily
    def assistants(self) -> list[int]:
        """The places of the live turns of the assistant."""
        return [*self.lanes.assistants, *([len(self.live) - 1] if self.current.turn.role == "assistant" else [])]

    @lazily
    def epoch(self) -> int:
        """The number of the turn at whose coming the last segment was compacted, or of the first live turn."""
        compaction, last = self.policy.compaction, self.current.turn.number
        if not self.middle.through or compaction is None:
            return self.first
        known = self.lanes.known
        if known.epoch is not None:
            return known.epoch
        found = self._compacted_at(compaction)
        if found < last:  # once it is so, it stays so
            known.epoch = found
        return found

    def _compacted_at(self, compaction: Compaction) -> int:
        first, last, through = self.first, self.current.turn.number, self.middle.through
        request, settled = self.policy.request_tokens, self.middle.settled
        remembered: Sums[Card] = self.recall(("settled", self.policy.settling), Sums)
        sums = remembered.of([told.card for told in self.live[:-1]], partial(settled_tokens, policy=self.policy))
        room = sums[0] + request * compaction.live_percent // 100 - self.middle.last_settled
        in_all = sums[0] + request * compaction.percent // 100 - settled
        whole = sums[0] + self.room_for_turns - settled

        def is_compacted(number: int) -> bool:
            start = self.tail_begins(number)
            left = sums[min(len(sums) - 1, max(0, start - first))]
            is_full = in_all < left or whole < sums[max(0, number - first)]
            return room < left and is_full and start > through

        begins = through + self.policy.looks_ahead + 1
        found = bisect_left(range(begins, max(begins, last)), 1, key=is_compacted)
        return max(begins + found, first) if begins + found < last else last

    @lazily
    def pinned(self) -> frozenset[int]:
        """The numbers of the turns that never give way."""
        return self._always_pinned | {self.current.turn.number}

    @lazily
    def _always_pinned(self) -> frozenset[int]:
        """Those of them that never gave way and never will."""
        task = {self.task} if self.task is not None and self.policy.pins_task else set()
        return frozenset({*task, *self.policy.pins})

    @lazily
    def answered(self) -> Mapping[int, int]:
        """The number of the turn that answered the results of a live turn, by place; not there if none has by now."""
        current, lanes = self.current.turn, self.lanes
        if current.role != "assistant" or not lanes.waiting:
            return lanes.answered
        return lanes.answered | {place: current.number for place, latest in lanes.waiting.items() if latest < current.version}

    def is_spent(self, place: int) -> bool:
        """Whether an assistant turn has answered the results of a live turn by now."""
        return place in self.answered

    @lazily
    def gives_way(self) -> Sequence[int]:
        """The places of the live turns whose results may be shortened by now."""
        answered = self.answered
        return [place for place in self.lanes.clearable if place in answered]

    def note(self, text: str) -> int:
        """What a text of ours costs in the form."""
        return self.pricing.note(self.count(text))

    def stubbed(self, place: int) -> Shown:
        """A live turn with stubs."""
        known = self.lanes.known
        found = known.stubbed.get(place)
        if found is None:
            found = self.pricing.stubbed(self.live[place], self.stubs(place))
            if place in known.aways:
                known.stubbed[place] = found
        return found

    def stubs(self, place: int) -> list[Stub]:
        """The stubs of a live turn: the same ones from the moment on at which they are made."""
        told = self.live[place]
        through = shown_used_through(told.turn.number, self.away(place).moment, self.policy)
        returned = tuple(result.version for result in told.card.results)
        key = ("stubs", told.turn.number, returned, through, self.policy.settling, self.policy.encoding)
        return self.recall(key, lambda: self._stubs(place, through))

    def _stubs(self, place: int, through: int) -> list[Stub]:
        told = self.live[place]
        kept = self.kept_stubs(told.turn.number)
        if kept is not None:
            return list(kept)
        later = [other for other in self.live[place + 1 :] if other.turn.number <= through]
        return stubs_of(told, later, self.policy, self.count)

    def told_middle(self, fullness: Fullness) -> ToldMiddle:
        """What is told of the compacted turns."""
        found = self._told_middles.get(fullness)
        if found is None:
            found = self._told_middles[fullness] = self._told_middle(fullness)
        return found

    @lazily
    def _told_middles(self) -> dict[Fullness, ToldMiddle]:
        """By how much is told, as far as it was asked for by whatever window."""
        key = ("middle texts", self.middle.key, self.evidence, self.policy.encoding, self.form.framing.note)
        return self.recall(key, dict)

    def _told_middle(self, fullness: Fullness) -> ToldMiddle:
        told = middle_text(self.middle, self.policy, fullness=fullness, evidence=self.evidence)
        if told is None:
            return NOTHING_TOLD
        text, tokens = told
        lines = shown_lines(self.middle, self.policy, fullness)
        summaries = tuple(line.summary for line in lines if line.summary is not None)
        return ToldMiddle(
            NotePiece(text), self.pricing.note(tokens), tuple((line.first, line.last) for line in lines), summaries
        )
