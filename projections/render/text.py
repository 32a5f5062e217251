"""The window as a text for people to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ledger.erased import Forgotten
from ledger.parts import JsonPart, OpaquePart, ReasoningPart, TextPart, ToolCallPart, Unparsed
from projections.pieces import NotePiece, Pieces, TurnPiece
from projections.policy import Policy
from projections.render.identifiers import CallKey
from projections.render.media import Media
from projections.render.renderer import EMPTY_TURN, INTERRUPTED, Request, media_note, stub_of, system_texts, well_formed
from projections.transcript import Transcript


class TextRenderer:
    """One paragraph a turn, headed by its number and role."""

    def __init__(self, transcript: Transcript, policy: Policy, media: Media) -> None:
        self._system = [f"## System\n\n{well_formed(text)}" for text in system_texts(transcript.system)]

    @property
    def call_ids(self) -> dict[CallKey, str]:
        """People do not read call ids."""
        return {}

    @property
    def tool_names(self) -> dict[str, str]:
        """Tools have their own names."""
        return {}

    def messages(self, pieces: Pieces) -> list[str]:
        """A paragraph for each piece."""
        return [
            well_formed(piece.text.rstrip("\n") if isinstance(piece, NotePiece) else "\n\n".join(_turn(piece)))
            for piece in pieces
        ]

    def request(self, pieces: Pieces) -> Request:
        """``{"text": …}``."""
        return {"text": "\n\n".join([*self._system, *self.messages(pieces)]) + "\n"}


def _turn(piece: TurnPiece) -> Iterator[str]:
    turn = piece.turn
    yield f"## Turn {turn.number}, {turn.role}"
    if turn.is_blank:
        yield EMPTY_TURN
    yield from (text for text in map(part_text, turn.parts) if text)
    for call in turn.calls:
        found = turn.answer_to(call.call_id)
        if found is None:
            yield INTERRUPTED
        elif found.version in piece.stubbed:
            yield stub_of(found, call.tool)
        else:
            shown = "\n".join(part_text(part) for part in found.parts)
            yield f"{call.tool} returned ({found.id}{', error' if found.is_error else ''}):\n{shown}"


def part_text(part: Any) -> str:
    """One part as people read it."""
    match part:
        case TextPart(text=text):
            return text
        case JsonPart(value=value):
            return str(value)
        case ToolCallPart(tool=tool, arguments=Unparsed(unparsed=unparsed)):
            return f"→ {tool} (arguments are not JSON): {unparsed}"
        case ToolCallPart(tool=tool, arguments=arguments):
            return f"→ {tool} {arguments}"
        case ReasoningPart():
            return "[reasoning]"
        case OpaquePart(block=block):
            return f"[unsupported block: {block}]"
        case Forgotten():
            return str(part)
        case _:
            return media_note(part)
