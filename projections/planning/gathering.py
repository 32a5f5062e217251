"""What a window is chosen from, gathered out of the turns of a ledger: a few of them, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from ledger.assembling import assembler
from projections.cards import Card
from projections.compacting.middle import KeptTurn, Middle, Stub
from projections.planning.calibration import Budgets
from projections.planning.pricing import Form
from projections.planning.scene import Fixed, Scene
from projections.planning.tailing import compacted_segments, plain_tokens, room_for_turns, settled_tokens, tail_start
from projections.planning.taken_on import Recall, Sums
from projections.policy import Policy
from projections.state_block import Count
from projections.task_turn import task_turn
from projections.told import Told, Turns
from projections.transcript import Turn

READ_BUDGETS: Final = 2
READ_TURNS: Final = 64
"""So many turns that are not compacted are read at least, and as many as so many budgets hold: what gives way is told of."""

_CHUNK: Final = 16
_scene: Final = assembler(Scene)


class Middles(Protocol):
    """The middles of a ledger, and what was kept with them."""

    def __call__(self, segments: int) -> Middle:
        """The middle once so many segments are compacted."""
        ...

    def stubs(self, turn: int) -> Sequence[Stub] | None:
        """The stubs of a turn as they are kept with its segment; None where none were made for it."""
        ...


def task_number(turns: Turns, policy: Policy, *, upto: int | None = None) -> int | None:
    """The number of the turn that states the task, by the rules of a policy, among those ``upto`` a number; or None."""
    found = task_turn(_beginning(turns, turns.last if upto is None else upto), rules=policy.rules, languages=policy.languages)
    return None if found is None else found.number


def _beginning(turns: Turns, upto: int) -> Iterator[Turn]:
    for start in range(1, upto + 1, _CHUNK):
        yield from (told.turn for told in turns.between(start, min(upto, start + _CHUNK - 1)))


def scene_of(
    turns: Turns,
    policy: Policy,
    form: Form,
    *,
    count: Count,
    budgets: Budgets,
    middles: Middles,
    fixed: Fixed,
    evidence: Callable[[int], tuple[str, ...]],
    recall: Recall,
    task: int,
    pressed_before: Callable[[Scene], int],
) -> Scene:
    """The scene of a window. ``evidence`` names evidence and contradictions of before a version; ``task`` is the number of the
    turn that states it; ``pressed_before`` tells how hard the budget pressed before what was recorded late of compacted turns.
    """
    start, budget_tokens = tail_start(turns, policy), budgets.at(turns.last)
    settled: Sums[Card] = recall(("settled", policy.settling), Sums)
    middle = middles(compacted_segments(turns, policy, start, settled))
    first = start if policy.compaction is None else middle.through + 1
    live = _live(turns, policy, first, start=start, tokens=budget_tokens * READ_BUDGETS)
    wanted = [*policy.pins, *([task] if policy.pins_task else [])]
    numbers = middle.numbers
    pins = [number for number in wanted if number < live[0].turn.number and number not in numbers]
    kept = turns.at(sorted((*numbers, *pins)) if pins else numbers)
    middle = _with_pins(middle, kept, policy, recall)
    named = evidence(live[0].turn.version) if middle.through else ()
    unread = tuple(number for number in range(first, live[0].turn.number) if number not in kept)
    return _scene(
        policy,
        form,
        count,
        budget_tokens,
        budgets,
        middle,
        live,
        kept,
        task,
        fixed,
        recall,
        named,
        unread,
        room_for_turns(turns, policy),
        kept_stubs=middles.stubs,
        pressed_before=pressed_before,
    )


def _live(turns: Turns, policy: Policy, first: int, *, start: int, tokens: int) -> Sequence[Told]:
    """The turns from ``first`` on; of many that cost more than so many tokens, the latest, from where a segment begins.

    Where segments are so long that none begins in time, the tail, which begins with ``start``.
    """
    if turns.last - first < READ_TURNS:
        return turns.between(first, turns.last)
    found: list[Told] = []
    upto, room = turns.last, tokens
    while upto >= first and (room >= 0 or len(found) < READ_TURNS):
        for told in reversed(turns.between(max(first, upto - READ_TURNS + 1), upto)):
            room -= settled_tokens(told.card, policy)
            if room < 0 and len(found) >= READ_TURNS:
                break
            found.append(told)
        upto -= READ_TURNS
    length = 1 if policy.compaction is None else policy.compaction.segment_turns
    last = turns.last if length <= _CHUNK else start
    while len(found) > 1 and first < found[-1].turn.number < last and (found[-1].turn.number - 1) % length:
        found.pop()
    return found[::-1]


def _with_pins(middle: Middle, kept: Mapping[int, Told], policy: Policy, recall: Recall) -> Middle:
    """The middle with those of the turns that are ``kept`` whole that do not stand in it: they are pinned."""
    if len(kept) == len(middle.kept):
        return middle
    known = {*middle.numbers}
    pins = tuple(
        (number, "pin" if number in policy.pins else "task", plain_tokens(told.card, {}, policy))
        for number, told in kept.items()
        if number not in known
    )
    return recall(("with pins", middle.key, pins), lambda: _pinned(middle, pins))


def _pinned(middle: Middle, pins: Sequence[tuple[int, str, int]]) -> Middle:
    made = [KeptTurn(number, number, number, rule, tokens, pinned=True) for number, rule, tokens in pins]
    return replace(middle, kept=tuple(sorted((*middle.kept, *made), key=lambda turn: turn.number)))
