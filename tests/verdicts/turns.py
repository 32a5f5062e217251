"""Turns for tests, as short to write as they are said."""

from __future__ import annotations

from ledger.json_text import JsonText
from ledger.parts import Part, TextPart, ToolCallPart
from projections.transcript import Return, Turn
from projections.verdicts.verdict import Surroundings


def user(text: str, *, number: int = 1) -> Turn:
    """A user's turn."""
    return Turn(number, number, "user", (TextPart(text=text),))


def assistant(text: str, *, number: int = 1) -> Turn:
    """An assistant's turn."""
    return Turn(number, number, "assistant", (TextPart(text=text),))


def calling(tool: str, arguments: object, returned: str, *, text: str = "", fails: bool = False, number: int = 1) -> Turn:
    """An assistant's turn with one call, and what it returned."""
    said: tuple[Part, ...] = (TextPart(text=text),) if text else ()
    call = ToolCallPart(call_id="c1", tool=tool, arguments=JsonText.of(arguments))
    answer = Return(number + 1, "c1", (TextPart(text=returned),), is_error=fails, orphan=False, tool=tool)
    return Turn(number, number, "assistant", (*said, call), (answer,))


def among(turn: Turn, *, before: tuple[Turn, ...] = (), after: tuple[Turn, ...] = ()) -> Surroundings:
    """A turn among neighbours."""
    return Surroundings(before, turn, after)
