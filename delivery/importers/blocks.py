"""What the formats share in turning a vendor's blocks into parts: names, arguments, inline bytes, and what
nobody knows.

Nothing that a message holds is dropped, unless the format says so by name. What no part has a field for stays
beside the part as an ``OpaquePart`` whose ``block`` has a dot: ``text.citations`` is the member ``citations``
of a text block, ``message.refusal`` a member of the message itself; ``raw`` is the member's value. A
``block`` without a dot is a whole block of the provider's type, and ``raw`` is the block.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from delivery.importers.source import Node, is_empty, string_or_none, whole_number
from ledger.errors import InvalidInput
from ledger.json_text import JsonText, has_lone_surrogate
from ledger.limits import MAX_NAME_CHARACTERS
from ledger.parts import OpaquePart, TextPart, ToolCallPart, Unparsed, Usage

UNKNOWN: Final = "unknown"
"""The ``block`` of a value that does not say its type."""

UNPARSED: Final = "unparsed"
"""The ``block`` of a value that the ledger does not take as JSON (a key stands twice); ``raw`` is its text,
as a JSON string.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a message says about itself, and the members in which it says so."""

    name: str | None = None
    model: str | None = None
    usage: Usage | None = None
    external_id: str | None = None
    said_at: datetime | None = None
    members: frozenset[str] = frozenset()


def is_name(text: str | None) -> bool:
    """Whether a text can be an id or a name in the ledger."""
    return text is not None and 0 < len(text) <= MAX_NAME_CHARACTERS and not has_lone_surrogate(text)


def name_or_none(node: Node | None) -> str | None:
    """The text of a string that can be an id or a name in the ledger; None for anything else."""
    text = string_or_none(node)
    return text if is_name(text) else None


def block_type(node: Node) -> str:
    """The provider's type of a block; ``UNKNOWN`` where it has none, ``UNPARSED`` where a key stands
    twice.
    """
    try:
        kind = name_or_none(node.get("type")) if node.kind == "object" else None
    except InvalidInput:
        return UNPARSED
    return kind or UNKNOWN


def opaque(node: Node, *, provider: str, block: str) -> OpaquePart:
    """A value that only its provider understands, byte for byte."""
    try:
        return OpaquePart(provider=provider, block=block if is_name(block) else UNKNOWN, raw=node.json())
    except InvalidInput:
        return OpaquePart(provider=provider, block=UNPARSED, raw=JsonText.of(node.text))


def leftovers(node: Node, known: Collection[str], *, provider: str, owner: str) -> Iterator[OpaquePart]:
    """The members of a block or a message that no part has a field for; those that say nothing are left
    out.
    """
    for name, value in node.members.items():
        if name not in known and not is_empty(value):
            yield opaque(value, provider=provider, block=f"{owner}.{name}")


def text_parts(text: str) -> tuple[TextPart, ...]:
    """The text of a message, unchanged; an empty text is no part."""
    return (TextPart(text=text),) if text else ()


def arguments(text: str) -> JsonText | Unparsed:
    """Arguments as the model wrote them: JSON with all its white space, or what is not JSON."""
    try:
        checked = JsonText.parse(text)
    except InvalidInput:
        return Unparsed(unparsed=text)
    return checked if has_lone_surrogate(text) else JsonText(text)


def members_text(members: Mapping[str, Node]) -> JsonText | Unparsed:
    """Members of an object as an object of their own, each value as it was written."""
    return arguments("{" + ", ".join(f"{json.dumps(name)}: {value.text}" for name, value in members.items()) + "}")


def tool_call(call_id: str | None, tool: str | None, given: JsonText | Unparsed) -> ToolCallPart | None:
    """A call, if its id and the tool's name can be names in the ledger."""
    if call_id is None or tool is None or not (is_name(call_id) and is_name(tool)):
        return None
    return ToolCallPart(call_id=call_id, tool=tool, arguments=given)


def base64_bytes(text: str | None) -> bytes | None:
    """The bytes of base64 text; None unless writing them again gives the same text, because then the text
    must be kept.
    """
    if text is None:
        return None
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode("ascii") == text else None


_COUNTS: Final = ("input_tokens", "prompt_tokens", "output_tokens", "completion_tokens")


def usage(node: Node) -> Usage | None:
    """Token counts as a provider reports them, with all that it says besides; None for what is none."""
    if node.kind != "object":
        return None
    try:
        raw = node.json()
    except InvalidInput:
        return None
    given = [node.get(name) for name in _COUNTS]
    counts = [whole_number(count) for count in given]
    return Usage(
        input_tokens=counts[0] if given[0] else counts[1],
        output_tokens=counts[2] if given[2] else counts[3],
        raw=raw,
    )


def _time(node: Node) -> datetime | None:
    """A time with a zone; any other stays a leftover, because the ledger would have to guess."""
    try:
        moment = datetime.fromisoformat(string_or_none(node) or "")
    except ValueError:
        return None
    # In the first and the last year an offset may lead out of the calendar.
    return None if moment.tzinfo is None or not 1 < moment.year < 9999 else moment


_READERS: Final[dict[str, tuple[str, Any]]] = {
    "name": ("name", string_or_none),
    "model": ("model", name_or_none),
    "usage": ("usage", usage),
    "id": ("external_id", name_or_none),
    "timestamp": ("said_at", _time),
    "created_at": ("said_at", _time),
}

SAID: Final = frozenset(_READERS)
"""Members of a message that a turn has fields for."""

CONVERSATION_IDS: Final = ("conversation_id", "session_id", "thread_id")
"""Members of a message that name its conversation: they become the ledger's name, and are not repeated in
each turn.
"""

RETURNED: Final = frozenset({"id", "timestamp", "created_at"})
"""Members of a message that a tool's return has fields for."""


def about(message: Node, among: frozenset[str]) -> About:
    """What a message says about itself in the members ``among``; a member that cannot be used is not listed
    in ``members``.
    """
    found: dict[str, Any] = {}
    members = set(CONVERSATION_IDS)
    for member, (field, read) in _READERS.items():
        node = message.get(member) if member in among and field not in found else None
        value = None if node is None else read(node)
        if value is not None:
            found[field] = value
            members.add(member)
    return About(members=frozenset(members), **found)
