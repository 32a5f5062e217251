"""What the user asked to have forgotten: told by fixed rules, pending until it was forgotten or somebody declined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from ledger.events import ContentForgotten, ForgettingDeclined, TurnRecorded
from ledger.record import Recorded
from projections.transcript import text_of
from projections.wishes import wish_in

SHOWN_CHARACTERS: Final = 280
"""How much of a turn a request quotes."""


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """A user turn that asks to forget something, and the rule that says so. ``text`` is cut to ``SHOWN_CHARACTERS``."""

    turn: int
    version: int
    text: str
    rule: str
    language: str


class ForgetRequestsFold:
    """Folds user turns that ask to forget something, and the answers to them.

    A turn that was forgotten itself asks for nothing any more.
    """

    reads: ClassVar[frozenset[type[Any]]] = frozenset({TurnRecorded, ContentForgotten, ForgettingDeclined})

    def __init__(self) -> None:
        self._said: dict[int, tuple[int, str]] = {}

    def evolve(self, recorded: Recorded) -> None:
        """Keep what a user said until it is answered; whether it asks for anything is looked at when somebody wants to know."""
        match recorded.event:
            case TurnRecorded(role="user", turn=int(turn), parts=parts):
                self._said[turn] = (recorded.version, text_of(parts))
            case ContentForgotten(answers=None):
                self._said.clear()
            case ContentForgotten(answers=tuple(turns)):
                for turn in turns:
                    self._said.pop(turn, None)
            case ForgettingDeclined(turn=int(turn)):
                self._said.pop(turn, None)
            case _:
                pass

    def pending(self) -> tuple[ForgetRequest, ...]:
        """The requests that nobody answered, oldest first."""
        found = ((turn, version, text, wish_in(text)) for turn, (version, text) in self._said.items())
        return tuple(
            ForgetRequest(turn, version, _cut(text), wish.rule, wish.language)
            for turn, version, text, wish in found
            if wish is not None
        )


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
