"""An annotated conversation: its turns, which state holds after each user turn, and which changes others found in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ledger.events import Role

Spellings = tuple[str, ...]
"""What a slot holds: one value, in one or several spellings; empty where it holds none."""

Kind = Literal["set", "set again", "superseded", "retracted"]
"""What happens to a slot. It is ``set again`` when it gets another value than the one that was retracted before."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the oracle: what a slot held before a user turn, and what it holds since."""

    turn: int
    slot: str
    old: Spellings
    new: Spellings


@dataclass(frozen=True, slots=True)
class Conversation:
    """``states`` holds the whole annotation by the number of the user turn after which it holds; ``listed`` says which kinds of
    changes the oracle lists.
    """

    name: str
    turns: tuple[tuple[Role, str], ...]
    states: Mapping[int, Mapping[str, Spellings]]
    changes: tuple[Change, ...]
    listed: frozenset[Kind]

    def state_at(self, turn: int) -> Mapping[str, Spellings]:
        """The annotation that holds after a turn of either side."""
        return self.states[max(number for number in self.states if number <= turn)] if turn >= min(self.states) else {}


@dataclass(slots=True)
class Run:
    """A value that a slot holds without a break: from one user turn until another, or still."""

    first: int
    spellings: Spellings
    end: int | None = field(default=None)


def field_of(slot: str) -> str:
    """The field that a slot is recorded as; said here once more, so that a fault in the ledger's own rule is seen."""
    return slot.casefold().replace("-", "_").replace(" ", "_")


def runs_of(conversation: Conversation) -> dict[str, list[Run]]:
    """What each slot held, and for how long, read from the annotation alone. A run lasts while a spelling is shared by all."""
    runs: dict[str, list[Run]] = {}
    for turn, state in sorted(conversation.states.items()):
        for slot in [*runs, *(slot for slot in state if slot not in runs)]:
            _continue(runs.setdefault(slot, []), turn, state.get(slot, ()))
    return runs


def _continue(runs: list[Run], turn: int, now: Spellings) -> None:
    last = runs[-1] if runs and runs[-1].end is None else None
    if last is not None:
        shared = tuple(spelling for spelling in last.spellings if spelling in now)
        if shared:
            last.spellings = shared
            return
        last.end = turn
    if now:
        runs.append(Run(turn, now))
