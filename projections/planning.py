"""Which turns a window keeps, and never more than the budget: what gives way, in which order.

First spent results, then compressed text, then turns that left the tail last, the oldest first, then the oldest turns of the
tail by whole call units, then turns that are kept only because a rule says so. Never system, task, pins, state and the current
turn. Results that no assistant turn has answered yet are never stubs: where they are too large for what is left, their
beginning and end stand in the window.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from projections.errors import BudgetExceeded
from projections.fitting import cut_to, shares
from projections.framing import request_price
from projections.left_out import left_out_text
from projections.middle_text import kept_note, shown_lines
from projections.pieces import NotePiece, Piece, Pieces, TurnPiece
from projections.pressing import FRESH_PERCENT, LEVELS, pressure, tail_begins
from projections.receipt import Row
from projections.scene import Scene
from projections.tailing import plain_tokens
from projections.told import Told
from projections.wire import to_json


@dataclass(frozen=True, slots=True)
class Plan:
    """The chosen pieces in order, what they cost, and why; ``breakpoints`` are the places after which a stable block ends."""

    pieces: Pieces
    tokens: int
    rows: tuple[Row, ...]
    blocks: Mapping[str, int]
    breakpoints: tuple[int, ...]
    effective_tail: int
    gave_way: tuple[str, ...]
    told_of: tuple[tuple[int, int], ...]
    summaries: tuple[str, ...]

    def to_json(self) -> bytes:
        """Which turns stand in the window, and which are told of, by ranges of their numbers; and what each block costs."""
        shown = {verdict: [row.turn for row in self.rows if row.verdict == verdict] for verdict in ("keep", "stub", "compress")}
        return to_json(
            {
                **{verdict: ranges(turns) for verdict, turns in shown.items()},
                "told": [list(both) for both in self.told_of],
                "blocks": dict(self.blocks),
            }
        )


@dataclass(slots=True)
class _Shown:
    """A turn as it stands in the window: ``texts`` in the place of results, ``tokens`` in the form."""

    told: Told
    tokens: int
    texts: dict[int, str]


class Planner:
    """Chooses the pieces of one window."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._level = pressure(scene)
        self._budget = scene.budget_tokens
        framing = scene.form.framing
        self._blocks = {
            "system": scene.fixed.system_tokens + request_price(framing, 0),
            "tools": scene.fixed.tools_tokens,
            "task": 0 if scene.fixed.task is None else scene.note(scene.fixed.task),
            "state": 0 if scene.fixed.state is None else scene.note(scene.fixed.state),
        }
        self._kept = {turn.number: turn for turn in scene.middle.kept}
        self._kept_shown = {
            turn.number: _Shown(
                scene.kept[turn.number], scene.kept_price(turn), {stub.version: stub.text for stub in turn.stubs}
            )
            for turn in scene.middle.kept
        }
        self._start = tail_begins(scene, scene.current.turn.number)
        self._live = {told.turn.number: self._as_live(place) for place, told in enumerate(scene.live)}
        self._gone: list[int] = []
        self._has_middle = True
        self._gave_way: list[str] = []

    def plan(self) -> Plan:
        """The window's pieces; ``BudgetExceeded`` names what may not be left out, if that alone is too large."""
        if self._scene.policy.tail_tokens is not None:
            self._shorten_tail(self._scene.policy.tail_tokens)
        self._make_room()
        pieces, breakpoints = self._pieces()
        middle = self._middle()
        lines = shown_lines(self._scene.middle, self._scene.policy, LEVELS[self._level]) if middle else ()
        summaries = tuple(line.summary for line in lines if line.summary is not None)
        return Plan(
            pieces,
            self._tokens(),
            tuple(self._rows()),
            self._block_totals(),
            breakpoints,
            sum(1 for number in self._live if self._start <= number < self._current),
            tuple(self._gave_way),
            tuple((line.first, line.last) for line in lines),
            summaries,
        )

    @property
    def _current(self) -> int:
        return self._scene.current.turn.number

    def _as_live(self, place: int) -> _Shown:
        """A live turn as it stands before anything gives way: with stubs where they were made or are pressed for."""
        scene = self._scene
        told = scene.live[place]
        number = told.turn.number
        moment = scene.cleared.get(number)
        is_pressed = self._level > 0 and number < self._start
        if (moment is None and not is_pressed) or not self._can_be_stubbed(place):
            return _Shown(told, scene.whole[place], {})
        return self._stubbed(place, self._current if moment is None else moment)

    def _can_be_stubbed(self, place: int) -> bool:
        scene = self._scene
        number = scene.live[place].turn.number
        return scene.saved[place] > 0 and scene.is_spent(place) and number not in scene.pinned

    def _stubbed(self, place: int, moment: int) -> _Shown:
        scene = self._scene
        told, stubs = scene.live[place], scene.stubs(place, moment=moment)
        tokens = scene.price(told, {stub.version: stub.tokens for stub in stubs})
        return _Shown(told, tokens, {stub.version: stub.text for stub in stubs})

    def _make_room(self) -> None:
        """Let things give way until the request fits, with the current turn's own words whole."""
        self._stub_tail(self._over())
        if self._over() <= 0 or self._cut(floor=self._budget * FRESH_PERCENT // 100):
            return
        for step in self._steps():
            self._gave_way.append(step)
            if self._over() <= 0 or self._cut(floor=self._budget * FRESH_PERCENT // 100):
                return
        if not self._cut(floor=0):
            raise self._exceeded()

    def _steps(self) -> Iterator[str]:
        """What gives way, first things first."""
        while self._level < len(LEVELS) - 1:
            self._level += 1
            self._live |= {number: self._as_live(self._scene.places[number]) for number in self._live if number < self._start}
            yield "spent results" if self._level == 1 else f"compressed text: {LEVELS[self._level]}"
        for number in list(self._live):
            if number not in self._scene.pinned:
                self._gone.append(number)
                del self._live[number]
                yield f"turn {number}"
        for number in list(self._kept):
            if number not in self._scene.pinned:
                del self._kept[number], self._kept_shown[number]
                yield f"turn {number}, kept as {self._rule_of_kept(number)}"
        self._has_middle = False
        yield "the note of what is compacted"

    def _rule_of_kept(self, number: int) -> str:
        return next(turn.rule for turn in self._scene.middle.kept if turn.number == number)

    def _over(self) -> int:
        return self._tokens() - self._budget

    def _tokens(self) -> int:
        return sum(self._block_totals().values())

    def _block_totals(self) -> dict[str, int]:
        scene = self._scene
        groups = groupby(self._kept.values(), key=lambda turn: turn.first)
        notes = sum(scene.note(kept_note(tuple(turns))) for _, turns in groups)
        left = self._left_out_note()
        middle = scene.told_middle(LEVELS[self._level])[1] if self._has_middle else 0
        live = [shown.tokens for number, shown in self._live.items() if number < self._start]
        tail = [shown.tokens for number, shown in self._live.items() if self._start <= number < self._current]
        return self._blocks | {
            "kept": notes + sum(shown.tokens for shown in self._kept_shown.values()),
            "middle": middle + (0 if left is None else scene.note(left)),
            "live": sum(live),
            "tail": sum(tail),
            "current": self._live[self._current].tokens,
        }

    def _middle(self) -> str | None:
        return self._scene.told_middle(LEVELS[self._level])[0] if self._has_middle else None

    def _left_out_note(self) -> str | None:
        """What is told of turns that gave way; nothing without a compaction."""
        if not self._gone or not self._has_middle:
            return None
        live = self._scene.live
        turns = [live[self._scene.places[number]].turn for number in self._gone]
        return left_out_text(turns, self._scene.policy, self._scene.count)

    def _cut(self, *, floor: int) -> bool:
        """Make results that nobody answered yet as short as what is left; whether the request fits then.

        They are not cut to less than ``floor`` tokens together.
        """
        scene = self._scene
        fresh = {
            (number, result.version): result.contents.tokens
            for number, shown in self._live.items()
            if not scene.is_spent(scene.places[number])
            for result in shown.told.card.results
            if result.version not in shown.texts
        }
        room = sum(fresh.values()) - self._over()
        if not fresh or room < min(floor, sum(fresh.values())):
            return False
        for (number, version), most in shares(fresh, room).items():
            shown = self._live[number]
            text, tokens = cut_to(shown.told, version, most, scene.count)
            if text is not None:
                shown.texts[version] = text
                shown.tokens += tokens - self._result_price(shown.told, version)
        return self._over() <= 0

    def _result_price(self, told: Told, version: int) -> int:
        """What the contents of a result cost in the form."""
        return self._scene.price(told, {}) - self._scene.price(told, {version: 0})

    def _tail(self) -> list[int]:
        """The numbers of the turns of the tail that are shown, without the current one."""
        return [number for number in self._live if self._start <= number < self._current]

    def _stub_tail(self, over: int) -> None:
        """Show spent results of the tail as stubs, those of the oldest turns first, until so much is saved."""
        for number in self._tail():
            if over <= 0:
                return
            place = self._scene.places[number]
            if self._can_be_stubbed(place) and not self._live[number].texts:
                shown = self._stubbed(place, self._current)
                over -= self._live[number].tokens - shown.tokens
                self._live[number] = shown

    def _shorten_tail(self, most: int) -> None:
        """Let the tail give way until it costs no more than the policy's ``tail_tokens``."""
        self._stub_tail(self._tail_tokens() - most)
        for number in self._tail():
            if self._tail_tokens() <= most:
                return
            if number not in self._scene.pinned:
                self._gone.append(number)
                del self._live[number]
                self._gave_way.append(f"turn {number}: tail_tokens")

    def _tail_tokens(self) -> int:
        return sum(self._live[number].tokens for number in self._tail())

    def _pieces(self) -> tuple[Pieces, tuple[int, ...]]:
        """The pieces in their order, and where blocks end."""
        scene = self._scene
        pieces: list[Piece] = []
        ends: list[int] = []

        def end() -> None:
            if pieces:
                ends.append(len(pieces) - 1)

        if scene.fixed.state is not None and scene.policy.state_place == "after_system":
            pieces.append(NotePiece(scene.fixed.state))
        if scene.fixed.task is not None:
            pieces.append(NotePiece(scene.fixed.task))
        pieces += self._kept_pieces()
        pieces += [NotePiece(text) for text in (self._middle(), self._left_out_note()) if text is not None]
        end()
        pieces += [TurnPiece(shown.told.turn, shown.texts) for number, shown in self._live.items() if number < self._start]
        end()
        if scene.fixed.state is not None and scene.policy.state_place == "before_tail":
            pieces.append(NotePiece(scene.fixed.state))
        pieces += [TurnPiece(shown.told.turn, shown.texts) for number, shown in self._live.items() if number >= self._start]
        return tuple(pieces), tuple(dict.fromkeys(ends))

    def _kept_pieces(self) -> Iterator[Piece]:
        """The task first, then the others in order, those of a segment behind a note that says which they are."""
        task = self._scene.task
        if task in self._kept_shown and task in self._scene.pinned:
            yield TurnPiece(self._kept_shown[task].told.turn)
        others = (turn for turn in self._kept.values() if turn.number != task or task not in self._scene.pinned)
        for _, group in groupby(others, key=lambda turn: turn.first):
            turns = tuple(group)
            yield NotePiece(kept_note(turns))
            for turn in turns:
                shown = self._kept_shown[turn.number]
                yield TurnPiece(shown.told.turn, shown.texts)

    def _rows(self) -> Iterator[Row]:
        scene = self._scene
        for turn in scene.middle.kept:
            before = plain_tokens(scene.kept[turn.number].card, {}, scene.policy)
            if turn.number in self._kept_shown:
                shown = self._kept_shown[turn.number]
                yield Row(turn.number, "stub" if shown.texts else "keep", turn.rule, shown.tokens, before)
            else:
                yield Row(turn.number, "drop", "budget", 0, before)
        for place, told in enumerate(scene.live):
            number = told.turn.number
            before = scene.whole[place]
            if told.turn.forgotten is not None:
                yield Row(number, "never", "forgotten", self._live[number].tokens if number in self._live else 0, before)
            elif number not in self._live:
                is_told = self._has_middle and scene.policy.compaction is not None
                yield Row(number, "compress" if is_told else "drop", "budget", 0, before)
            else:
                shown = self._live[number]
                yield Row(number, "stub" if shown.texts else "keep", self._rule(number), shown.tokens, before)

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
        totals = self._block_totals()
        task = [shown.tokens for number, shown in self._pinned_shown() if number == scene.task]
        others = [shown.tokens for number, shown in self._pinned_shown() if number not in (scene.task, self._current)]
        pins = {
            "system": totals["system"],
            "tools": totals["tools"],
            "task": totals["task"] + (sum(task) if scene.task != self._current else 0),
            "pins": sum(others),
            "state": totals["state"],
            "current": totals["current"],
        }
        return exceeded({name: size for name, size in pins.items() if size}, scene)

    def _pinned_shown(self) -> Iterator[tuple[int, _Shown]]:
        shown = {**self._kept_shown, **self._live}
        return ((number, shown[number]) for number in sorted(self._scene.pinned) if number in shown)


def exceeded(pins: Mapping[str, int], scene: Scene) -> BudgetExceeded:
    """What may never be left out is too large: the error that names it."""
    policy = scene.policy
    sizes = ", ".join(f"{name}: {size:,}" for name, size in pins.items())
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


def ranges(numbers: Iterable[int]) -> list[list[int]]:
    """Numbers as ranges, both ends included, in order."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found
