"""How the request of each form is read; what it is made of stands in the providers' references."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from projections.invariants.shapes import Block, Message, Shape
from projections.render.renderer import plain

_THINKING: Final = frozenset({"thinking", "redacted_thinking"})
_MEDIA: Final = frozenset({"image", "document", "image_url", "file", "input_audio", "input_image", "input_file"})
_TEXTS: Final = frozenset({"text", "input_text", "output_text"})


def openai_shape(request: Mapping[str, Any]) -> Shape:
    """The shape of a request to Chat Completions."""
    messages = tuple(_chat_message(value, f"messages[{at}]") for at, value in enumerate(request.get("messages", ())))
    return Shape((), messages, _beside(request, "messages"))


def responses_shape(request: Mapping[str, Any]) -> Shape:
    """The shape of a request to Responses: each item is a message of its own."""
    items = tuple(_item(value, f"input[{at}]") for at, value in enumerate(request.get("input", ())))
    return Shape(_system(request, "instructions"), items, _beside(request, "input", "instructions"))


def anthropic_shape(request: Mapping[str, Any]) -> Shape:
    """The shape of a request to Messages."""
    messages = []
    for at, value in enumerate(request.get("messages", ())):
        path = f"messages[{at}]"
        messages.append(Message(value.get("role", ""), path, tuple(_blocks(value.get("content"), f"{path}.content"))))
    return Shape(_system(request, "system"), tuple(messages), _beside(request, "messages", "system"))


def gemini_shape(request: Mapping[str, Any]) -> Shape:
    """The shape of a request to ``generateContent``: ``model`` is an assistant, a content of nothing but results a tool."""
    messages = []
    for at, value in enumerate(request.get("contents", ())):
        path = f"contents[{at}]"
        parts = tuple(_gemini_part(part, f"{path}.parts[{i}]") for i, part in enumerate(value.get("parts", ())))
        is_answer = bool(parts) and all(part.kind == "result" for part in parts)
        role = "tool" if is_answer and value.get("role") == "user" else value.get("role", "")
        messages.append(Message("assistant" if role == "model" else role, path, parts))
    system = request.get("systemInstruction", {}).get("parts", ())
    texts = tuple(_gemini_part(part, f"systemInstruction.parts[{i}]") for i, part in enumerate(system))
    return Shape(texts, tuple(messages), _beside(request, "contents", "systemInstruction"))


def _system(request: Mapping[str, Any], name: str) -> tuple[Block, ...]:
    """The system texts; a list of none is an empty text."""
    return tuple(_blocks(request[name] or "", name)) if name in request else ()


def _beside(request: Mapping[str, Any], *read: str) -> tuple[str, ...]:
    return tuple(name for name in request if name not in read)


def _chat_message(message: Mapping[str, Any], path: str) -> Message:
    role = "system" if message.get("role") == "developer" else message.get("role", "")
    said = tuple(_blocks(message.get("content"), f"{path}.content"))
    if role == "tool":
        return Message(role, path, (_result(message, said, path, message.get("tool_call_id")),))
    listed = message.get("tool_calls", ()) or ([{}] if "tool_calls" in message else ())  # a list of none is a call of nothing
    calls = (_chat_call(call, f"{path}.tool_calls[{at}]") for at, call in enumerate(listed))
    return Message(role, path, (*said, *calls))


def _chat_call(call: Mapping[str, Any], path: str) -> Block:
    function = call.get("function", {}) if call.get("type") == "function" else {}
    name, arguments = function.get("name"), function.get("arguments")
    return Block(kind="call", path=path, value=call, id=call.get("id"), name=name, arguments=arguments)


def _item(value: Any, path: str) -> Message:
    item = plain(value)
    kind = item.get("type", "message")
    if kind == "message":
        return Message(item.get("role", ""), path, tuple(_blocks(item.get("content"), f"{path}.content")))
    if kind == "function_call":
        call = Block(
            kind="call", path=path, value=value, id=item.get("call_id"), name=item.get("name"), arguments=item.get("arguments")
        )
        return Message("assistant", path, (call,))
    if kind == "function_call_output":
        inner = tuple(_blocks(item.get("output"), f"{path}.output"))
        return Message("tool", path, (_result(item, inner, path, item.get("call_id")),))
    return Message("assistant", path, (Block(kind="reasoning" if kind == "reasoning" else "opaque", path=path, value=value),))


def _blocks(content: Any, path: str) -> Iterator[Block]:
    """The blocks of a content: a text is one block, nothing is none."""
    if isinstance(content, str):
        yield Block(kind="text", path=path, value=content, text=str(content))
    elif content is not None:
        yield from (_block(block, f"{path}[{at}]") for at, block in enumerate(content))


def _block(value: Any, path: str) -> Block:
    block = plain(value)
    kind, is_marked = block.get("type"), "cache_control" in block
    if kind in _TEXTS:
        return Block(kind="text", path=path, value=value, text=block.get("text"), is_marked=is_marked)
    if kind == "tool_use":
        return Block(
            kind="call",
            path=path,
            value=value,
            id=block.get("id"),
            name=block.get("name"),
            arguments=block.get("input"),
            is_marked=is_marked,
        )
    if kind == "tool_result":
        inner = tuple(_blocks(block.get("content"), f"{path}.content"))
        return _result(block, inner, path, block.get("tool_use_id"))
    if kind in _THINKING:
        return Block(kind="reasoning", path=path, value=value, is_marked=is_marked)
    return Block(kind="media" if kind in _MEDIA else "opaque", path=path, value=value, is_marked=is_marked)


def _result(value: Mapping[str, Any], inner: tuple[Block, ...], path: str, call_id: Any) -> Block:
    return Block(
        kind="result",
        path=path,
        value=value,
        id=call_id,
        inner=inner,
        is_error=bool(value.get("is_error")),
        is_marked="cache_control" in value,
    )


def _gemini_part(value: Any, path: str) -> Block:
    part = plain(value)
    match part:
        case {"functionCall": call}:
            return Block(
                kind="call", path=path, value=value, id=call.get("id"), name=call.get("name"), arguments=call.get("args")
            )
        case {"functionResponse": answer}:
            said = answer.get("response")
            inner = (Block(kind="text", path=path, value=said, text=_told(said)),)
            failed = isinstance(said, dict) and "error" in said
            return Block(
                kind="result",
                path=path,
                value=value,
                id=answer.get("id"),
                name=answer.get("name"),
                inner=inner,
                is_error=failed,
                arguments=said,
            )
        case {"inlineData": _} | {"fileData": _}:
            return Block(kind="media", path=path, value=value)
        case {"thought": True} | {"text": "", "thoughtSignature": _}:
            return Block(kind="reasoning", path=path, value=value)
        case {"text": text}:
            return Block(kind="text", path=path, value=value, text=text)
        case _:
            return Block(kind="opaque", path=path, value=value)


def _told(response: Any) -> str:
    """What a response says, as a text that is empty where it says nothing."""
    if not isinstance(response, dict) or not response:
        return ""
    told = next(iter(response.values()))
    return told if isinstance(told, str) else str(response)
