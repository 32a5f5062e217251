"""The request of Anthropic's Messages."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Final

from ledger.json_text import JsonText
from ledger.parts import (
    DocumentPart,
    ImagePart,
    JsonPart,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    Unparsed,
)
from projections.pieces import NotePiece, Pieces, TurnPiece
from projections.policy import Policy
from projections.render.identifiers import call_ids, tool_names
from projections.render.renderer import (
    EMPTY_RESULT,
    EMPTY_TURN,
    INTERRUPTED,
    Encoded,
    Request,
    media_note,
    media_tokens,
    stub_of,
    system_texts,
)
from projections.transcript import Return, Transcript, Turn

PROVIDER: Final = "anthropic"
LONGEST_CALL_ID: Final = 64
LONGEST_TOOL_NAME: Final = 64

OPENED_BY_ASSISTANT: Final = "[the assistant spoke first]"
NO_USER_MESSAGE: Final = "[no new user message yet]"

Block = dict[str, Any] | JsonText
Message = dict[str, Any]


class AnthropicRenderer:
    """System text as ``system``; roles alternate, beginning and ending with the user; results stand first in the next message.

    Where the record has no such user message, a marked one of ours stands in its place. Reasoning and blocks that only this
    provider understands pass as they were recorded; those of others are left out or named in a marked text.
    """

    def __init__(self, transcript: Transcript, policy: Policy, media: Mapping[str, bytes]) -> None:
        self._system = system_texts(transcript.system)
        self._policy = policy
        self._media = media
        self._ids = call_ids(transcript.turns, longest=LONGEST_CALL_ID)
        self._tools = tool_names(transcript.turns, longest=LONGEST_TOOL_NAME)

    def messages(self, pieces: Pieces) -> list[Message]:
        """The messages of some pieces."""
        messages: list[Message] = []
        for piece in pieces:
            if isinstance(piece, NotePiece):
                _add(messages, "user", [_text(piece.text)])
            else:
                self._turn(messages, piece)
        return [{**message, "content": _shortest(message["content"])} for message in messages]

    def request(self, pieces: Pieces) -> Request:
        """``{"system": …, "messages": …}``; without ``system`` where there is none."""
        messages = self.messages(pieces)
        if messages and messages[0]["role"] == "assistant":
            messages.insert(0, {"role": "user", "content": OPENED_BY_ASSISTANT})
        if messages and messages[-1]["role"] == "assistant":
            messages.append({"role": "user", "content": NO_USER_MESSAGE})
        system = self._system
        content = system[0] if len(system) == 1 else [_text(text) for text in system]
        return {**({"system": content} if system else {}), "messages": messages}

    def _turn(self, messages: list[Message], piece: TurnPiece) -> None:
        turn = piece.turn
        if turn.role == "user":
            _add(messages, "user", self._content(turn) or [_text(EMPTY_TURN)])
            return
        content = self._content(turn)
        if content:
            _add(messages, "assistant", content)
        if turn.calls:
            _add(messages, "user", [self._return(piece, call) for call in turn.calls])

    def _content(self, turn: Turn) -> list[Block]:
        found = (self._block(part, turn) for part in turn.parts)
        return [block for block in found if block is not None]

    def _block(self, part: Any, turn: Turn) -> Block | None:
        match part:
            case ToolCallPart():
                return self._call(turn, part)
            case ReasoningPart(provider=provider, raw=raw):
                return raw if provider == PROVIDER and turn.role == "assistant" else None
            case ImagePart() | DocumentPart() if turn.role == "assistant":
                return _text(media_note(part))
            case _:
                return self._plain_block(part)

    def _plain_block(self, part: Any) -> Block | None:
        match part:
            case TextPart(text=text):
                return _text(text) if text.strip() else None
            case JsonPart(value=value):
                return _text(str(value))
            case ImagePart() | DocumentPart():
                return {"type": part.type, "source": self._source(part)}
            case OpaquePart(provider="anthropic", raw=raw):
                return raw
            case OpaquePart(block=block):
                return _text(f"[unsupported block: {block}]")
            case _:
                return None

    def _call(self, turn: Turn, call: ToolCallPart) -> Block:
        return {
            "type": "tool_use",
            "id": self._ids[turn.number, call.call_id],
            "name": self._tools[call.tool],
            "input": _input(call.arguments),
        }

    def _return(self, piece: TurnPiece, call: ToolCallPart) -> Block:
        found = piece.turn.answer_to(call.call_id)
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": self._ids[piece.turn.number, call.call_id]}
        if found is None:
            return {**block, "content": INTERRUPTED, "is_error": True}
        content = stub_of(found, call.tool) if found.version in piece.stubbed else self._result(found)
        return {**block, "content": content, **({"is_error": True} if found.is_error else {})}

    def _result(self, found: Return) -> str | list[Block]:
        blocks = [block for block in map(self._plain_block, found.parts) if block is not None]
        return _shortest(blocks) if blocks else EMPTY_RESULT

    def _source(self, part: ImagePart | DocumentPart) -> dict[str, Any]:
        cost = media_tokens(part, self._policy)
        if part.url is not None:
            return {"type": "url", "url": Encoded(part.url, cost)}
        content = self._media.get(part.sha256 or "", b"")
        if (part.media_type or "").startswith("text/"):
            return {"type": "text", "media_type": "text/plain", "data": Encoded(content.decode("utf-8", "replace"), cost)}
        encoded = Encoded(base64.b64encode(content).decode(), cost)
        return {"type": "base64", "media_type": part.media_type or "application/octet-stream", "data": encoded}


def _input(arguments: JsonText | Unparsed) -> dict[str, Any] | JsonText:
    """This provider takes an object only; what is none is passed on inside one, marked."""
    if isinstance(arguments, Unparsed):
        return {"unparsed_arguments": arguments.unparsed}
    return arguments if arguments.startswith("{") else {"arguments": arguments}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _add(messages: list[Message], role: str, content: list[Block]) -> None:
    """Append, or merge into a neighbour of the same role; results of tools stay before texts."""
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"] += content
    else:
        messages.append({"role": role, "content": list(content)})


def _shortest(blocks: list[Block]) -> str | list[Block]:
    only = blocks[0]
    is_text = len(blocks) == 1 and isinstance(only, dict) and only["type"] == "text"
    return only["text"] if isinstance(only, dict) and is_text else blocks
