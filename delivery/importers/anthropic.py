"""Anthropic messages, as in a request's ``system`` and ``messages``, or as a response that became a message.

Left out on purpose: ``cache_control`` (a caching hint of one request) and a message's ``type``, which is
always "message". Members that say nothing (null, "", [], {}) are left out too. All else that has no field in
the ledger is kept raw, see ``delivery.importers.blocks``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from delivery.importers.blocks import (
    RETURNED,
    SAID,
    UNKNOWN,
    UNPARSED,
    About,
    about,
    arguments,
    base64_bytes,
    block_type,
    is_name,
    leftovers,
    name_or_none,
    opaque,
    text_parts,
    tool_call,
)
from delivery.importers.source import Node, string_or_none
from delivery.importers.transcript import Transcript
from ledger.errors import InvalidInput
from ledger.events import Role
from ledger.json_text import has_lone_surrogate
from ledger.parts import (
    DocumentPart,
    ImagePart,
    JsonPart,
    OpaquePart,
    Part,
    ReasoningPart,
    ReturnPart,
    TextPart,
)

_PROVIDER: Final = "anthropic"
_ROLES: Final[dict[str, Role]] = {"user": "user", "assistant": "assistant", "system": "system"}
_HINTS: Final = frozenset({"role", "content", "type", "cache_control"})
_FOREIGN_BLOCKS: Final = frozenset(
    {"text", "image_url", "input_audio", "file", "refusal", "audio", "video_url", UNKNOWN, UNPARSED}
    | {"input_text", "output_text", "input_image", "input_file"}
)
_REASONING: Final = frozenset({"thinking", "redacted_thinking"})

ReturnPiece = TextPart | JsonPart | ImagePart | DocumentPart | OpaquePart


class AnthropicMessages:
    """The format ``anthropic``."""

    name = "anthropic"

    def reads(self, message: Node) -> bool:
        """Whether the format knows the role and the shape of the content."""
        content = message.get("content")
        if string_or_none(message.get("role")) not in _ROLES or content is None:
            return False
        if content.kind == "string":
            return True
        return content.kind == "array" and all(block_type(block) != UNKNOWN for block in content.elements)

    def marks(self, message: Node) -> bool:
        """Whether the message has what only this format writes: blocks of types that OpenAI chat does not
        have.
        """
        content = message.get("content")
        if content is None or content.kind != "array":
            return False
        return any(block_type(block) not in _FOREIGN_BLOCKS for block in content.elements)

    def marks_body(self, body: Node) -> bool:
        """Whether a request has what only requests of this format have."""
        if body.get("system") or body.get("anthropic_version"):
            return True
        tools = body.get("tools")
        return (
            tools is not None
            and tools.kind == "array"
            and any(tool.kind == "object" and tool.get("input_schema") for tool in tools.elements)
        )

    def record_system(self, system: Node, transcript: Transcript) -> None:
        """The request's ``system``, a text or blocks."""
        transcript.record_turn("system", list(_content(system, transcript, owner="message")), About())

    def record(self, message: Node, transcript: Transcript) -> None:
        """Record one message; ``InvalidInput`` says why it cannot be."""
        role = string_or_none(message.get("role"))
        if role not in _ROLES:
            raise InvalidInput(f"unknown role {role!r} at {message.path} (known: {', '.join(_ROLES)})", path=message.path)
        results = _results(message) if role == "user" else []
        if results:
            _record_returns(message, results, transcript)
        else:
            _record_turn(message, transcript, _ROLES[role])


def _results(message: Node) -> list[Node]:
    content = message.get("content")
    if content is None or content.kind != "array":
        return []
    return [block for block in content.elements if _is_result(block)]


def _is_result(block: Node) -> bool:
    return block_type(block) == "tool_result"


def _record_turn(message: Node, transcript: Transcript, role: Role) -> None:
    said = about(message, SAID)
    parts: list[Part] = []
    content = message.get("content")
    if role == "assistant" and content is not None and content.kind == "array":
        parts += _assistant_blocks(content, transcript)
    else:
        parts += _content(content, transcript, owner="message")
    parts += leftovers(message, _HINTS | said.members, provider=_PROVIDER, owner="message")
    transcript.record_turn(role, parts, said)


def _record_returns(message: Node, results: list[Node], transcript: Transcript) -> None:
    """A user message with results: the returns first, since they answer the turn before; then a turn, if
    there is more in it.
    """
    returns = [_return(result, transcript) for result in results]
    rest = [block for block in message.members["content"].elements if not _is_result(block)]
    parts = [piece for block in rest for piece in _block(block, transcript)]
    said = about(message, SAID if rest else RETURNED)
    extra = list(leftovers(message, _HINTS | said.members, provider=_PROVIDER, owner="message"))
    if not rest:
        returns[-1][1].extend(extra)
    for call_id, pieces, is_error in returns:
        transcript.record_return(call_id, pieces, About() if rest else said, is_error=is_error)
    if rest:
        transcript.record_turn("user", [*parts, *extra], said)


def _return(block: Node, transcript: Transcript) -> tuple[str | None, list[ReturnPart], bool]:
    given, failed = name_or_none(block.get("tool_use_id")), block.get("is_error")
    known = {"type", "content", "cache_control"}
    if given:
        known.add("tool_use_id")
    if failed is not None and failed.kind == "boolean":
        known.add("is_error")
    parts: list[ReturnPart] = list(_content(block.get("content"), transcript, owner="tool_result"))
    parts += leftovers(block, known, provider=_PROVIDER, owner="tool_result")
    return given, parts, failed is not None and failed.text == "true"


def _content(content: Node | None, transcript: Transcript, *, owner: str) -> Iterator[ReturnPiece]:
    if content is None:
        return
    if content.kind == "string":
        yield from text_parts(content.string())
    elif content.kind == "array":
        for block in content.elements:
            yield from _block(block, transcript)
    else:
        yield opaque(content, provider=_PROVIDER, block=f"{owner}.content")


def _assistant_blocks(content: Node, transcript: Transcript) -> Iterator[Part]:
    """The second call of one id in one message stays raw: a return could not tell the two apart."""
    seen: set[str] = set()
    for block in content.elements:
        kind = block_type(block)
        if kind in _REASONING:
            yield _reasoning(block, kind)
        elif kind == "tool_use":
            yield from _tool_use(block, seen)
        else:
            yield from _block(block, transcript)


def _reasoning(block: Node, kind: str) -> Part:
    try:
        return ReasoningPart(provider=_PROVIDER, raw=block.json())
    except InvalidInput:
        return opaque(block, provider=_PROVIDER, block=kind)


def _tool_use(block: Node, seen: set[str]) -> Iterator[Part]:
    given = block.members.get("input")
    call = None
    if given is not None:
        written = arguments(given.text)
        call = tool_call(string_or_none(block.get("id")), string_or_none(block.get("name")), written)
    if call is None or call.call_id in seen:
        yield opaque(block, provider=_PROVIDER, block="tool_use")
        return
    seen.add(call.call_id)
    yield call
    yield from leftovers(block, {"type", "id", "name", "input", "cache_control"}, provider=_PROVIDER, owner="tool_use")


def _block(block: Node, transcript: Transcript) -> Iterator[ReturnPiece]:
    kind = block_type(block)
    known = {"type", "cache_control"}
    piece: ReturnPiece | None = None
    if kind == "text" and (text := string_or_none(block.get("text"))) is not None:
        piece, known = TextPart(text=text), known | {"text"}
    elif kind == "image":
        piece, known = _image(block, transcript), known | {"source"}
    elif kind == "document":
        piece, known = _document(block, transcript)
    if piece is None:
        yield opaque(block, provider=_PROVIDER, block=kind)
        return
    yield piece
    yield from leftovers(block, known, provider=_PROVIDER, owner=kind)


def _image(block: Node, transcript: Transcript) -> ImagePart | None:
    place = _place(block, transcript, name=None)
    if place is None:
        return None
    return ImagePart(sha256=place.sha256, url=place.url, media_type=place.media_type, size_bytes=place.size_bytes)


def _document(block: Node, transcript: Transcript) -> tuple[DocumentPart | None, set[str]]:
    title = string_or_none(block.get("title"))
    place = _place(block, transcript, name=title)
    known = {"type", "source", "cache_control"} | ({"title"} if title is not None else set())
    if place is None:
        return None, known
    part = DocumentPart(
        sha256=place.sha256,
        url=place.url,
        media_type=place.media_type,
        size_bytes=place.size_bytes,
        name=title,
    )
    return part, known


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where bytes stand: in the ledger, or behind a URL."""

    sha256: str | None = None
    url: str | None = None
    media_type: str | None = None
    size_bytes: int | None = None


def _place(block: Node, transcript: Transcript, *, name: str | None) -> _Place | None:
    """Where the bytes of a block stand: in the ledger or behind a URL; None for places that only the provider
    can reach.
    """
    source = block.get("source")
    if source is None or source.kind != "object":
        return None
    members = set(source.members)
    kind = block_type(source)
    if kind == "url" and members == {"type", "url"}:
        url = string_or_none(source.get("url"))
        return None if url is None else _Place(url=url)
    media_type, data = string_or_none(source.get("media_type")), _inline_bytes(source, kind)
    if data is None or not is_name(media_type) or members != {"type", "media_type", "data"}:
        return None
    sha256 = transcript.store(data, media_type=media_type, name=name)
    return _Place(sha256=sha256, media_type=media_type, size_bytes=len(data))


def _inline_bytes(source: Node, kind: str) -> bytes | None:
    text = string_or_none(source.get("data"))
    if kind == "base64":
        return base64_bytes(text)
    if kind != "text" or text is None or has_lone_surrogate(text):
        return None
    return text.encode("utf-8")
