"""What a provider accepts, written from the providers' documentation and not from our renderers.

Each rule is a small class. ``faults`` yields a sentence for everything that the provider would refuse.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
PICTURES = {"image/jpeg", "image/png", "image/gif", "image/webp"}
THINKING = {"thinking", "redacted_thinking"}


@dataclass(frozen=True)
class Sent:
    """A request as it goes out: plain values, the same as bytes, and the reasoning that the record holds."""

    request: Mapping[str, Any]
    encoded: bytes
    reasoning: frozenset[str] = frozenset()

    @classmethod
    def of(cls, request: Mapping[str, Any], *, reasoning: frozenset[str] = frozenset()) -> Sent:
        """A request that was written by hand."""
        return cls(request, json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode(), reasoning)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Its messages."""
        return list(self.request["messages"])


class Rule(Protocol):
    """One thing that a provider demands."""

    def faults(self, sent: Sent) -> Iterator[str]:
        """A sentence for each place that breaks the rule."""
        ...


def faults_of(sent: Sent, form: str) -> list[str]:
    """Everything that the provider of a form would refuse in a request."""
    return [f"{type(rule).__name__}: {fault}" for rule in RULES[form] for fault in rule.faults(sent)]


def blocks_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The content of a message as blocks; a text is one text block."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content or [])


def _all_blocks(sent: Sent) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every block with the role of its message, those inside tool results too."""
    for message in sent.messages:
        for block in blocks_of(message):
            yield message["role"], block
            if block["type"] == "tool_result":
                yield from ((message["role"], inner) for inner in blocks_of(block))


class HasMessages:
    """There is at least one message, and only known keys stand beside them."""

    def faults(self, sent: Sent) -> Iterator[str]:
        """See ``Rule``."""
        if not sent.messages:
            yield "no messages"
        yield from (f"unknown key {key}" for key in sent.request if key not in ("messages", "system"))


class IsUnicode:
    """The bytes are JSON in UTF-8 that a strict parser takes: no lone surrogate, not even as an escape."""

    def faults(self, sent: Sent) -> Iterator[str]:
        """See ``Rule``."""
        try:
            json.dumps(json.loads(sent.encoded, parse_int=str), ensure_ascii=False).encode()
            json.dumps(sent.request, ensure_ascii=False, allow_nan=False).encode()
        except ValueError as error:
            yield str(error)


class OpenAIRoles:
    """Known roles; system texts stand first and nowhere else; nothing of another form stands beside the messages."""

    def faults(self, sent: Sent) -> Iterator[str]:
        """See ``Rule``."""
        roles = [message["role"] for message in sent.messages]
        yield from (f"role {role}" for role in roles if role not in ("system", "user", "assistant", "tool"))
        talk = [place for place, role in enumerate(roles) if role != "system"]
        if "system" in roles[talk[0] if talk else 0 :] and talk:
            yield "system text after the talk began"
        if "user" not in roles:
            yield "no user message"
        if "system" in sent.request:
            yield "system beside the messages"


class OpenAICallsAreAnswered:
    """Every call is answered at once, by exactly one tool message; no tool message stands elsewhere."""

    def faults(self, sent: Sent) -> Iterator[str]:
        """See ``Rule``."""
        waiting: list[str] = []
        for place, message in enumerate(sent.messages):
            if message["role"] == "tool":
                if message["tool_call_id"] not in waiting:
                    yield f"message {place} answers no waiting call"
                else:
                    waiting.remove(message["tool_call_id"])
                continue
            if waiting:
                yield f"calls {waiting} wait still at message {place}"
            waiting = [call["id"] for call in message.get("tool_calls", ())]
        if waiting:
            yield f"calls {waiting} are never answered"


class OpenAICalls:
    """Only assistants call; ids are unique and short, names plain, arguments a text, a list of calls is never empty."""

    def faults(self, sent: Sent) -> Iterator[str]:
        """See ``Rule``."""
        calls = [call for message in sent.messages for call in message.get("tool_calls", ())]
        ids = [call["id"] for call in calls]
        yield from (f"id {name} twice" for name in sorted(set(ids)) if ids.count(name) > 1)
        yield from (f"id {name!r}" for name in ids if not 0 < len(name) <= 40)
        for call in calls:
            if call.get("type") != "function" or not TOOL_NAME.fullmatch(call["function"]["name"]):
                yield f"function {call['function']['name']!r}"
            if not isinstance(call["function"]["arguments"], str):
                yield f"arguments of {call['id']} are no text"
        for message in sent.messages:
            if "tool_calls" in message and (message["role"] != "assistant" or not message["tool_calls"]):
                yield f"tool_calls in a {message['role']} message, or empty"


class OpenAIContent:
    """Nothing is empty or white space; only an assistant that calls tools may say null; every block fits its role."""

    def faults(self, sent: Sent) -> Iterator[str]:
        """See ``Rule``."""
        for place, message in enumerate(sent.messages):
            content = message.get("content")
            if content is None and not message.get("tool_calls"):
                yield f"message {place} says null and calls nothing"
            elif content is not None and not blocks_of(message):
                yield f"message {place} is empty"
            for block in blocks_of(message):
                yield from self._block(place, message["role"], block)

    def _block(self, place: int, role: str, block: Mapping[str, Any]) -> Iterator[str]:
        allowed = {"user": ("text", "image_url", "file", "input_audio"), "assistant": ("text", "refusal")}
        if block["type"] not in allowed.get(role, ("text",)):
            yield f"{block['type']} in a {role} message"
        if block["type"] == "text" and not block["text"].strip():
            yield f"white space in message {place}"
        if block["type"] == "image_url" and not _is_picture_url(block["image_url"]["url"]):
            yield f"picture {block['image_url']['url'][:40]}"
        if block["type"] == "file" and not re.match(r"data:[^;]+;base64,.", block["file"]["file_data"]):
            yield "empty file"


class UsersDoNotFollowUsers:
    """No two user messages stand side by side: some models refuse them."""

    def faults(self, sent: Sent) -> Iterator[str]:
        """See ``Rule``."""
        roles = [message["role"] for message in sent.messages]
        for place, pair in enumerate(pairwise(roles)):
            if pair == ("user", "user"):
                yield f"messages {place} and {place + 1}"


class AnthropicRoles:
    """User and assistant alternate, beginning and ending with the user; system text stands beside the messages, not empty."""

    def faults(self, sent: Sent) -> Iterator[str]:
        """See ``Rule``."""
        roles = [message["role"] for message in sent.messages]
        yield from (f"role {role}" for role in roles if role not in ("user", "assistant"))
        yield from (f"{role} twice" for role, after in pairwise(roles) if role == after)
        if roles and (roles[0] != "user" or roles[-1] != "user"):
            yield f"from {roles[0]} to {roles[-1]}"
        if "system" in sent.request:
            texts = [block["text"] for block in blocks_of({"content": sent.request["system"]})]
            if not texts or not all(text.strip() for text in texts):
                yield "empty system text"


class AnthropicCallsAreAnswered:
    """The message after a call answers each of its calls exactly once, before anything else; no result stands elsewhere."""

    def faults(self, sent: Sent) -> Iterator[str]:
        """See ``Rule``."""
        called: list[str] = []
        for place, message in enumerate(sent.messages):
            blocks = blocks_of(message)
            answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
            if sorted(answered) != sorted(called):
                yield f"message {place} answers {answered}, asked was {called}"
            if any(block["type"] != "tool_result" for block in blocks[: len(answered)]):
                yield f"message {place} does not begin with its results"
            called = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if called:
            yield f"{called} are never answered"


class AnthropicCalls:
    """Ids are unique and plain, names plain, input an object."""

    def faults(self, sent: Sent) -> Iterator[str]:
        """See ``Rule``."""
        calls = [(role, block) for role, block in _all_blocks(sent) if block["type"] == "tool_use"]
        ids = [block["id"] for _, block in calls]
        yield from (f"id {name} twice" for name in sorted(set(ids)) if ids.count(name) > 1)
        yield from (f"id {name!r}" for name in ids if not CALL_ID.fullmatch(name))
        for role, block in calls:
            if role != "assistant" or not TOOL_NAME.fullmatch(block["name"]) or not isinstance(block["input"], dict):
                yield f"call {block['id']} of {block['name']!r} by {role}"


class AnthropicContent:
    """Nothing is empty; pictures and documents are of a kind that is taken; the result of a failed call is text alone."""

    def faults(self, sent: Sent) -> Iterator[str]:
        """See ``Rule``."""
        for place, message in enumerate(sent.messages):
            if not blocks_of(message):
                yield f"message {place} is empty"
        for role, block in _all_blocks(sent):
            if block["type"] == "text" and not block["text"].strip():
                yield "white space"
            if block["type"] in ("image", "document") and (role != "user" or not _is_source(block)):
                yield f"{block['type']} of {role}: {str(block.get('source'))[:60]}"
            if block["type"] == "tool_result":
                kinds = {inner["type"] for inner in blocks_of(block)}
                if not kinds or (block.get("is_error") and kinds != {"text"}):
                    yield f"result with {kinds or 'nothing'}"


class AnthropicThinking:
    """Reasoning stands in assistant messages alone, byte for byte as it was recorded, and is never a message's last block."""

    def faults(self, sent: Sent) -> Iterator[str]:
        """See ``Rule``."""
        raws = {raw: json.loads(raw) for raw in sent.reasoning}
        for message in sent.messages:
            blocks = blocks_of(message)
            for block in (block for block in blocks if block["type"] in THINKING):
                same = [raw for raw, value in raws.items() if value == block]
                if not any(raw.encode() in sent.encoded for raw in same):
                    yield f"not as recorded: {str(block)[:60]}"
                if message["role"] != "assistant":
                    yield f"reasoning of {message['role']}"
            if message["role"] == "assistant" and blocks and blocks[-1]["type"] in THINKING:
                yield "reasoning at the end"


def _is_picture_url(url: str) -> bool:
    data = re.match(r"data:([^;,]+);base64,.", url)
    return data[1] in PICTURES if data else re.match(r"https?://.", url) is not None


def _is_source(block: Mapping[str, Any]) -> bool:
    match block.get("source"):
        case {"type": "base64", "media_type": kind, "data": data}:
            return bool(data) and kind in (PICTURES if block["type"] == "image" else {"application/pdf"})
        case {"type": "text", "media_type": "text/plain", "data": data}:
            return block["type"] == "document" and bool(data.strip())
        case {"type": "url", "url": url}:
            return re.match(r"https?://.", url) is not None
        case _:
            return False


RULES: dict[str, tuple[Rule, ...]] = {
    "openai": (
        HasMessages(),
        IsUnicode(),
        OpenAIRoles(),
        OpenAICallsAreAnswered(),
        OpenAICalls(),
        OpenAIContent(),
        UsersDoNotFollowUsers(),
    ),
    "anthropic": (
        HasMessages(),
        IsUnicode(),
        AnthropicRoles(),
        AnthropicCallsAreAnswered(),
        AnthropicCalls(),
        AnthropicContent(),
        AnthropicThinking(),
    ),
}
"""The rules of each form."""
