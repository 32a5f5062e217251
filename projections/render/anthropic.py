"""The request of Anthropic's Messages."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

from ledger.erased import Forgotten
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
from projections.render.identifiers import CallKey, call_ids, tool_names
from projections.render.media import Address, Inline, Media, Named, Written, shown
from projections.render.renderer import (
    EMPTY_RESULT,
    EMPTY_TURN,
    INTERRUPTED,
    Request,
    media_note,
    stub_of,
    system_texts,
    well_formed,
    well_formed_json,
)
from projections.transcript import Return, Transcript, Turn

PROVIDER: Final = "anthropic"
LONGEST_CALL_ID: Final = 64
LONGEST_TOOL_NAME: Final = 64

OPENED_BY_ASSISTANT: Final = "[the assistant spoke first]"
NO_USER_MESSAGE: Final = "[no new user message yet]"
ONLY_REASONING: Final = "[nothing was said after this reasoning]"

Block = dict[str, Any] | JsonText
Message = dict[str, Any]


class AnthropicRenderer:
    """System text as ``system``; roles alternate, beginning and ending with the user; results stand first in the next message.

    Where the record has no such user message, a marked one of ours stands in its place. Reasoning and blocks that only this
    provider understands pass as they were recorded; those of others are left out or named in a marked text.
    """

    def __init__(self, transcript: Transcript, policy: Policy, media: Media) -> None:
        self._system = [well_formed(text) for text in system_texts(transcript.system)]
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
                _add(messages, "user", [_text(piece.text)])
            else:
                self._turn(messages, piece)
        return [well_formed({**message, "content": _shortest(message["content"])}) for message in messages]

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
        if content and _ends_with_reasoning(turn):
            content.append(_text(ONLY_REASONING))
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
            case Forgotten():
                return _text(str(part))
            case ImagePart() | DocumentPart():
                return self._media_block(part)
            case OpaquePart(provider="anthropic", raw=raw):
                return raw
            case OpaquePart(block=block):
                return _text(f"[unsupported block: {block}]")
            case _:
                return None

    def _call(self, turn: Turn, call: ToolCallPart) -> Block:
        return {
            "type": "tool_use",
            "id": self.call_ids[turn.number, call.call_id],
            "name": self.tool_names[call.tool],
            "input": _input(call.arguments),
        }

    def _return(self, piece: TurnPiece, call: ToolCallPart) -> Block:
        found = piece.turn.answer_to(call.call_id)
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": self.call_ids[piece.turn.number, call.call_id]}
        if found is None:
            return {**block, "content": INTERRUPTED, "is_error": True}
        content = stub_of(found, call.tool) if found.version in piece.stubbed else self._result(found)
        return {**block, "content": content, **({"is_error": True} if found.is_error else {})}

    def _result(self, found: Return) -> str | list[Block]:
        block_of = _failure_block if found.is_error else self._plain_block
        blocks = [block for block in map(block_of, found.parts) if block is not None]
        return _shortest(blocks) if blocks else EMPTY_RESULT

    def _media_block(self, part: ImagePart | DocumentPart) -> dict[str, Any]:
        match shown(part, self._media, self._policy):
            case Address(url=url):
                return {"type": part.type, "source": {"type": "url", "url": url}}
            case Inline(media_type=kind, data=data):
                return {"type": part.type, "source": {"type": "base64", "media_type": kind, "data": data}}
            case Written(text=text):
                return {"type": part.type, "source": {"type": "text", "media_type": "text/plain", "data": text}}
            case Named(text=text):
                return _text(text)


def _failure_block(part: Any) -> Block | None:
    """This provider takes nothing but text in the result of a failed call."""
    match part:
        case TextPart(text=text):
            return _text(text) if text.strip() else None
        case JsonPart(value=value):
            return _text(str(value))
        case OpaquePart(block=block):
            return _text(f"[unsupported block: {block}]")
        case Forgotten():
            return _text(str(part))
        case _:
            return _text(media_note(part))


def _ends_with_reasoning(turn: Turn) -> bool:
    """This provider refuses a message whose last block is reasoning, as it is where an answer was cut off."""
    sent = (part for part in reversed(turn.parts) if not _is_left_out(part))
    return isinstance(next(sent, None), ReasoningPart)


def _is_left_out(part: Any) -> bool:
    match part:
        case TextPart(text=text):
            return not text.strip()
        case ReasoningPart(provider=provider):
            return provider != PROVIDER
        case _:
            return False


def _input(arguments: JsonText | Unparsed) -> dict[str, Any] | JsonText:
    """This provider takes an object only; what is none is passed on inside one, marked."""
    if isinstance(arguments, Unparsed):
        return {"unparsed_arguments": arguments.unparsed}
    source = well_formed_json(arguments)
    return source if source.startswith("{") else {"arguments": source}


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
