"""What the user asked to have forgotten: told by fixed rules, pending until it is answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from ledger.pending import READS, Requests

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


class ForgetRequestsFold(Requests):
    """Folds user turns that ask to forget something, and the answers to them.

    A turn that was forgotten itself asks for nothing any more.
    """

    reads: ClassVar[frozenset[type[Any]]] = READS

    def pending(self) -> tuple[ForgetRequest, ...]:
        """The requests that nobody answered, oldest first."""
        return tuple(
            ForgetRequest(found.turn, found.version, _cut(found.text), found.wish.rule, found.wish.language)
            for found in self.unanswered()
        )


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
