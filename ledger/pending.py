"""Which user turns ask to have something forgotten and were not answered yet. Pure.

A request ends when its own turn is forgotten, when a forgetting names it among those that it answers, or when it is declined;
never because something else was forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ledger import events as e
from ledger.parts import JsonPart, TextPart
from ledger.record import Recorded
from ledger.wishes import Recognised, wish_in

READS: Final[frozenset[type[Any]]] = frozenset({e.TurnRecorded, e.ContentForgotten, e.ForgettingDeclined})
"""The events that have to do with requests."""


@dataclass(frozen=True, slots=True)
class Request:
    """A user turn that asks to have something forgotten: its number and version, all of its text, and the rule that says so."""

    turn: int
    version: int
    text: str
    wish: Recognised


class Requests:
    """Folds user turns, and what answers them."""

    def __init__(self) -> None:
        self._said: dict[int, tuple[int, str]] = {}

    def evolve(self, recorded: Recorded) -> None:
        """Keep what a user said until it is answered; whether it asks for anything is looked at when somebody wants to know."""
        match recorded.event:
            case e.TurnRecorded(role="user", turn=int(turn), parts=parts):
                self._said[turn] = (recorded.version, _text(parts))
            case e.ContentForgotten(erased=erased, answers=answers):
                gone = {erasure.version for erasure in erased}
                answered = {turn for turn, (version, _) in self._said.items() if version in gone}
                self._end(answered.union(answers or ()))
            case e.ForgettingDeclined(turn=int(turn)):
                self._end({turn})
            case _:
                pass

    def unanswered(self) -> tuple[Request, ...]:
        """The requests that nobody answered, oldest first."""
        found = ((turn, version, text, wish_in(text)) for turn, (version, text) in self._said.items())
        return tuple(Request(turn, version, text, wish) for turn, version, text, wish in found if wish is not None)

    def _end(self, turns: set[int]) -> None:
        for turn in turns:
            self._said.pop(turn, None)


def _text(parts: tuple[Any, ...]) -> str:
    texts = (part.text if isinstance(part, TextPart) else part.value for part in parts if isinstance(part, TextPart | JsonPart))
    return "\n".join(texts)
