"""The request of OpenAI's Chat Completions, also spoken by many others."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

from ledger.erased import Forgotten
from ledger.events import Role
from ledger.parts import DocumentPart, ImagePart, JsonPart, OpaquePart, TextPart, Unparsed
from projections.pieces import NotePiece, Pieces, TurnPiece
from projections.policy import Policy
from projections.render.identifiers import CallKey, call_ids, tool_names
from projections.render.media import Address, Inline, Media, Named, Written, shown
from projections.render.renderer import (
    EMPTY_RESULT,
    EMPTY_TURN,
    INTERRUPTED,
    Encoded,
    Request,
    media_note,
    stub_of,
    system_texts,
    well_formed,
)
from projections.transcript import Return, Transcript, Turn

PROVIDER: Final = "openai"
LONGEST_CALL_ID: Final = 40
LONGEST_TOOL_NAME: Final = 64

OWN_BLOCKS: Final[dict[Role, tuple[str, ...]]] = {
    "user": ("image_url", "file", "input_audio"),
    "assistant": ("refusal",),
    "system": (),
}
"""Blocks of this provider that a message of a role may hold; others are named."""

Message = dict[str, Any]


class OpenAIRenderer:
    """System text first, as system messages; every call followed at once by its results; neighbours of one role are merged.

    Reasoning has no place in this form and is left out; a block of another provider is named in a marked text.
    """

    def __init__(self, transcript: Transcript, policy: Policy, media: Media) -> None:
        self._system = [{"role": "system", "content": well_formed(text)} for text in system_texts(transcript.system)]
        self._policy = policy
        self._media = media
        self._turns = transcript.turns

    @cached_property
    def call_ids(self) -> dict[CallKey, str]:
        """The id of each call: its own where this provider allows it."""
        return call_ids(self._turns, longest=LONGEST_CALL_ID)

    @cached_property
    def tool_names(self) -> dict[str, str]:
        """The name of each tool: its own where this provider allows it."""
        return tool_names(self._turns, longest=LONGEST_TOOL_NAME)

    def messages(self, pieces: Pieces) -> list[Message]:
        """The messages of some pieces."""
        messages: list[Message] = []
        for piece in pieces:
            if isinstance(piece, NotePiece):
                _add(messages, {"role": "user", "content": [_text(piece.text)]})
            else:
                self._turn(messages, piece)
        return [well_formed(_finished(message)) for message in messages]

    def request(self, pieces: Pieces) -> Request:
        """``{"messages": …}``."""
        return {"messages": [*self._system, *self.messages(pieces)]}

    def _turn(self, messages: list[Message], piece: TurnPiece) -> None:
        turn = piece.turn
        if turn.role == "user":
            _add(messages, {"role": "user", "content": self._content(turn) or [_text(EMPTY_TURN)]})
            return
        calls = [self._call(turn, call.call_id, call.tool, call.arguments) for call in turn.calls]
        content = self._content(turn)
        if content or calls:
            _add(messages, {"role": "assistant", "content": content, **({"tool_calls": calls} if calls else {})})
        messages.extend(self._return(piece, call.call_id, call.tool) for call in turn.calls)

    def _call(self, turn: Turn, call_id: str, tool: str, arguments: str | Unparsed) -> Message:
        text = arguments.unparsed if isinstance(arguments, Unparsed) else str(arguments)
        function = {"name": self.tool_names[tool], "arguments": text}
        return {"id": self.call_ids[turn.number, call_id], "type": "function", "function": function}

    def _return(self, piece: TurnPiece, call_id: str, tool: str) -> Message:
        found = piece.turn.answer_to(call_id)
        return {
            "role": "tool",
            "tool_call_id": self.call_ids[piece.turn.number, call_id],
            "content": self._result(piece, found, tool),
        }

    def _result(self, piece: TurnPiece, found: Return | None, tool: str) -> str:
        if found is None:
            return INTERRUPTED
        if found.version in piece.stubbed:
            return stub_of(found, tool)
        texts = [self._as_text(part) for part in found.parts]
        return "\n".join(texts) if any(text.strip() for text in texts) else EMPTY_RESULT

    @staticmethod
    def _as_text(part: Any) -> str:
        """Results of tools are text in this form; a picture is named by its hash."""
        match part:
            case TextPart(text=text):
                return text
            case JsonPart(value=value):
                return str(value)
            case OpaquePart(block=block):
                return f"[unsupported block: {block}]"
            case Forgotten():
                return str(part)
            case _:
                return media_note(part)

    def _content(self, turn: Turn) -> list[Message]:
        found = (self._part(part, turn.role) for part in turn.parts)
        return [part for part in found if part is not None]

    def _part(self, part: Any, role: Role) -> Message | None:
        match part:
            case TextPart(text=text):
                return _text(text) if text.strip() else None
            case JsonPart(value=value):
                return _text(str(value))
            case Forgotten():
                return _text(str(part))
            case ImagePart() | DocumentPart():
                return self._media_block(part) if role == "user" else _text(media_note(part))
            case OpaquePart(provider="openai", raw=raw, block=block) if block in OWN_BLOCKS[role]:
                return {"type": "opaque", "raw": raw, "block": block}
            case OpaquePart(block=block):
                return _text(f"[unsupported block: {block}]")
            case _:
                return None

    def _media_block(self, part: ImagePart | DocumentPart) -> Message:
        """A picture as such, a text document as text, a PDF as a file; a document by address has no place in this form."""
        match shown(part, self._media, self._policy):
            case Address(url=url):
                return _picture(url) if isinstance(part, ImagePart) else _text(media_note(part))
            case Inline(media_type=kind, data=data):
                encoded = Encoded(f"data:{kind};base64,{data}", data.tokens)
                return _picture(encoded) if isinstance(part, ImagePart) else _file(part, encoded)
            case Written(text=text) | Named(text=text):
                return _text(text)


def _text(text: str) -> Message:
    return {"type": "text", "text": text}


def _picture(url: Encoded) -> Message:
    return {"type": "image_url", "image_url": {"url": url}}


def _file(part: DocumentPart, data: Encoded) -> Message:
    return {"type": "file", "file": {"filename": part.name or "document.pdf", "file_data": data}}


def _add(messages: list[Message], message: Message) -> None:
    """Append, or merge into a neighbour of the same role: some models refuse two user or assistant messages in a row."""
    last = messages[-1] if messages else None
    if last is None or last["role"] != message["role"] or "tool_calls" in last:
        messages.append(message)
        return
    last["content"] = [*last["content"], *message["content"]]
    if "tool_calls" in message:
        last["tool_calls"] = message["tool_calls"]


def _finished(message: Message) -> Message:
    """Texts alone become one string, which every server takes; an assistant that only calls tools says null."""
    content = message["content"]
    if isinstance(content, str):
        return message
    if all(part["type"] == "text" and not isinstance(part["text"], Encoded) for part in content):
        joined = "\n\n".join(part["text"] for part in content)
        return {**message, "content": joined or None}
    return {**message, "content": [part["raw"] if part["type"] == "opaque" else part for part in content]}
