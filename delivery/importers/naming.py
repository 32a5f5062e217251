"""The ledger of an imported conversation: the source's id for it, else a digest of how it begins.

The digest is SHA-256 over a list of fields, each written as its length in bytes (8 bytes, big endian) and its
bytes, so that no two lists have the same encoding. Text is UTF-8, lone surrogates as three bytes each. The
fields, in order:

1. ``context-ledger/import-name/1``;
2. the number of parts of the system text (every system turn before the first user turn), then for each part
   its ``type`` and its content;
3. the same for the first user turn; where no user speaks, 0 parts and then the same for the assistant's first turn;
4. the ordinal, from 0, of the conversation among those of its file that begin alike.

Numbers are written in decimal. The content of a text part is its text, of an image or document its SHA-256 or
URL, of any other part the source text of its JSON. The encoding never changes: a name must be found again by
every later release.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from ledger.events import Event, TurnRecorded
from ledger.parts import (
    DocumentPart,
    ImagePart,
    JsonPart,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
)

_DOMAIN: Final = "context-ledger/import-name/1"
_DIGITS: Final = 16


class Names:
    """Names the conversations of one file, in their order; ones that begin alike get different ordinals."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def name(self, source_id: str | None, events: Iterable[Event]) -> str:
        """The source's id, else ``conv-`` and 16 hexadecimal digits."""
        if source_id is not None:
            return source_id
        beginning = beginning_of(events)
        key = _digest(beginning)
        ordinal = self._seen[key]
        self._seen[key] += 1
        return f"conv-{_digest([*beginning, str(ordinal)])[:_DIGITS]}"


def beginning_of(events: Iterable[Event]) -> list[str]:
    """The fields 1 to 3: how a conversation begins, up to and with its first user turn."""
    system: list[Part] = []
    assistant: Sequence[Part] | None = None
    for event in events:
        if not isinstance(event, TurnRecorded):
            continue
        if event.role == "user":
            return [_DOMAIN, *_fields(system), *_fields(event.parts)]
        if event.role == "system":
            system += event.parts
        elif assistant is None:
            assistant = event.parts
    return [_DOMAIN, *_fields(system), *_fields(()), *_fields(assistant or ())]


def _fields(parts: Sequence[Part]) -> list[str]:
    pairs = [(part.type, _content(part)) for part in parts]
    return [str(len(parts)), *(field for pair in pairs for field in pair)]


def _content(part: Part) -> str:
    match part:
        case TextPart():
            return part.text
        case ImagePart() | DocumentPart():
            return part.sha256 or part.url or ""
        case JsonPart():
            return part.value
        case ReasoningPart() | OpaquePart():
            return part.raw
        case ToolCallPart():
            return str(part.arguments)


def _digest(fields: Iterable[str]) -> str:
    hashed = hashlib.sha256()
    for field in fields:
        data = field.encode("utf-8", "surrogatepass")
        hashed.update(len(data).to_bytes(8, "big"))
        hashed.update(data)
    return hashed.hexdigest()
