"""What stands in the place of forgotten content: when it was forgotten, in which job and why, and what the place was for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from ledger.events import Role

FORGOTTEN_TEXT: Final = "[forgotten]"
"""How forgotten content reads where a text must stand."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Content that was erased: by which job, for what reason, and when (RFC 3339, UTC).

    ``job`` is "retention" for content that is past its retention and not erased yet; ``at`` is then when its time was over.
    """

    job: str
    reason: str
    at: str
    type: Literal["forgotten"] = "forgotten"

    def __str__(self) -> str:
        return FORGOTTEN_TEXT


@dataclass(frozen=True, slots=True)
class Erased:
    """An event whose content was forgotten: its type and turn, and what ``events.Erasure`` keeps of it."""

    type: str
    turn: int | None
    forgotten: Forgotten
    role: Role | None = None
    answers: int | None = None
    ends: int | None = None
    named: str | None = None
