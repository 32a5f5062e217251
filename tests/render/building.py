"""Turns by hand, for a renderer that needs no ledger."""

from __future__ import annotations

from typing import Any

from ledger.json_text import JsonText
from ledger.parts import ReasoningPart, TextPart, ToolCallPart
from projections.pieces import TurnPiece
from projections.transcript import Return, SystemText, Turn


def said(*parts: Any) -> tuple[Any, ...]:
    """Parts; a plain text becomes one."""
    return tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)


def system(*texts: str) -> tuple[SystemText, ...]:
    """System texts."""
    return tuple(SystemText(version, said(text)) for version, text in enumerate(texts, 1))


def asking(number: int, *parts: Any) -> TurnPiece:
    """A user turn."""
    return TurnPiece(Turn(number, number * 10, "user", said(*(parts or ("Which mooring?",)))))


def answering(number: int, *parts: Any, returns: tuple[Return, ...] = (), replaced: dict[int, str] | None = None) -> TurnPiece:
    """An assistant turn."""
    return TurnPiece(Turn(number, number * 10, "assistant", said(*parts), returns), replaced or {})


def call(name: str, tool: str = "moorings", **arguments: Any) -> ToolCallPart:
    """A call of a tool."""
    return ToolCallPart(call_id=name, tool=tool, arguments=JsonText.of(arguments))


def returned(version: int, name: str, *parts: Any, is_error: bool = False) -> Return:
    """What a call returned."""
    return Return(version, name, said(*parts), is_error, orphan=False, tool=None)


def calling(number: int, *calls: ToolCallPart) -> TurnPiece:
    """A turn whose calls have returned their own ids."""
    found = [returned(number * 10 + at, made.call_id, f"of {number}: {made.call_id}") for at, made in enumerate(calls, 1)]
    return answering(number, *calls, returns=tuple(found))


def reasoning(provider: str, raw: str) -> ReasoningPart:
    """Reasoning as a provider wrote it."""
    return ReasoningPart(provider=provider, raw=JsonText.parse(raw))
