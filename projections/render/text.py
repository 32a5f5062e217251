"""The window as a text for people to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from ledger.json_text import JsonText
from ledger.parts import ReasoningPart, ToolCallPart, Unparsed
from projections.framing import Framing
from projections.pieces import NotePiece, Pieces, TurnPiece
from projections.policy import Policy
from projections.render.identifiers import CallKey
from projections.render.media import Media
from projections.render.renderer import EMPTY_TURN, INTERRUPTED, Request, plain_text, system_texts
from projections.render.taking_on import Made
from projections.sendable import sendable
from projections.transcript import SystemText


class TextRenderer:
    """One paragraph a turn, headed by its number and role. Nothing is cached here and no tool is called."""

    provider: ClassVar[str] = ""
    framing: ClassVar[Framing] = Framing(
        request=4,
        message=11,
        part=5,
        call=8,
        result=12,
        note=6,
        shows_media=0,
        shows_result_media=0,
        shows_reasoning=0,
        shows_ids=0,
    )

    def __init__(
        self,
        system: tuple[SystemText, ...],
        pieces: Pieces,
        policy: Policy,
        media: Media,
        *,
        breakpoints: tuple[int, ...] = (),
        tools: JsonText | None = None,
        before: Made | None = None,
    ) -> None:
        self.made = None
        self.call_ids: dict[CallKey, str] = {}
        self.tool_names: dict[str, str] = {}
        said = [f"## System\n\n{text}" for text in system_texts(system)]
        self.request: Request = {"text": "\n\n".join([*said, *map(_paragraph, pieces)]) + "\n"}


def _paragraph(piece: NotePiece | TurnPiece) -> str:
    return sendable(piece.text.rstrip("\n")) if isinstance(piece, NotePiece) else "\n\n".join(_turn(piece))


def _turn(piece: TurnPiece) -> Iterator[str]:
    turn = piece.turn
    yield f"## Turn {turn.number}, {turn.role}"
    if turn.is_blank:
        yield EMPTY_TURN
    yield from (text for text in map(part_text, turn.parts) if text)
    for call in turn.calls:
        found = piece.answers.get(call.call_id)
        if found is None:
            yield INTERRUPTED
        elif found.version in piece.replaced:
            yield sendable(piece.replaced[found.version])
        else:
            shown = "\n".join(part_text(part) for part in found.parts)
            yield f"{call.tool} returned ({found.id}{', error' if found.is_error else ''}):\n{shown}"


def part_text(part: Any) -> str:
    """One part as people read it."""
    match part:
        case ToolCallPart(tool=tool, arguments=Unparsed(unparsed=unparsed)):
            return sendable(f"→ {tool} (arguments are not JSON): {unparsed}")
        case ToolCallPart(tool=tool, arguments=arguments):
            return sendable(f"→ {tool} {arguments}")
        case ReasoningPart():
            return "[reasoning]"
        case _:
            return plain_text(part)
