"""The request of Anthropic's Messages."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final

from ledger.json_text import JsonText
from ledger.parts import DocumentPart, ImagePart, OpaquePart, ReasoningPart, TextPart, ToolCallPart
from projections.framing import Framing
from projections.pieces import NotePiece, Pieces, TurnPiece
from projections.policy import Policy
from projections.render.identifiers import Limits, Names
from projections.render.media import Address, Inline, Media, Named, Written, shown
from projections.render.renderer import (
    EMPTY_RESULT,
    EMPTY_TURN,
    INTERRUPTED,
    ONLY_REASONING,
    Message,
    Reasoning,
    Request,
    arguments_object,
    between_users,
    plain_text,
    system_texts,
)
from projections.render.taking_on import Made
from projections.sendable import is_said, sendable
from projections.transcript import Return, SystemText, Turn

LIMITS: Final = Limits(call_id=64, tool_name=64)

MOST_BREAKPOINTS: Final = 4
"""How many places this provider lets a request mark for its cache."""

_SIGNED: Final = re.compile(r'"signature"\s*:\s*"[^"]|"redacted_thinking"')
"""What signed reasoning holds; the provider refuses any other."""

_BROKEN: Final = frozenset(
    {"text", "image", "document", "tool_use", "tool_result", "thinking", "redacted_thinking", "unknown", "unparsed"}
)
"""Blocks that have a part of their own: kept as opaque, they are not what they should be."""

Block = dict[str, Any] | JsonText


class AnthropicRenderer:
    """System text as ``system``; roles alternate, beginning and ending with the user; results stand first in the next message.

    Where the record has no such user message, a marked one of ours stands in its place. Reasoning and blocks that only this
    provider understands pass as they were recorded; those of others are left out or named in a marked text.

    With breakpoints, the system text and the last block that can bear it before each are marked for the cache; of more than
    this provider takes, the last ones.
    """

    provider: ClassVar[str] = "anthropic"
    framing: ClassVar[Framing] = Framing(request=38, message=5, part=1, call=1, result=2, note=6, results=5, repeats_tools=0)

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
        names = Names(pieces, LIMITS)
        self.call_ids = names.calls
        self.tool_names = names.tools
        self._policy = policy
        self._media = media
        self._messages: list[Message] = []
        said = system_texts(system)
        marked = _last_breakpoints(breakpoints, MOST_BREAKPOINTS - 1 if said else MOST_BREAKPOINTS)
        for index, piece in enumerate(pieces):
            if isinstance(piece, NotePiece):
                self._add("user", [_text(sendable(piece.text))])
            else:
                self._turn(piece)
            if index in marked:
                self._mark()
        self.request: Request = {
            **({"system": _system(said, is_marked=bool(breakpoints))} if said else {}),
            "messages": self._finished(),
            **({} if tools is None else {"tools": tools}),
        }

    def _finished(self) -> list[Message]:
        for message in self._messages:
            message["content"] = _shortest(message["content"])
        return between_users(self._messages, lambda text: {"role": "user", "content": text})

    def _turn(self, piece: TurnPiece) -> None:
        turn = piece.turn
        content = [block for block in (self._block(part, turn) for part in turn.parts) if block is not None]
        if turn.role == "user":
            self._add("user", content or [_text(EMPTY_TURN)])
            return
        if content and isinstance(content[-1], Reasoning):  # refused as the last block, as it is where an answer was cut off
            content.append(_text(ONLY_REASONING))
        if content:
            self._add("assistant", content)
        results = [self._return(piece, part) for part in turn.parts if isinstance(part, ToolCallPart)]
        if results:
            self._add("user", results)

    def _block(self, part: Any, turn: Turn) -> Block | None:
        match part:
            case TextPart(text=text):
                return _text(sendable(text)) if is_said(text) else None
            case ToolCallPart():
                return self._call(turn, part)
            case ReasoningPart(provider="anthropic", raw=raw) if turn.role == "assistant" and _SIGNED.search(raw):
                return Reasoning.stored(raw)
            case ReasoningPart():
                return None
            case ImagePart() | DocumentPart() if turn.role == "user":
                return self._media_block(part)
            case OpaquePart(provider="anthropic", raw=raw) if _is_block(part):
                return raw
            case _:
                return _text(plain_text(part))

    def _call(self, turn: Turn, call: ToolCallPart) -> Block:
        return {
            "type": "tool_use",
            "id": self.call_ids[turn.number, call.call_id],
            "name": self.tool_names[call.tool],
            "input": arguments_object(call.arguments),
        }

    def _return(self, piece: TurnPiece, call: ToolCallPart) -> Block:
        found = piece.answers.get(call.call_id)
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": self.call_ids[piece.turn.number, call.call_id]}
        if found is None:
            block["content"] = INTERRUPTED
        else:
            replaced = piece.replaced.get(found.version)
            block["content"] = self._result(found) if replaced is None else sendable(replaced)
        if found is None or found.is_error:
            block["is_error"] = True
        return block

    def _result(self, found: Return) -> str | list[Block]:
        block_of = _failure_block if found.is_error else self._result_block
        blocks = [block for block in map(block_of, found.parts) if block is not None]
        return _shortest(blocks) if blocks else EMPTY_RESULT

    def _result_block(self, part: Any) -> Block | None:
        match part:
            case ImagePart() | DocumentPart():
                return self._media_block(part)
            case OpaquePart(provider="anthropic", raw=raw) if _is_block(part):
                return raw
            case _:
                return _failure_block(part)

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

    def _add(self, role: str, content: list[Block]) -> None:
        """Append, or merge into a neighbour of the same role; results of tools stay before texts."""
        if self._messages and self._messages[-1]["role"] == role:
            self._messages[-1]["content"] += content
        else:
            self._messages.append({"role": role, "content": content})

    def _mark(self) -> None:
        """Mark the last block that can bear it: not one that passes byte for byte."""
        for message in reversed(self._messages):
            for block in reversed(message["content"]):
                if isinstance(block, dict):
                    block["cache_control"] = {"type": "ephemeral"}
                    return


def _last_breakpoints(breakpoints: tuple[int, ...], most: int) -> set[int]:
    return set(sorted(set(breakpoints))[-most:])


def _system(texts: list[str], *, is_marked: bool) -> str | list[Block]:
    if not is_marked:
        return texts[0] if len(texts) == 1 else [_text(text) for text in texts]
    return [*map(_text, texts[:-1]), {**_text(texts[-1]), "cache_control": {"type": "ephemeral"}}]


def _failure_block(part: Any) -> Block | None:
    """This provider takes nothing but text in the result of a failed call."""
    text = plain_text(part)
    return _text(text) if is_said(text) else None


def _is_block(part: OpaquePart) -> bool:
    """Whether it is a whole block that stands for itself: not what stood beside one (``text.citations``), not a broken one."""
    return "." not in part.block and part.block not in _BROKEN and part.raw.startswith("{")


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _shortest(blocks: list[Block]) -> str | list[Block]:
    """A single text stands as such, unless it bears a mark."""
    only = blocks[0]
    return only["text"] if len(blocks) == 1 and isinstance(only, dict) and len(only) == 2 and "text" in only else blocks
