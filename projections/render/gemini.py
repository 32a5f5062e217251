"""The request of Google's Gemini (``generateContent``)."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final

from ledger.json_text import JsonText
from ledger.parts import DocumentPart, ImagePart, JsonPart, OpaquePart, ReasoningPart, TextPart, ToolCallPart
from projections.framing import Framing
from projections.pieces import NotePiece, Pieces, TurnPiece
from projections.policy import Policy
from projections.render.identifiers import Limits
from projections.render.media import Address, Inline, Media, Written, shown
from projections.render.renderer import (
    EMPTY_TURN,
    INTERRUPTED,
    Request,
    arguments_object,
    between_users,
    plain_text,
    result_text,
    system_texts,
)
from projections.render.taking_on import Given, Made
from projections.sendable import is_said, sendable, well_formed_json
from projections.transcript import SystemText, Turn

LIMITS: Final = Limits(call_id=64, tool_name=64, tool_begins_with_letter=True)

PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/webp"})
"""The kinds of pictures that this provider takes, of those that the others take."""

_SIGNATURE: Final = re.compile(r'\s*\{\s*"thoughtSignature"\s*:\s*("(?:[^"\\]|\\.)*+")\s*\}\s*')

GeminiPart = dict[str, Any] | JsonText


class GeminiRenderer:
    """System text as ``systemInstruction``; roles ``user`` and ``model``, beginning and ending with the user.

    The calls of a turn are answered in a content that holds nothing else, since this provider counts its parts. Parts of this
    provider, with their ``thoughtSignature``, pass as they were recorded; reasoning that is nothing but a ``thoughtSignature``
    stands in the part that follows it, where this provider wants it. This provider caches by itself, so breakpoints change
    nothing.
    """

    provider: ClassVar[str] = "gemini"
    framing: ClassVar[Framing] = Framing(
        request=26, message=5, part=1, call=0, result=1, note=6, results=5, shows_result_media=0
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
        self._contents: list[dict[str, Any]] = made.messages
        for piece in made.rest():
            if isinstance(piece, NotePiece):
                self._add("user", [{"text": sendable(piece.text)}])
            elif piece.turn.role == "user":
                self._add("user", self._parts(piece.turn) or [{"text": EMPTY_TURN}])
            else:
                self._model(piece)
        said = system_texts(system)
        self.request: Request = {
            **({"systemInstruction": {"parts": [{"text": text} for text in said]}} if said else {}),
            "contents": between_users(self._contents, lambda text: {"role": "user", "parts": [{"text": text}]}),
            **({} if tools is None else {"tools": tools}),
        }

    def _model(self, piece: TurnPiece) -> None:
        parts = self._parts(piece.turn)
        if parts:
            self._add("model", parts)
        results = [self._return(piece, call) for call in piece.turn.calls]
        if results:
            self._contents.append({"role": "user", "parts": results})

    def _parts(self, turn: Turn) -> list[GeminiPart]:
        made: list[GeminiPart] = []
        signature: JsonText | None = None
        for part in turn.parts:
            own = _signature_of(part, turn)
            if own is not None:
                made += _alone(signature)
                signature = own
            elif (block := self._part(part, turn)) is not None:
                if signature is not None and isinstance(block, dict):
                    block["thoughtSignature"] = signature
                else:
                    made += _alone(signature)
                signature = None
                made.append(block)
        return made + _alone(signature)

    def _part(self, part: Any, turn: Turn) -> GeminiPart | None:
        match part:
            case TextPart(text=text):
                return {"text": sendable(text)} if is_said(text) else None
            case ToolCallPart():
                return {"functionCall": self._call(turn, part)}
            case ReasoningPart(provider=provider, raw=raw):
                return raw if provider == self.provider and turn.role == "assistant" and raw.startswith("{") else None
            case ImagePart() | DocumentPart() if turn.role == "user":
                return self._media_block(part)
            case OpaquePart(provider="gemini", raw=raw, block=block) if "." not in block and raw.startswith("{"):
                return raw
            case _:
                return {"text": plain_text(part)}

    def _call(self, turn: Turn, call: ToolCallPart) -> dict[str, Any]:
        return {
            "id": self.call_ids[turn.number, call.call_id],
            "name": self.tool_names[call.tool],
            "args": arguments_object(call.arguments),
        }

    def _return(self, piece: TurnPiece, call: ToolCallPart) -> GeminiPart:
        found = piece.answers.get(call.call_id)
        output: str
        if found is None:
            output = INTERRUPTED
        elif found.version not in piece.replaced and len(found.parts) == 1 and isinstance(found.parts[0], JsonPart):
            output = well_formed_json(found.parts[0].value)
        else:
            output = result_text(piece, found)
        failed = found is None or found.is_error
        return {
            "functionResponse": {
                "id": self.call_ids[piece.turn.number, call.call_id],
                "name": self.tool_names[call.tool],
                "response": {"error" if failed else "output": output},
            }
        }

    def _media_block(self, part: ImagePart | DocumentPart) -> GeminiPart:
        match shown(part, self._media, self._policy):
            case Address(url=url):
                kind = {} if part.media_type is None else {"mimeType": sendable(part.media_type)}
                return {"fileData": {"fileUri": url, **kind}}
            case Inline(media_type=kind, data=data) if kind in PICTURES or isinstance(part, DocumentPart):
                return {"inlineData": {"mimeType": kind, "data": data}}
            case Inline():
                return {"text": plain_text(part)}
            case Written(text=text):
                return {"text": text}
            case named:
                return {"text": named.text}

    def _add(self, role: str, parts: list[GeminiPart]) -> None:
        """Append, or merge into a neighbour of the same role that holds no results."""
        last = self._contents[-1] if self._contents else None
        if last is not None and last["role"] == role and not _is_result(last["parts"][-1]):
            last["parts"] += parts
        else:
            self.made.begin()
            self._contents.append({"role": role, "parts": parts})


def _is_result(part: GeminiPart) -> bool:
    return isinstance(part, dict) and "functionResponse" in part


def _signature_of(part: Any, turn: Turn) -> JsonText | None:
    """The signature, as it is written, where reasoning is nothing else."""
    if not isinstance(part, ReasoningPart) or part.provider != GeminiRenderer.provider or turn.role != "assistant":
        return None
    found = _SIGNATURE.fullmatch(part.raw)
    return None if found is None else JsonText.stored(found[1])


def _alone(signature: JsonText | None) -> list[GeminiPart]:
    """A signature that no part of ours follows stands in an empty one, as this provider itself writes it."""
    return [] if signature is None else [{"text": "", "thoughtSignature": signature}]
