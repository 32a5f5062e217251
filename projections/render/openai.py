"""The request of OpenAI's Chat Completions, also spoken by many others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from ledger.events import Role
from ledger.json_text import JsonText
from ledger.parts import DocumentPart, ImagePart, OpaquePart, ReasoningPart, TextPart, ToolCallPart
from projections.framing import Framing
from projections.pieces import NotePiece, Pieces, TurnPiece
from projections.policy import Policy
from projections.render.identifiers import Limits
from projections.render.media import Address, Inline, Media, shown
from projections.render.renderer import (
    EMPTY_TURN,
    INTERRUPTED,
    Encoded,
    Message,
    Request,
    arguments_text,
    plain_text,
    result_text,
    system_texts,
)
from projections.render.taking_on import Given, Made
from projections.sendable import is_said, sendable
from projections.transcript import SystemText, Turn

LIMITS: Final = Limits(call_id=40, tool_name=64)

OWN_BLOCKS: Final[dict[Role, tuple[str, ...]]] = {
    "user": ("image_url", "file", "input_audio"),
    "assistant": ("refusal",),
    "system": (),
}
"""Blocks of this provider that a message of a role may hold, if they have the member of their name; others are named."""

Content = str | Message | JsonText


class OpenAIRenderer:
    """System text first, as system messages; every call followed at once by its results; neighbours of one role are merged.

    Reasoning has no place in this form and is left out; a block of another provider is named in a marked text. This provider
    caches by itself, so breakpoints change nothing.
    """

    provider: ClassVar[str] = "openai"
    framing: ClassVar[Framing] = Framing(
        request=3, message=5, part=2, call=0, result=5, note=6, shows_result_media=0, shows_reasoning=0, repeats_tools=0
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
        self.made = made = Made(Given(type(self), system, pieces, policy, media), LIMITS, before)
        self.call_ids = made.names.calls
        self.tool_names = made.names.tools
        self._policy = policy
        self._media = media
        self._messages: list[Message] = made.messages
        if not made.taken:
            self._messages += [{"role": "system", "content": text} for text in system_texts(system)]
        for piece in made.rest():
            if isinstance(piece, NotePiece):
                self._add("user", (sendable(piece.text),))
            elif piece.turn.role == "user":
                self._add("user", self._content(piece) or (EMPTY_TURN,))
            else:
                self._answer(piece)
        for message in self._messages[made.taken :]:
            _finish(message)
        self.request: Request = {"messages": self._messages, **({} if tools is None else {"tools": tools})}

    def _answer(self, piece: TurnPiece) -> None:
        content = self._content(piece)
        if content or piece.calls:
            self._add("assistant", content, [self._call(piece.turn, call) for call in piece.calls])
            self._messages += [self._return(piece, call.call_id) for call in piece.calls]

    def _content(self, piece: TurnPiece) -> Sequence[Content]:
        if piece.only_texts is not None:
            return piece.only_texts
        shown_parts = (self._part(part, piece.turn.role) for part in piece.turn.parts if not isinstance(part, ToolCallPart))
        return [part for part in shown_parts if part is not None]

    def _call(self, turn: Turn, call: ToolCallPart) -> Message:
        function = {"name": self.tool_names[call.tool], "arguments": arguments_text(call.arguments)}
        return {"id": self.call_ids[turn.number, call.call_id], "type": "function", "function": function}

    def _return(self, piece: TurnPiece, call_id: str) -> Message:
        found = piece.answers.get(call_id)
        content = INTERRUPTED if found is None else result_text(piece, found)
        return {"role": "tool", "tool_call_id": self.call_ids[piece.turn.number, call_id], "content": content}

    def _part(self, part: Any, role: Role) -> Content | None:
        match part:
            case TextPart(text=text):
                return sendable(text) if is_said(text) else None
            case ImagePart() | DocumentPart() if role == "user":
                return self._media_block(part)
            case OpaquePart(provider="openai", raw=raw, block=block) if (
                block in OWN_BLOCKS[role] and raw.count(f'"{block}"') > 1
            ):
                return raw
            case ReasoningPart():
                return None
            case _:
                return plain_text(part)

    def _media_block(self, part: ImagePart | DocumentPart) -> Content:
        """A picture as such, a text document as text, a PDF as a file; a document by address has no place in this form."""
        match shown(part, self._media, self._policy):
            case Address(url=url):
                return _picture(url) if isinstance(part, ImagePart) else plain_text(part)
            case Inline(media_type=kind, data=data):
                encoded = Encoded(f"data:{kind};base64,{data}", data.tokens)
                return _picture(encoded) if isinstance(part, ImagePart) else _file(part, encoded)
            case found:
                return found.text

    def _add(self, role: Role, content: Sequence[Content], calls: Sequence[Message] = ()) -> None:
        """Append, or merge into a neighbour of the same role: some models refuse two user or assistant messages in a row."""
        last = self._messages[-1] if self._messages else None
        if last is None or last["role"] != role:
            last = {"role": role, "content": [*content]}
            self.made.begin()
            self._messages.append(last)
        else:
            last["content"] += content
        if calls:
            last["tool_calls"] = calls


def _picture(url: Encoded) -> Message:
    return {"type": "image_url", "image_url": {"url": url}}


def _file(part: DocumentPart, data: Encoded) -> Message:
    return {"type": "file", "file": {"filename": sendable(part.name or "document.pdf"), "file_data": data}}


def _finish(message: Message) -> None:
    """Texts alone become one string, which every server takes; an assistant that only calls tools says null."""
    content = message["content"]
    if isinstance(content, list):
        if set(map(type, content)) <= {str}:
            message["content"] = "\n\n".join(content) or None
        else:
            message["content"] = [
                {"type": "text", "text": part} if type(part) is str or isinstance(part, Encoded) else part for part in content
            ]
