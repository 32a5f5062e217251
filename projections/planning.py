"""Which turns a window keeps: task, middle, state, the last k turns, the current turn, and never more than the budget."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from projections.errors import BudgetExceeded, NothingToSend
from projections.pieces import NotePiece, Piece, Pieces, TurnPiece
from projections.policy import Policy
from projections.render.renderer import REQUEST_TOKENS, Count, Renderer, measure
from projections.transcript import Transcript, Turn
from projections.wire import ABSENT

Verdict = Literal["keep", "stub", "drop", "never"]


@dataclass(frozen=True, slots=True)
class Row:
    """Why a turn is in the window or not: its verdict, the rule that gave it, and the tokens that it takes in the window.

    "never": it was forgotten; the window has at most its mark. ``asks_to_forget``: the user asks in it to forget something, and
    nobody has forgotten it or declined to.
    """

    turn: int
    verdict: Verdict
    rule: str
    tokens: int
    asks_to_forget: bool = field(default=False, metadata=ABSENT)


@dataclass(frozen=True, slots=True)
class Plan:
    """The chosen pieces in order, and a row for every turn."""

    pieces: Pieces
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Fixed:
    """Texts that are never left out: a task given at opening, and the state block, where they say something new."""

    task: str | None
    state: str | None


class Planner:
    """Chooses the pieces of one window. ``asking``: the turns that ask to forget something."""

    def __init__(
        self,
        transcript: Transcript,
        policy: Policy,
        *,
        fixed: Fixed,
        renderer: Renderer,
        count: Count,
        asking: frozenset[int] = frozenset(),
    ) -> None:
        task = transcript.task_turn
        if task is None:
            raise NothingToSend("no user turn is recorded at this version: record one, or ask for a later version")
        self._turns = transcript.turns
        self._spoken = [turn for turn in transcript.turns if not turn.is_blank]
        self._policy = policy
        self._asking = asking
        self._given_task = None if fixed.task is None else NotePiece(f"[the task, given at the start]\n{fixed.task}\n")
        self._state = None if fixed.state is None else NotePiece(fixed.state)
        self._renderer = renderer
        self._count = count
        self._costs: dict[object, int] = {}
        self._task = task
        self._current = transcript.turns[-1]
        self._system_tokens = self._price(())
        last = transcript.turns[:-1][-policy.tail_turns :] if policy.tail_turns else ()
        self._tail = [turn for turn in last if turn is not task]

    def plan(self) -> Plan:
        """The window's pieces; ``BudgetExceeded`` names what may not be left out, if that alone is too large."""
        kept = self._pinned()
        left = self._policy.request_tokens - self._price_of(kept)
        for turn in reversed(self._tail):
            for piece in self._stages(turn):
                kept[turn.number] = piece
                if self._cost(piece) <= left or self._price_of(kept) <= self._policy.request_tokens:
                    left -= self._cost(piece)
                    break
            else:
                del kept[turn.number]
                break
        return self._settle(kept)

    def _pinned(self) -> dict[int, TurnPiece]:
        """Task and current turn. Where they do not fit whole, the current turn's results become stubs, one after the other."""
        kept = {self._task.number: TurnPiece(self._task)}
        for piece in self._stages(self._current):
            kept[self._current.number] = piece
            if self._price_of(kept) <= self._policy.request_tokens:
                return kept
        raise self._exceeded(kept)

    def _stages(self, turn: Turn) -> Iterator[TurnPiece]:
        """A turn whole, then with one more of its results as a stub each time, the one that saves most first."""
        whole = TurnPiece(turn)
        yield whole
        saved = {version: self._cost(whole) - self._cost(TurnPiece(turn, frozenset({version}))) for version in _answers(turn)}
        worth = sorted((version for version in saved if saved[version] > 0), key=lambda version: -saved[version])
        for number in range(1, len(worth) + 1):
            yield TurnPiece(turn, frozenset(worth[:number]))

    def _settle(self, kept: dict[int, TurnPiece]) -> Plan:
        """Pieces were priced one by one; the request is priced whole, with the note of what it leaves out.

        The oldest of the tail shrink and give way until it fits. The note itself gives way to what may never be left out.
        """
        for turn in [turn for turn in self._tail if turn.number in kept]:
            if self._fits(kept):
                break
            self._shrink(turn, kept)
        pieces = tuple(self._ordered(kept, with_middle=self._fits(kept)))
        return Plan(pieces, tuple(self._rows(kept)))

    def _shrink(self, turn: Turn, kept: dict[int, TurnPiece]) -> None:
        """Show a turn with just as many more stubs as make the request fit, or leave it out."""
        for piece in self._stages(turn):
            if piece.stubbed > kept[turn.number].stubbed:
                kept[turn.number] = piece
                if self._fits(kept):
                    return
        del kept[turn.number]

    def _fits(self, kept: dict[int, TurnPiece]) -> bool:
        """Whether the request fits with a note of what it leaves out."""
        return self._price(tuple(self._ordered(kept, with_middle=True))) <= self._policy.request_tokens

    def _price_of(self, kept: dict[int, TurnPiece]) -> int:
        """What the request costs without that note."""
        return self._price(tuple(self._ordered(kept, with_middle=False)))

    def _ordered(self, kept: dict[int, TurnPiece], *, with_middle: bool) -> Iterator[Piece]:
        """A task given at opening, then the record's order. Middle and state follow the task; they precede the current turn."""
        left_out = [turn for turn in self._spoken if turn.number not in kept] if with_middle else []
        pinned_first = min(self._task.number, self._current.number - 1)
        head = [number for number in sorted(kept) if number <= pinned_first]
        if self._given_task is not None:
            yield self._given_task
        yield from (kept[number] for number in head)
        if left_out:
            yield _middle(left_out)
        if self._state is not None:
            yield self._state
        yield from (kept[number] for number in sorted(kept) if number > pinned_first)

    def _rows(self, kept: dict[int, TurnPiece]) -> Iterator[Row]:
        tail = {turn.number for turn in self._tail}
        for turn in self._turns:
            piece, asks = kept.get(turn.number), turn.number in self._asking
            if turn.forgotten is not None:
                yield Row(turn.number, "never", "forgotten", 0 if piece is None else self._cost(piece))
            elif piece is None:
                yield Row(turn.number, "drop", "budget" if turn.number in tail else "outside the tail", 0, asks)
            else:
                yield Row(turn.number, "stub" if piece.stubbed else "keep", self._rule(turn), self._cost(piece), asks)

    def _rule(self, turn: Turn) -> str:
        if turn is self._current:
            return "current"
        return "task" if turn is self._task else "tail"

    def _exceeded(self, kept: dict[int, TurnPiece]) -> BudgetExceeded:
        task = [piece for piece in (self._given_task, kept[self._task.number]) if piece is not None]
        pins = {
            "system": self._system_tokens,
            "task": sum(map(self._cost, task)),
            "current": self._cost(kept[self._current.number]),
            **({} if self._state is None else {"state": self._cost(self._state)}),
        }
        # One turn is named and priced once, although it is pinned for two reasons.
        is_one_turn = self._task is self._current and self._given_task is None
        listed = {"task and current": pins["task"], **pins} if is_one_turn else pins
        names = [name for name in listed if not is_one_turn or name not in ("task", "current")]
        sizes = ", ".join(f"{name}: {listed[name]:,}" for name in names)
        budget, reserve = self._policy.budget_tokens, self._policy.reserve_tokens
        less = f" less {reserve:,} in reserve" if reserve else ""
        return BudgetExceeded(
            f"what is never left out needs more than the budget of {budget:,} tokens{less} ({sizes}): raise budget_tokens",
            pins=pins,
            budget_tokens=budget,
            reserve_tokens=reserve,
        )

    def _cost(self, piece: Piece) -> int:
        key = piece.text if isinstance(piece, NotePiece) else (piece.turn.number, piece.stubbed)
        if key not in self._costs:
            messages = self._renderer.messages((piece,))
            self._costs[key] = measure({"messages": messages}, self._count) - REQUEST_TOKENS
        return self._costs[key]

    def _price(self, pieces: Pieces) -> int:
        return measure(self._renderer.request(pieces), self._count)


def _answers(turn: Turn) -> list[int]:
    return [found.version for found in turn.returns if not found.orphan]


def _middle(left_out: list[Turn]) -> NotePiece:
    """A plain receipt of what is not shown. The record has all of it, save what was forgotten."""
    living = [turn for turn in left_out if turn.forgotten is None]
    forgotten = [turn for turn in left_out if turn.forgotten is not None]
    if not living:
        return NotePiece(f"[{_which(forgotten, 'was', 'were')} forgotten]\n")
    besides = f"; {len(forgotten):,} more {'was' if len(forgotten) == 1 else 'were'} forgotten" if forgotten else ""
    return NotePiece(f"[{_which(living, 'is', 'are')} not shown here; the record has them all{besides}]\n")


def _which(turns: list[Turn], one: str, several: str) -> str:
    first, last, number = turns[0].number, turns[-1].number, len(turns)
    return f"turn {first} {one}" if number == 1 else f"{number:,} turns between turn {first} and turn {last} {several}"
