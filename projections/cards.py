"""What a turn costs, counted once: numbers that do not depend on a policy, and on no form of a provider.

A price made of them is never less than what is counted in the rendered request, and at most a few tokens a message more. So
a window is planned by adding numbers, and a process that only reads needs no tokenizer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ledger.events import Role
from ledger.json_text import JsonText
from ledger.parts import DocumentPart, ImagePart, JsonPart, OpaquePart, ReasoningPart, TextPart, ToolCallPart, Unparsed
from projections.pieces import is_text_document
from projections.state_block import Count
from projections.transcript import Return, Turn

_NOT_PLAIN: Final = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class Contents:
    """Tokens of texts and encoded reasoning, and how many pictures and documents there are that are not text.

    ``parts`` counts the parts, ``foreign`` holds (provider, tokens) of what only that provider is shown.
    """

    tokens: int = 0
    parts: int = 0
    pictures: int = 0
    documents: int = 0
    foreign: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ResultCard:
    """What a tool's result costs; ``version`` is that of its event, ``call_tokens`` are those of the id that it answers."""

    version: int
    contents: Contents
    call_tokens: int
    is_error: bool


@dataclass(frozen=True, slots=True)
class Card:
    """What a turn costs with all that its calls returned; ``calls`` is how many tools it calls."""

    number: int
    version: int
    role: Role
    contents: Contents
    calls: int
    results: tuple[ResultCard, ...]

    @property
    def open_calls(self) -> int:
        """How many of its calls have no result yet."""
        return self.calls - len(self.results)


def card_of(turn: Turn, count: Count, documents: Mapping[str, bytes]) -> Card:
    """The card of a turn. ``documents`` has the bytes of its text documents, by hash."""
    results = tuple(
        ResultCard(
            found.version,
            contents_of(found.parts, count, documents),
            _name_tokens(found.call_id, count),
            found.is_error,
        )
        for found in _answers(turn)
    )
    return Card(turn.number, turn.version, turn.role, contents_of(turn.parts, count, documents), len(turn.calls), results)


def contents_of(parts: Iterable[Any], count: Count, documents: Mapping[str, bytes]) -> Contents:
    """What parts cost."""
    tokens = number = pictures = others = 0
    foreign: dict[str, int] = {}
    for part in parts:
        number += 1
        match part:
            case ReasoningPart(provider=provider, raw=raw):
                foreign[provider] = foreign.get(provider, 0) + count(raw)
            case OpaquePart(provider=provider, raw=raw, block=block):
                foreign[provider] = foreign.get(provider, 0) + count(raw)
                tokens += count(f"[unsupported block: {block}]")
            case DocumentPart() if is_text_document(part):
                tokens += count(documents.get(part.sha256 or "", b"").decode("utf-8", "replace")) + _note_tokens(part, count)
            case ImagePart():
                pictures += 1
                tokens += _note_tokens(part, count)
            case DocumentPart():
                others += 1
                tokens += _note_tokens(part, count)
            case _:
                tokens += _text_tokens(part, count)
    return Contents(tokens, number, pictures, others, tuple(sorted(foreign.items())))


def _answers(turn: Turn) -> list[Return]:
    """The results that answer a call of the turn, each call's first."""
    found = (turn.answer_to(call.call_id) for call in turn.calls)
    return [returned for returned in found if returned is not None]


def _text_tokens(part: Any, count: Count) -> int:
    match part:
        case TextPart(text=text):
            return count(text)
        case JsonPart(value=value):
            return count(value)
        case ToolCallPart(call_id=call_id, tool=tool, arguments=arguments):
            return _name_tokens(call_id, count) + _name_tokens(tool, count) + _argument_tokens(arguments, count)
        case _:
            return count(str(part))


def _argument_tokens(arguments: JsonText | Unparsed, count: Count) -> int:
    return count(arguments.unparsed) if isinstance(arguments, Unparsed) else count(arguments)


def _name_tokens(name: str, count: Count) -> int:
    """A name or an id, which a form may have to write otherwise: the dearer of both, and room for a number behind it."""
    return max(count(name), count(_NOT_PLAIN.sub("_", name))) + 2


def _note_tokens(part: ImagePart | DocumentPart, count: Count) -> int:
    """What it costs to name a picture or document, where a form has no place for it."""
    where = f"sha256={part.sha256}" if part.sha256 is not None else f"url={part.url}"
    return count(f"[{part.type} {part.media_type or 'of unknown type'}: {where}]") + 2
