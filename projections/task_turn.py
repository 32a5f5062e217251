"""Which turn states the task of a conversation. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from projections.transcript import Turn
from projections.verdicts.judging import drops_task
from projections.verdicts.rules import DEFAULT_RULES, Rule

LOOKED_FOR_TASK: Final = 64
"""The task is looked for among so many turns; where a rule drops every user turn of them, the first is the task."""

DEFAULT_LANGUAGES: Final = ("en",)


def task_turn(
    turns: Iterable[Turn], *, rules: Sequence[Rule] = DEFAULT_RULES, languages: tuple[str, ...] = DEFAULT_LANGUAGES
) -> Turn | None:
    """The first user turn that no rule drops: "hi" states no task. No more of the turns is read than it takes to know.

    Where they drop every one, the first user turn that says something. None if there is no user turn at all. A forgotten turn
    said something, as far as anyone knows: no later one becomes the task in its place.
    """
    return settled_task(turns, rules=rules, languages=languages)[0]


def settled_task(
    turns: Iterable[Turn], *, rules: Sequence[Rule] = DEFAULT_RULES, languages: tuple[str, ...] = DEFAULT_LANGUAGES
) -> tuple[Turn | None, bool]:
    """The same turn, and whether it states the task whatever comes after these turns."""
    first = spoken = None
    for turn in turns:
        if turn.role != "user":
            continue
        first = turn if first is None else first
        if turn.is_blank:
            continue
        if turn.number > LOOKED_FOR_TASK:
            return turn if spoken is None else spoken, True
        if not drops_task(turn, rules, languages):
            return turn, True
        spoken = turn if spoken is None else spoken
    return first if spoken is None else spoken, False
