"""Which turns a window keeps, and never more than the budget: what gives way, in which order.

First spent results, then compressed text, then turns that left the tail last, the oldest first, then the oldest turns of the
tail by whole call units, then turns that are kept only because a rule says so. Never system, task, pins, state and the current
turn. Results that no assistant turn has answered yet are never stubs, those of the tail only once they are crowded out: where
they are too large for what is left, their beginning and end stand in the window.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final

from ledger.assembling import assembler
from projections.errors import BudgetExceeded
from projections.framing import note_price, request_price
from projections.pieces import Pieces
from projections.planning.arranging import Chosen, arranged
from projections.planning.fitting import Large, Place, cut_by, cuts, large_results
from projections.planning.kept_turns import all_kept, kept_notes_price, kept_pieces
from projections.planning.left_out import LeftOut, left_out
from projections.planning.plan import Plan
from projections.planning.pressing import FRESH_PERCENT, LEVELS, pressure
from projections.planning.scene import NOTHING_TOLD, Scene, ToldMiddle
from projections.planning.shown import Shown
from projections.planning.tailing import clearable_results, plain_tokens
from projections.receipt import Row
from projections.told import Told

_MOST_NAMED: Final = 12
"""So many of what never gives way are named in a message, the largest ones; the error holds all of them."""

_plan: Final = assembler(Plan)
_TOKENS: Final[Callable[[Shown], int]] = attrgetter("tokens")


class Planner:
    """Chooses the pieces of one window."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._all_kept = all_kept(scene)
        self._level = max(pressure(scene, self._all_kept), scene.pressed_before(scene))
        self._budget = scene.budget_tokens
        framing = scene.form.framing
        self._blocks = {
            "system": scene.fixed.system_tokens + request_price(framing, 0),
            "tools": scene.fixed.tools_tokens,
            "task": 0 if scene.fixed.task is None else scene.note(scene.fixed.task),
            "state": 0 if scene.fixed.state is None else note_price(scene.fixed.state_tokens, framing),
        }
        self._always = sum(self._blocks.values())
        self._kept = dict(self._all_kept.turns)
        self._kept_shown = dict(self._all_kept.shown)
        self._current = scene.current.turn.number
        self._start = scene.start
        self._first = scene.first
        shown = (*scene.lanes.shown, scene.pricing.priced(scene.current).shown)
        self._live = dict(enumerate(shown, self._first))
        self._shortened: set[int] = set()
        self._clear()
        self._gone: list[Told] = []
        self._left: dict[int, Shown] = {}
        self._told_left_out: dict[int, LeftOut | None] = {}
        self._kept_costs: dict[int, int] = {}
        self._has_middle = True
        self._gave_way: list[str] = []

    def plan(self) -> Plan:
        """The window's pieces; ``BudgetExceeded`` names what may not be left out, if that alone is too large."""
        if self._scene.policy.tail_tokens is not None:
            self._shorten_tail(self._scene.policy.tail_tokens)
        self._make_room()
        left, middle = self._left_out(), self._middle()
        chosen = Chosen(self._live, self._kept_pieces(), middle.piece, left, self._start)
        pieces, breakpoints = arranged(self._scene, chosen)
        blocks = self._block_totals(left)
        return _plan(
            pieces,
            sum(blocks.values()),
            lambda: self._rows(() if left is None else left.told_of),
            blocks,
            breakpoints,
            len(self._tail_places()),
            (*self._said_less(), *self._gave_way),
            middle.told_of,
            middle.summaries,
        )

    def _clear(self) -> None:
        """Show stubs where results were cleared, and before the tail where the budget presses for them."""
        scene, first, live = self._scene, self._first, self._live
        pressed = self._start if self._level > 0 else 0
        cleared, shortened = scene.cleared, self._shortened
        for place in scene.gives_way:
            number = first + place
            if number not in shortened and (number < pressed or number in cleared) and number in live:
                shown = live[number] = scene.stubbed(place)
                if shown.texts:
                    shortened.add(number)

    def _make_room(self) -> None:
        """Let things give way until the request fits, with the current turn's own words whole."""
        if self._tokens() <= self._budget or (self._leave_out_too_large() and self._tokens() <= self._budget):
            return
        if self._level == 0:
            self._level = 1
            self._clear()
        self._cut_tail(self._tokens() - self._budget)
        floor = self._budget * FRESH_PERCENT // 100
        if self._fits(floor=floor):
            return
        for step in self._steps():
            self._gave_way += [] if step is None else [step]
            if not self._is_over_by_turns(floor) and self._fits(floor=floor):
                break
        else:
            if not self._fits(floor=0):
                raise self._exceeded()
        if self._has_middle:  # where it is not even said what is left out, older turns would read as if nothing were
            self._take_back()

    def _steps(self) -> Iterator[str | None]:
        """What gives way, first things first; how much less is said at a level is told of all levels together."""
        while self._level < len(LEVELS) - 1:
            self._level += 1
            self._clear()
            yield None
        for number in list(self._live):
            if number not in self._scene.pinned:
                self._leave_out(number)
                yield f"turn {number}"
        for number in list(self._kept):
            if number not in self._scene.pinned:
                rule = self._kept.pop(number).rule
                self._gone.append(self._kept_shown.pop(number).told)
                yield f"turn {number}, kept as {rule}"
        self._has_middle = False
        yield "the note of what is compacted"

    def _said_less(self) -> Iterator[str]:
        """What is shorter at this level than it would be without pressure."""
        scene = self._scene
        unread = scene.unread
        if unread:
            yield f"turns {unread[0]}-{unread[-1]}: too far back"
        short = self._shortened & self._live.keys()
        tail = {number for number in short if number >= self._start}
        if short - tail - scene.cleared.keys():
            yield "spent results"
        spent = {scene.is_spent(number - self._first) for number in tail}
        if True in spent:
            yield "results of the tail"
        if False in spent:
            yield "results not answered yet"
        if self._has_middle and self._middle().piece != scene.told_middle(LEVELS[0]).piece:
            yield f"compressed text: {LEVELS[self._level]}"

    def _leave_out(self, number: int) -> None:
        self._left[number] = self._live.pop(number)
        self._gone.append(self._left[number].told)

    def _leave_out_too_large(self) -> bool:
        """Turns that would not fit if they were the only ones go first: nothing else that gave way would help."""
        room = self._budget - self._always
        said = (*self._scene.lanes.said, self._scene.cost(self._scene.current).said)
        if max(said) <= room:
            return False
        large = [number for number, cost in enumerate(said, self._first) if cost > room]
        gone = [number for number in large if number in self._live and number not in self._scene.pinned]
        self._gone += [self._live.pop(number).told for number in gone]
        self._gave_way += [f"turn {number}" for number in gone]
        return bool(gone)

    def _take_back(self) -> None:
        """Show turns of the tail again, the latest first, where what gave way after them left more room than was needed."""
        for number in sorted(self._left, reverse=True):
            live, gone, gave_way = self._live, self._gone, self._gave_way
            self._live = dict(sorted({**live, number: self._left[number]}.items()))
            self._gone = [told for told in gone if told.number != number]
            self._told_left_out = {}
            if number < self._start or self._tokens() > self._budget:
                self._live, self._gone, self._told_left_out = live, gone, {}
                return
            self._gave_way = [step for step in gave_way if step != f"turn {number}"]

    def _is_over_by_turns(self, floor: int) -> bool:
        """Whether it is clear without telling of what gave way that more has to."""
        tokens = sum(self._block_totals(None).values())
        return tokens - self._budget > self._can_be_cut(floor)

    def _tokens(self) -> int:
        told = self._told_tokens(self._left_out())
        return self._always + self._kept_tokens() + told + sum(map(_TOKENS, self._live.values()))

    def _told_tokens(self, left: LeftOut | None) -> int:
        """What is told of turns that are not shown: of those that are compacted, and of those that gave way."""
        return self._middle().tokens + (0 if left is None else self._scene.pricing.note(left.tokens))

    def _block_totals(self, left: LeftOut | None) -> dict[str, int]:
        tokens, tail = [*map(_TOKENS, self._live.values())], self._tail_places()
        return self._blocks | {
            "kept": self._kept_tokens(),
            "middle": self._told_tokens(left),
            "live": sum(tokens[: tail.start]),
            "tail": sum(tokens[tail.start : tail.stop]),
            "current": tokens[-1],
        }

    def _tail_places(self) -> range:
        """Where the turns of the tail stand among those that are shown, without the current one, which is the last."""
        return range(bisect_left([*self._live], self._start), len(self._live) - 1)

    def _kept_tokens(self) -> int:
        if len(self._kept) == len(self._all_kept.shown):
            return self._all_kept.tokens
        key = len(self._kept)
        if key not in self._kept_costs:
            whole = sum(shown.tokens for shown in self._kept_shown.values())
            self._kept_costs[key] = kept_notes_price(self._scene, list(self._kept.values())) + whole
        return self._kept_costs[key]

    def _kept_pieces(self) -> Pieces:
        if len(self._kept) == len(self._all_kept.shown):
            return self._all_kept.pieces
        return tuple(kept_pieces(self._scene, list(self._kept.values()), self._kept_shown))

    def _middle(self) -> ToldMiddle:
        return self._scene.told_middle(LEVELS[self._level]) if self._has_middle else NOTHING_TOLD

    def _left_out(self) -> LeftOut | None:
        """What is told of turns that gave way; nothing without a compaction."""
        scene = self._scene
        if not (self._gone or scene.unread) or not self._has_middle:
            return None
        key = len(self._gone)
        if key not in self._told_left_out:
            gone = sorted(self._gone, key=lambda told: told.number)
            self._told_left_out = {key: left_out(gone, scene.policy, unread=scene.unread)}
        return self._told_left_out[key]

    def _fresh(self) -> dict[Place, Large]:
        """The results that nobody answered yet, by turn and version; of pins, only those of the current turn."""
        scene = self._scene
        pinned = scene.pinned - {self._current}
        fresh: dict[Place, Large] = {}
        for number, shown in self._live.items():
            if shown.told.card.results and number not in pinned and not scene.is_spent(number - scene.first):
                fresh |= large_results(shown.told, scene.pricing.result_price)
        return fresh

    def _can_be_cut(self, floor: int) -> int:
        return max(0, sum(large.tokens for large in self._fresh().values()) - floor)

    def _fits(self, *, floor: int) -> bool:
        """Whether the request fits, with results that nobody answered yet cut to what is left, not below ``floor`` together."""
        over = self._tokens() - self._budget
        if over <= 0:
            return True
        fresh = self._fresh()
        whole = sum(large.tokens for large in fresh.values())
        if not fresh or whole - over < min(floor, whole):
            return False
        made = cuts(fresh, whole - over)
        if sum(fresh[place].tokens - tokens for place, (_, tokens) in made.items()) < over:
            return False
        self._shorten(made)
        return True

    def _shorten(self, made: Mapping[Place, tuple[str, int]]) -> None:
        for (number, version), (text, tokens) in made.items():
            shown = self._live[number]
            self._shortened.add(number)
            self._live[number] = shown.cut(version, text, self._scene.pricing.result_price(shown.told, version) - tokens)

    def _tail(self) -> list[int]:
        """The numbers of the turns of the tail that are shown, without the current one."""
        places = self._tail_places()
        return [*self._live][places.start : places.stop]

    def _cut_tail(self, over: int) -> None:
        """Cut results of the tail that were answered already, those of the oldest turns first, until so much is saved."""
        places, first = self._scene.gives_way, self._first
        for number in (first + place for place in places[bisect_left(places, self._start - first) :]):
            if over <= 0:
                return
            if number < self._current and number in self._live and number not in self._shortened:
                before = self._live[number].tokens
                self._cut(number, over)
                over -= before - self._live[number].tokens

    def _cut(self, number: int, over: int) -> None:
        """Cut the results of a turn, one after the other, until so much is saved."""
        told = self._live[number].told
        returned = {found.version: found for found in told.turn.returns}
        for result in clearable_results(told.card, self._scene.policy.stubs):
            tokens = self._scene.pricing.result_price(told, result.version)
            made = cut_by(told, returned[result.version], result, tokens=tokens, over=over)
            if made is not None:
                self._shorten({(number, result.version): made})
                over -= tokens - made[1]
            if over <= 0:
                return

    def _shorten_tail(self, most: int) -> None:
        """Let the tail give way until it costs no more than the policy's ``tail_tokens``."""
        self._cut_tail(self._tail_tokens() - most)
        for number in self._tail():
            if self._tail_tokens() <= most:
                return
            if number not in self._scene.pinned:
                self._leave_out(number)
                self._gave_way.append(f"turn {number}: tail_tokens")

    def _tail_tokens(self) -> int:
        return sum(self._live[number].tokens for number in self._tail())

    def _rows(self, told_of: Sequence[tuple[int, int]]) -> Iterator[Row]:
        scene = self._scene
        for turn in scene.middle.kept:
            told = scene.kept[turn.number]
            yield self._row(told, self._kept_shown.get(turn.number), turn.rule, told_of)
        for told in scene.live:
            number = told.turn.number
            yield self._row(told, self._live.get(number), self._rule(number), told_of)

    def _row(self, told: Told, shown: Shown | None, rule: str, told_of: Sequence[tuple[int, int]]) -> Row:
        number, before = told.turn.number, plain_tokens(told.card, {}, self._scene.policy)
        if told.turn.forgotten is not None:
            return Row(number, "never", "forgotten", 0 if shown is None else shown.tokens, before)
        if shown is None:
            is_told = any(first <= number <= last for first, last in told_of)
            return Row(number, "compress" if is_told else "drop", "budget", 0, before)
        return Row(number, "stub" if shown.texts else "keep", rule, shown.tokens, before)

    def _rule(self, number: int) -> str:
        if number == self._current:
            return "current"
        if number == self._scene.task and number in self._scene.pinned:
            return "task"
        if number in self._scene.policy.pins:
            return "pin"
        return "tail" if number >= self._start else "not compacted yet"

    def _exceeded(self) -> BudgetExceeded:
        scene = self._scene
        self._shorten(cuts(self._fresh(), 0))
        totals = self._block_totals(None)
        task = 0 if scene.task == self._current or scene.task not in scene.pinned else self._shown_tokens(scene.task)
        named = {name: totals[name] for name in ("system", "tools")}
        named |= {"task": totals["task"] + task, "state": totals["state"], "current": totals["current"]}
        pins = sorted({*scene.policy.pins} - {scene.task, self._current})
        named |= {f"pin {number}": self._shown_tokens(number) for number in pins}
        named["notes"] = sum(totals.values()) - sum(named.values())
        return exceeded({name: size for name, size in named.items() if size}, scene)

    def _shown_tokens(self, number: int | None) -> int:
        found = {**self._kept_shown, **self._live}
        return found[number].tokens if number in found else 0


def exceeded(pins: Mapping[str, int], scene: Scene) -> BudgetExceeded:
    """What may never be left out is too large: the error that names it."""
    policy = scene.policy
    named = set(sorted(pins, key=lambda name: pins[name], reverse=True)[:_MOST_NAMED])
    sizes = ", ".join(f"{name}: {size:,}" for name, size in pins.items() if name in named)
    others = [size for name, size in pins.items() if name not in named]
    sizes += f", {len(others):,} more: {sum(others):,}" if others else ""
    less = f" less {policy.reserve_tokens:,} in reserve" if policy.reserve_tokens else ""
    if scene.budget_tokens < policy.request_tokens:
        less += f", which are {scene.budget_tokens:,} of ours for a model that counts more"
    return BudgetExceeded(
        f"what is never left out needs more than the budget of {policy.budget_tokens:,} tokens{less} ({sizes}): raise"
        " budget_tokens",
        pins=dict(pins),
        budget_tokens=policy.budget_tokens,
        reserve_tokens=policy.reserve_tokens,
    )
