"""Messages of LangChain as it dumps them, in a list or in the state of a LangGraph thread.

A message says its ``type`` (``human``, ``ai``, ``tool``, ``system``) and is written in one of three ways: flat, under ``data``,
or as a constructor with ``kwargs``. A thread's state names the ledger by its ``thread_id``; of several states of one thread
the one with the most messages is read.

Left out on purpose: ``response_metadata`` but for the model and its token counts, blocks of the content that repeat a call of
``tool_calls``, ``additional_kwargs.tool_calls`` where there are ``tool_calls``, and requests to remove a message. Members of
the state beside the messages are counted as left out.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Final

from delivery.importers.blocks import About, arguments, block_type, leftovers, name_or_none, opaque, tool_call, usage
from delivery.importers.openai import content_part, content_parts
from delivery.importers.source import Node, objects_in, string_or_none
from delivery.importers.told import Told
from delivery.importers.transcript import Transcript
from ledger.errors import InvalidInput
from ledger.events import Role
from ledger.parts import OpaquePart, Part, ReasoningPart, ReturnPart, ToolCallPart

_PROVIDER: Final = "langchain"
_ROLES: Final[dict[str, Role]] = {"human": "user", "ai": "assistant", "system": "system"}
_CHAT_ROLES: Final[dict[str, Role]] = {**_ROLES, "user": "user", "assistant": "assistant", "developer": "system"}
_RETURNS: Final = frozenset({"tool", "function"})
_SPOKEN: Final = frozenset({*_ROLES, *_RETURNS, "chat", "remove"})
_HOLDERS: Final = ("values", "channel_values", "state", "checkpoint", "kwargs", "messages")
_NAMERS: Final = ("config", "configurable", "metadata", "checkpoint")
_REASONING: Final = frozenset({"thinking", "redacted_thinking", "reasoning"})
_MEMBERS: Final = frozenset(
    {"type", "content", "role", "additional_kwargs", "response_metadata", "usage_metadata", "example", "tool_calls"}
    | {"invalid_tool_calls", "tool_call_chunks", "chunk_position", "name", "id"}
)
_RETURNED: Final = frozenset({"tool_call_id", "status"})
_MOST_HOLDERS: Final = 6


class LangChain:
    """The format ``langchain``."""

    name = "langchain"

    def claims(self, value: Node) -> bool:
        """Whether a value is a list of such messages, or holds one where a thread's state does, or is a list of states."""
        return bool(_states(value))

    def conversations(self, value: Node) -> Iterator[Told]:
        """One conversation a thread."""
        latest: dict[str, Node] = {}
        earlier: list[Node] = []
        for number, state in enumerate(_states(value)):
            thread = _thread(state) or f"\0{number}"
            if thread in latest:
                shorter, longer = sorted((latest[thread], state), key=lambda one: len(_messages(one)))
                earlier.append(shorter)
                latest[thread] = longer
            else:
                latest[thread] = state
        for state in latest.values():
            yield Told(source_id=_thread(state), line=state.line, steps=_steps(state, earlier))
            earlier = []


def _steps(state: Node, earlier: list[Node]) -> Callable[[Transcript], Iterator[None]]:
    def steps(transcript: Transcript) -> Iterator[None]:
        for message in _messages(state):
            with transcript.reporting(message.line):
                _record(message, transcript)
            yield
        for other in earlier:
            transcript.leave_out("earlier state of a thread", other.line)
        for holder in (state, *_holders(state)) if state.kind == "object" else ():
            for name, member in holder.members.items():
                if name not in _HOLDERS:
                    transcript.leave_out(f"member {name}", member.line)

    return steps


def _states(value: Node) -> list[Node]:
    if _messages(value):
        return [value]
    many = value.elements if value.kind == "array" else []
    return many if many and all(_messages(element) for element in many) else []


def _messages(value: Node) -> list[Node]:
    """The messages of a state; none where there is no list of them."""
    node = [value, *_holders(value)][-1]
    listed = node if node.kind == "array" else node.get("messages") if node.kind == "object" else None
    found = listed.elements if listed is not None and listed.kind == "array" else []
    kinds = [_kind(message) for message in found]
    return found if any(kind in _ROLES for kind in kinds) and 2 * sum(kind in _SPOKEN for kind in kinds) >= len(kinds) else []


def _holders(value: Node) -> list[Node]:
    """The objects inside one another that lead to the messages of a state, without the state itself."""
    found: list[Node] = []
    node = value
    while node.kind == "object" and len(found) < _MOST_HOLDERS:
        held = (node.get(name) for name in _HOLDERS)
        inner = next((one for one in held if one is not None and one.kind == "object"), None)
        if inner is None or ((listed := node.get("messages")) is not None and listed.kind == "array"):
            break
        found.append(inner)
        node = inner
    return found


def _thread(state: Node) -> str | None:
    places = [state]
    for place in places:
        if place.kind == "object":
            thread = name_or_none(place.get("thread_id"))
            if thread is not None and thread.isprintable():
                return thread
            places += [held for name in _NAMERS if (held := place.get(name)) is not None]
    return None


def _kind(message: Node) -> str | None:
    """What a message is, whatever its way of being written; None for what is none."""
    try:
        kind = string_or_none(message.get("type")) if message.kind == "object" else None
        if kind == "constructor":
            named = message.get("id")
            kind = (
                string_or_none(named.elements[-1]) if named is not None and named.kind == "array" and named.elements else None
            )
        if kind is None or (message.get("role") is not None and kind != "chat"):
            return None
        written = _written(message)
    except InvalidInput:
        return None
    kind = kind.removesuffix("Chunk").removesuffix("Message").lower()
    return kind if kind in _SPOKEN and ("content" in written.members or kind == "remove") else None


def _written(message: Node) -> Node:
    """The object that holds what a message says."""
    for name in ("data", "kwargs"):
        inner = message.get(name)
        if inner is not None and inner.kind == "object" and "content" not in message.members:
            return inner
    return message


def _record(message: Node, transcript: Transcript) -> None:
    kind, written = _kind(message), message if message.kind != "object" else _written(message)
    if kind == "remove":
        transcript.leave_out("message of type remove", message.line)
    elif kind in _RETURNS:
        _record_return(written, transcript)
    elif kind == "chat":
        role = string_or_none(written.get("role"))
        if role not in _CHAT_ROLES:
            raise InvalidInput(f"unknown role {role!r} at {message.path} (known: {', '.join(_CHAT_ROLES)})", path=message.path)
        _record_turn(written, transcript, _CHAT_ROLES[role])
    elif kind is not None:
        _record_turn(written, transcript, _ROLES[kind])
    else:
        known = ", ".join(sorted(_SPOKEN))
        raise InvalidInput(f"no message of LangChain at {message.path} (known types: {known})", path=message.path)


def _about(message: Node) -> About:
    said = _member(message, "response_metadata")
    model = None if said is None else name_or_none(said.get("model_name") or said.get("model"))
    counts = message.get("usage_metadata") or (said and (said.get("token_usage") or said.get("usage")))
    return About(
        name=string_or_none(message.get("name")),
        model=model,
        usage=usage(counts) if counts else None,
        external_id=name_or_none(message.get("id")),
    )


def _record_turn(message: Node, transcript: Transcript, role: Role) -> None:
    parts: list[Part] = []
    nameless: list[ToolCallPart] = []
    if role == "assistant":
        parts += _reasoning(message)
        called, nameless = _calls(message, transcript)
        calls = {part.call_id for part in called if isinstance(part, ToolCallPart)}
        parts += [*_said(message, transcript, calls), *called]
    else:
        parts += content_parts(message.get("content"), transcript)
    parts += _leftovers(message, _MEMBERS)
    transcript.record_turn(role, parts, _about(message))
    for call in nameless:
        transcript.note_nameless(call)


def _record_return(message: Node, transcript: Transcript) -> None:
    tool, given = name_or_none(message.get("name")), name_or_none(message.get("tool_call_id"))
    call_id = given if given is not None else transcript.nameless_call(tool)
    parts: list[ReturnPart] = [*content_parts(message.get("content"), transcript)]
    parts += _leftovers(message, _MEMBERS | _RETURNED)
    failed = string_or_none(message.get("status")) == "error"
    said = About(external_id=name_or_none(message.get("id")))
    transcript.record_return(call_id, parts, said, is_error=failed, tool=tool)


def _reasoning(message: Node) -> Iterator[Part]:
    """Reasoning beside the content, which vendors of OpenAI's shape send."""
    extra = _member(message, "additional_kwargs")
    given = None if extra is None else extra.get("reasoning_content")
    if given is not None:
        yield _opaque_reasoning(given, "openai", "message.reasoning_content")


def _opaque_reasoning(node: Node, provider: str, block: str) -> Part:
    try:
        return ReasoningPart(provider=provider, raw=node.json())
    except InvalidInput:
        return opaque(node, provider=provider, block=block)


def _said(message: Node, transcript: Transcript, calls: Container[str]) -> Iterator[Part]:
    """The content of a model's message, without the blocks that repeat its calls."""
    content = message.get("content")
    if content is None or content.kind != "array":
        yield from content_parts(content, transcript)
        return
    for block in content.elements:
        kind = block_type(block)
        if kind in _REASONING:
            yield _opaque_reasoning(block, "openai" if kind == "reasoning" else "anthropic", kind)
        elif kind not in ("tool_use", "function_call") or not _repeats(block, calls):
            yield from content_part(block, transcript)


def _repeats(block: Node, calls: Container[str]) -> bool:
    return any(string_or_none(block.get(name)) in calls for name in ("id", "call_id"))


def _calls(message: Node, transcript: Transcript) -> tuple[list[Part], list[ToolCallPart]]:
    """The calls of a message, and those that came without an id; one that could not be parsed keeps its text."""
    parts: list[Part] = []
    nameless: list[ToolCallPart] = []
    seen: set[str] = set()
    for node in (*objects_in(message, "tool_calls"), *objects_in(message, "invalid_tool_calls")):
        given, args = node.get("id"), node.get("args")
        call_id = f"call_{transcript.next_turn}_{len(parts)}" if given is None else string_or_none(given)
        text = "" if args is None else args.string() if args.kind == "string" else args.text
        call = tool_call(call_id, string_or_none(node.get("name")), arguments(text))
        if call is None or call.call_id in seen:
            parts.append(opaque(node, provider=_PROVIDER, block="tool_call"))
            continue
        seen.add(call.call_id)
        nameless += [call] if given is None else []
        parts.append(call)
        parts += leftovers(node, {"id", "name", "args", "type"}, provider=_PROVIDER, owner="tool_call")
    return parts, nameless


def _leftovers(message: Node, known: frozenset[str]) -> Iterator[OpaquePart]:
    yield from leftovers(message, known, provider=_PROVIDER, owner="message")
    extra = _member(message, "additional_kwargs")
    if extra is not None:
        told = {"reasoning_content"} | ({"tool_calls"} if objects_in(message, "tool_calls") else set())
        yield from leftovers(extra, told, provider=_PROVIDER, owner="additional_kwargs")


def _member(message: Node, name: str) -> Node | None:
    found = message.get(name)
    return found if found is not None and found.kind == "object" else None
