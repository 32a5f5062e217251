"""The request of OpenAI's Responses."""

from __future__ import annotations

import json
from typing import Any, ClassVar, Final

from ledger.json_text import JsonText
from ledger.parts import DocumentPart, ImagePart, OpaquePart, ReasoningPart, TextPart, ToolCallPart
from projections.framing import Framing
from projections.pieces import NotePiece, Pieces, TurnPiece
from projections.policy import Policy
from projections.render.identifiers import Limits
from projections.render.media import Address, Inline, Media, shown
from projections.render.renderer import (
    EMPTY_RESULT,
    EMPTY_TURN,
    INTERRUPTED,
    Encoded,
    Reasoning,
    Request,
    arguments_text,
    plain_text,
    result_text,
    system_texts,
)
from projections.render.taking_on import Given, Made
from projections.sendable import is_said, sendable
from projections.transcript import Return, SystemText, Turn

LIMITS: Final = Limits(call_id=64, tool_name=64)

OWN_CONTENT: Final = frozenset({"input_image", "input_file"})
"""Blocks of this provider that a user's message may hold beside text."""

OWN_ITEMS: Final = frozenset(
    {
        "code_interpreter_call",
        "compaction",
        "computer_call",
        "file_search_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "web_search_call",
    }
)
"""Items of this provider that stand beside an assistant's messages."""

Item = dict[str, Any] | JsonText
Content = str | dict[str, Any] | JsonText


class OpenAIResponsesRenderer:
    """System text as ``instructions``; then items in the record's order, outputs right after the turn of their calls.

    An encrypted reasoning item of this provider passes as it was recorded, where something of its turn follows it: alone it is
    refused.
    Blocks of another provider are named in a marked text. This provider caches by itself, so breakpoints change nothing.
    """

    provider: ClassVar[str] = "openai"
    framing: ClassVar[Framing] = Framing(request=3, message=4, part=5, call=1, result=7, note=5, repeats_tools=0)

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
        self.made = made = Made(Given(type(self), system, pieces, policy, media), LIMITS, before)
        self.call_ids = made.names.calls
        self.tool_names = made.names.tools
        self._policy = policy
        self._media = media
        self._input: list[Item] = made.messages
        for piece in made.rest():
            made.begin()
            if isinstance(piece, NotePiece):
                self._input.append({"role": "user", "content": sendable(piece.text)})
            elif piece.turn.role == "user":
                self._input.append({"role": "user", "content": _content(self._said(piece.turn)) or EMPTY_TURN})
            else:
                self._assistant(piece)
        said = system_texts(system)
        self.request: Request = {
            **({"instructions": "\n\n".join(said)} if said else {}),
            "input": self._input,
            **({} if tools is None else {"tools": tools}),
        }

    def _said(self, turn: Turn) -> list[Content]:
        found = (self._part(part) for part in turn.parts)
        return [part for part in found if not isinstance(part, str) or is_said(part)]

    def _part(self, part: Any) -> Content:
        match part:
            case TextPart(text=text):
                return sendable(text)
            case ImagePart() | DocumentPart():
                return self._media_block(part)
            case OpaquePart(provider="openai", raw=raw, block=block) if block in OWN_CONTENT:
                return raw
            case _:
                return plain_text(part)

    def _assistant(self, piece: TurnPiece) -> None:
        turn = piece.turn
        items: list[Item] = []
        texts: list[str] = []
        for part in turn.parts:
            item = self._item(turn, part)
            if item is None:
                text = plain_text(part)
                texts += [text] if is_said(text) else []
                continue
            _flush(texts, items)
            items.append(item)
        _flush(texts, items)
        while items and isinstance(items[-1], Reasoning):
            items.pop()
        self._input += items
        self._input += [self._return(piece, call) for call in turn.calls]

    def _item(self, turn: Turn, part: Any) -> Item | None:
        match part:
            case ToolCallPart():
                return self._call(turn, part)
            case ReasoningPart(provider="openai", raw=raw) if _is_reasoning(raw):
                return Reasoning.stored(raw)
            case OpaquePart(provider="openai", raw=raw, block=block) if block in OWN_ITEMS:
                return raw
            case _:
                return None

    def _call(self, turn: Turn, call: ToolCallPart) -> Item:
        return {
            "type": "function_call",
            "call_id": self.call_ids[turn.number, call.call_id],
            "name": self.tool_names[call.tool],
            "arguments": arguments_text(call.arguments),
        }

    def _return(self, piece: TurnPiece, call: ToolCallPart) -> Item:
        found = piece.answers.get(call.call_id)
        return {
            "type": "function_call_output",
            "call_id": self.call_ids[piece.turn.number, call.call_id],
            "output": INTERRUPTED if found is None else self._output(piece, found),
        }

    def _output(self, piece: TurnPiece, found: Return) -> str | list[Content]:
        if found.version in piece.replaced or not any(isinstance(part, ImagePart | DocumentPart) for part in found.parts):
            return result_text(piece, found)
        parts = [self._part(part) for part in found.parts]
        return _content([part for part in parts if not isinstance(part, str) or is_said(part)], "\n") or EMPTY_RESULT

    def _media_block(self, part: ImagePart | DocumentPart) -> Content:
        """A picture as such, a text document as text, a PDF as a file."""
        match shown(part, self._media, self._policy):
            case Address(url=url):
                return _picture(url) if isinstance(part, ImagePart) else {"type": "input_file", "file_url": url}
            case Inline(media_type=kind, data=data):
                encoded = Encoded(f"data:{kind};base64,{data}", data.tokens)
                return _picture(encoded) if isinstance(part, ImagePart) else _file(part, encoded)
            case found:
                return found.text


def _is_reasoning(raw: JsonText) -> bool:
    """Whether it is an item of this form that stands for itself.

    Other interfaces of the provider have reasoning of another shape. An item without ``encrypted_content`` only points to what
    the provider may have kept, by ids that the calls behind it would have to repeat.
    """
    if not raw.startswith("{"):
        return False
    item = json.loads(raw, parse_int=str)
    return item.get("type") == "reasoning" and "id" in item and "summary" in item and bool(item.get("encrypted_content"))


def _flush(texts: list[str], items: list[Item]) -> None:
    """Texts that stand side by side are one message."""
    if texts:
        items.append({"role": "assistant", "content": "\n\n".join(texts)})
        texts.clear()


def _content(parts: list[Content], between: str = "\n\n") -> str | list[Content]:
    """Texts alone are one string."""
    if all(type(part) is str for part in parts):
        return between.join(str(part) for part in parts)
    return [_input_text(part) if isinstance(part, str) and not isinstance(part, JsonText) else part for part in parts]


def _input_text(text: str) -> dict[str, Any]:
    return {"type": "input_text", "text": text}


def _picture(url: Encoded) -> dict[str, Any]:
    return {"type": "input_image", "image_url": url, "detail": "auto"}


def _file(part: DocumentPart, data: Encoded) -> dict[str, Any]:
    return {"type": "input_file", "filename": sendable(part.name or "document.pdf"), "file_data": data}
