"""OpenAI chat messages, as in the ``messages`` of a chat completion request; other vendors and routers write
the same shape.

Left out on purpose: ``cache_control`` (a router's caching hint), ``detail`` of an image and ``index`` of a
call (hints for one request and one stream), and the difference between the roles ``system`` and
``developer``, which is one of the model's age. Members that say nothing (null, "", [], {}) are left out too.
All else that has no field in the ledger is kept raw, see ``delivery.importers.blocks``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from delivery.importers.blocks import (
    RETURNED,
    SAID,
    UNKNOWN,
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
from ledger.json_text import JsonText
from ledger.parts import (
    ImagePart,
    JsonPart,
    OpaquePart,
    Part,
    ReasoningPart,
    ReturnPart,
    TextPart,
    ToolCallPart,
    Unparsed,
)

_PROVIDER: Final = "openai"
_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_RETURN_ROLES: Final = frozenset({"tool", "function"})
_HINTS: Final = frozenset({"role", "content", "cache_control"})
_OWN_MEMBERS: Final = frozenset({"tool_calls", "tool_call_id", "function_call", "refusal", "reasoning_content"})
_OWN_BLOCKS: Final = frozenset({"image_url", "input_audio", "file", "refusal"})
_OWN_BODY: Final = frozenset({"max_completion_tokens", "functions", "response_format", "reasoning_effort", "stream_options"})


class OpenAIChat:
    """The format ``openai``."""

    name = "openai"

    def reads(self, message: Node) -> bool:
        """Whether the format knows the role and the shape of the content."""
        role = string_or_none(message.get("role"))
        content = message.get("content")
        if role not in _ROLES and role not in _RETURN_ROLES:
            return False
        if content is None or content.kind == "string":
            return True
        return content.kind == "array" and all(
            part.kind == "string" or block_type(part) != UNKNOWN for part in content.elements
        )

    def marks(self, message: Node) -> bool:
        """Whether the message has what only this format writes."""
        if string_or_none(message.get("role")) in {"tool", "function", "developer"}:
            return True
        if any(message.get(member) for member in _OWN_MEMBERS):
            return True
        content = message.get("content")
        if content is None or content.kind != "array":
            return False
        return any(block_type(part) in _OWN_BLOCKS for part in content.elements)

    def marks_body(self, body: Node) -> bool:
        """Whether a request has what only requests of this format have."""
        if any(body.get(member) for member in _OWN_BODY):
            return True
        tools = body.get("tools")
        return (
            tools is not None
            and tools.kind == "array"
            and any(tool.kind == "object" and tool.get("function") for tool in tools.elements)
        )

    def record_system(self, system: Node, transcript: Transcript) -> None:
        """System text that stands beside the messages, as some vendors of this shape have it."""
        transcript.record_turn("system", list(content_parts(system, transcript)), About())

    def record(self, message: Node, transcript: Transcript) -> None:
        """Record one message; ``InvalidInput`` says why it cannot be."""
        role = string_or_none(message.get("role"))
        if role in _RETURN_ROLES:
            _record_return(message, transcript, is_function=role == "function")
        elif role in _ROLES:
            _record_turn(message, transcript, _ROLES[role])
        else:
            known = ", ".join([*_ROLES, *sorted(_RETURN_ROLES)])
            raise InvalidInput(f"unknown role {role!r} at {message.path} (known: {known})", path=message.path)


def _record_turn(message: Node, transcript: Transcript, role: Role) -> None:
    said = about(message, SAID)
    parts: list[Part] = []
    known = _HINTS | said.members
    nameless: list[ToolCallPart] = []
    if role == "assistant":
        known |= {"tool_calls", "function_call", "reasoning_content"}
        parts += _reasoning(message)
    parts += content_parts(message.get("content"), transcript)
    if role == "assistant":
        called, nameless = calls_of(message, transcript)
        parts += called
    parts += leftovers(message, known, provider=_PROVIDER, owner="message")
    transcript.record_turn(role, parts, said)
    for call in nameless:
        transcript.note_nameless(call)


def _record_return(message: Node, transcript: Transcript, *, is_function: bool) -> None:
    said = about(message, RETURNED)
    tool, given = name_or_none(message.get("name")), name_or_none(message.get("tool_call_id"))
    call_id = given
    if call_id is None and message.get("tool_call_id") is None:
        call_id = transcript.nameless_call(tool)
    known = _HINTS | said.members | ({"name"} if tool else set()) | ({"tool_call_id"} if given else set())
    parts: list[ReturnPart] = list(content_parts(message.get("content"), transcript))
    parts += leftovers(message, known, provider=_PROVIDER, owner="function" if is_function else "message")
    transcript.record_return(call_id, parts, said, tool=tool)


def _reasoning(message: Node) -> Iterator[Part]:
    node = message.get("reasoning_content")
    if node is None:
        return
    try:
        yield ReasoningPart(provider=_PROVIDER, raw=node.json())
    except InvalidInput:
        yield opaque(node, provider=_PROVIDER, block="message.reasoning_content")


def content_parts(content: Node | None, transcript: Transcript) -> Iterator[TextPart | JsonPart | ImagePart | OpaquePart]:
    """What the content of a message became: a text, parts of the types of this format, or any other value."""
    if content is None:
        return
    if content.kind == "string":
        yield from text_parts(content.string())
    elif content.kind == "array":
        for part in content.elements:
            yield from content_part(part, transcript)
    else:
        yield _structured(content)


def _structured(content: Node) -> JsonPart | OpaquePart:
    """Content that is neither text nor parts, as tools of some frameworks return it."""
    try:
        return JsonPart(value=content.json())
    except InvalidInput:
        return opaque(content, provider=_PROVIDER, block="message.content")


def content_part(part: Node, transcript: Transcript) -> Iterator[TextPart | ImagePart | OpaquePart]:
    """What one element of a content became, with what no part has a field for."""
    if part.kind == "string":
        yield TextPart(text=part.string())
        return
    kind = block_type(part)
    if kind == "text" and (text := string_or_none(part.get("text"))) is not None:
        yield TextPart(text=text)
        yield from leftovers(part, {"type", "text", "cache_control"}, provider=_PROVIDER, owner="text")
    elif kind == "image_url" and (image := _image(part, transcript)) is not None:
        yield image
        yield from leftovers(part, {"type", "image_url", "cache_control"}, provider=_PROVIDER, owner="image_url")
        yield from leftovers(part.members["image_url"], {"url", "detail"}, provider=_PROVIDER, owner="image_url")
    else:
        yield opaque(part, provider=_PROVIDER, block=kind)


def _image(part: Node, transcript: Transcript) -> ImagePart | None:
    image = part.get("image_url")
    url = string_or_none(image.get("url")) if image is not None and image.kind == "object" else None
    return None if url is None else image_at(url, transcript)


def image_at(url: str, transcript: Transcript) -> ImagePart | None:
    """The picture behind a URL, its bytes as an artifact if the URL holds them; None where they are not plain base64."""
    if not url.startswith("data:"):
        return ImagePart(url=url)
    head, _comma, encoded = url.removeprefix("data:").partition(",")
    media_type = head.removesuffix(";base64")
    data = base64_bytes(encoded) if media_type != head and is_name(media_type) else None
    if data is None:
        return None
    sha256 = transcript.store(data, media_type=media_type)
    return ImagePart(sha256=sha256, media_type=media_type, size_bytes=len(data))


def calls_of(message: Node, transcript: Transcript) -> tuple[list[Part], list[ToolCallPart]]:
    """The calls of a message (``tool_calls``, ``function_call``), and those of them that came without an id and got one
    from their place.

    The second call of one id in one message stays raw: a return could not tell the two apart.
    """
    parts: list[Part] = []
    nameless: list[ToolCallPart] = []
    seen: set[str] = set()
    for node, is_old in _call_nodes(message):
        owner = "message.function_call" if is_old else "tool_call"
        call, has_id = _call(node, invented=_invented_id(transcript, len(parts), is_old=is_old), is_old=is_old)
        if call is None or call.call_id in seen:
            parts.append(opaque(node, provider=_PROVIDER, block=owner if is_old else _call_type(node)))
            continue
        seen.add(call.call_id)
        parts.append(call)
        parts += _call_leftovers(node, owner=owner, is_old=is_old)
        if not has_id:
            nameless.append(call)
    return parts, nameless


def _call_nodes(message: Node) -> Iterator[tuple[Node, bool]]:
    calls = message.get("tool_calls")
    if calls is not None:
        for node in calls.elements if calls.kind == "array" else [calls]:
            yield node, False
    old = message.get("function_call")
    if old is not None:
        yield old, True


def _call_type(node: Node) -> str:
    """A call that is kept raw is a block of its type (``custom``), or ``function`` where it has none."""
    kind = block_type(node)
    return "function" if kind == UNKNOWN else kind


def _invented_id(transcript: Transcript, place: int, *, is_old: bool) -> str:
    turn = transcript.next_turn
    return f"function_call_{turn}" if is_old else f"call_{turn}_{place}"


def _call(node: Node, *, invented: str, is_old: bool) -> tuple[ToolCallPart | None, bool]:
    """The call, and whether it came with an id; no call where a value is not what a function call has, or a
    key stands twice.
    """
    if node.kind != "object" or block_type(node) not in ("function", UNKNOWN):
        return None, False
    function = node if is_old else node.get("function")
    if function is None or block_type(function) != UNKNOWN or function.kind != "object":
        return None, False
    given = None if is_old else node.get("id")
    return _function(function, invented if given is None else string_or_none(given)), given is not None


def _function(function: Node, call_id: str | None) -> ToolCallPart | None:
    return tool_call(call_id, string_or_none(function.get("name")), _arguments(function.get("arguments")))


def _arguments(node: Node | None) -> JsonText | Unparsed:
    """Text in JSON is JSON; a few vendors write the object itself."""
    if node is None:
        return Unparsed(unparsed="")
    return arguments(node.string() if node.kind == "string" else node.text)


def _call_leftovers(node: Node, *, owner: str, is_old: bool) -> Iterator[OpaquePart]:
    function = node if is_old else node.members["function"]
    if not is_old:
        known = {"id", "type", "function", "index", "cache_control"}
        yield from leftovers(node, known, provider=_PROVIDER, owner=owner)
    yield from leftovers(function, {"name", "arguments"}, provider=_PROVIDER, owner=f"{owner}.function")
