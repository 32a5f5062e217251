"""The window as Markdown for people to read, in which no turn can pass for another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar, Final

from ledger.json_text import JsonText
from ledger.parts import JsonPart, ReasoningPart, ToolCallPart, Unparsed
from projections.framing import Framing
from projections.pieces import NotePiece, Pieces, TurnPiece
from projections.policy import Policy
from projections.render.identifiers import CallKey
from projections.render.media import Media
from projections.render.renderer import (
    EMPTY_RESULT,
    EMPTY_TURN,
    INTERRUPTED,
    Request,
    plain_text,
    system_texts,
)
from projections.render.taking_on import Made
from projections.sendable import is_said, sendable
from projections.transcript import Return, SystemText

_HARMLESS: Final = re.compile(r"[^\W\d_][^\r\n<\[#`\\]*")
"""One line that begins with a letter and holds no mark-up that could show as more than emphasis."""

_LONGEST_FENCE: Final = 20
_FENCES: Final = re.compile(r"(?:\A|[\r\n]) {0,3}(`{3,})")
_LONG_FENCE: Final = re.compile(r"`{20,}")
_NOT_IN_A_NAME: Final = re.compile(r"[`\x00-\x1f\x7f\u0085\u2028\u2029]")


class MarkdownRenderer:
    """A heading for each turn, its number and role in it, and one for each call and result.

    All that others said stands in fences that it cannot close, or, where it is one harmless line, in a quotation. Nothing is
    cached here and no tool is called.
    """

    provider: ClassVar[str] = ""
    framing: ClassVar[Framing] = Framing(
        request=4,
        message=12,
        part=14,
        call=10,
        result=18,
        note=18,
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
        blocks: list[str] = []
        for text in system_texts(system):
            blocks += ["## System", _quoted(text)]
        for piece in pieces:
            blocks.extend(("## Note", _quoted(sendable(piece.text))) if isinstance(piece, NotePiece) else _turn(piece))
        self.request: Request = {"text": "\n\n".join(blocks) + "\n"}


def _turn(piece: TurnPiece) -> Iterator[str]:
    turn = piece.turn
    yield f"## Turn {turn.number}, {turn.role}"
    if turn.is_blank:
        yield f"> {EMPTY_TURN}"
    for part in turn.parts:
        yield from _part(part)
    for call in turn.calls:
        yield from _result(piece, call, piece.answers.get(call.call_id))


def _part(part: Any) -> Iterator[str]:
    match part:
        case ToolCallPart(tool=tool, arguments=Unparsed(unparsed=unparsed)):
            yield f"### Call of {_name(tool)} (not JSON)"
            yield _fenced(sendable(unparsed))
        case ToolCallPart(tool=tool, arguments=arguments):
            yield f"### Call of {_name(tool)}"
            yield _fenced(str(arguments), "json")
        case ReasoningPart():
            yield "> [reasoning]"
        case JsonPart(value=value):
            yield _fenced(str(value), "json")
        case _:
            text = plain_text(part)
            if is_said(text):
                yield _quoted(text)


def _result(piece: TurnPiece, call: ToolCallPart, found: Return | None) -> Iterator[str]:
    if found is None:
        yield f"### No result of {_name(call.tool)}"
        yield f"> {INTERRUPTED}"
        return
    yield f"### Result {found.id} of {_name(call.tool)}{' (error)' if found.is_error else ''}"
    replaced = piece.replaced.get(found.version)
    shown = list(map(_quoted, [sendable(replaced)])) if replaced is not None else [*_parts(found)]
    yield from shown or [f"> {EMPTY_RESULT}"]


def _parts(found: Return) -> Iterator[str]:
    for part in found.parts:
        yield from _part(part)


def _quoted(text: str) -> str:
    return f"> {text}" if _HARMLESS.fullmatch(text) else _fenced(text)


def _fenced(text: str, kind: str = "text") -> str:
    """In a fence longer than any in the text; one of more than twenty back-ticks is shown shorter."""
    shown = text.removesuffix("\n")
    fence = "```"
    if fence in shown:
        shown = _LONG_FENCE.sub("`" * (_LONGEST_FENCE - 1), shown)
        fence = "`" * (max(map(len, _FENCES.findall(shown)), default=2) + 1)
    return f"{fence}{kind}\n{shown}\n{fence}"


def _name(tool: str) -> str:
    return f"`{sendable(_NOT_IN_A_NAME.sub(' ', tool))}`"
