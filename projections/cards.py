"""What a turn costs, counted once: numbers that do not depend on a policy, and on no form of a provider.

A price made of them is never less than what is counted in the rendered request, and at most a few tokens a message more. So
a window is planned by adding numbers, and a process that only reads needs no tokenizer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ledger.events import Role
from ledger.json_text import JsonText
from ledger.parts import DocumentPart, ImagePart, JsonPart, OpaquePart, ReasoningPart, TextPart, ToolCallPart, Unparsed
from projections.pieces import is_text_document, media_note
from projections.policy import Policy
from projections.render.identifiers import id_spellings, name_spellings
from projections.render.renderer import well_formed_json
from projections.state_block import Count
from projections.transcript import Turn

_TEXT_DOCUMENT: Final = 8  # what the form with the most fields adds to the text of a document


@dataclass(frozen=True, slots=True)
class Contents:
    """Tokens of texts and encoded reasoning, and how many pictures and documents there are that are not text.

    ``parts`` counts the parts, ``foreign`` holds (provider, tokens) of blocks that only that provider is shown, ``reasoning``
    the same of its reasoning.
    """

    tokens: int = 0
    parts: int = 0
    pictures: int = 0
    documents: int = 0
    foreign: tuple[tuple[str, int], ...] = ()
    reasoning: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ResultCard:
    """What a tool's result costs; ``version`` is that of its event, ``call_tokens`` are those of the call that it names."""

    version: int
    contents: Contents
    call_tokens: int
    is_error: bool


@dataclass(frozen=True, slots=True)
class Card:
    """What a turn costs with all that its calls returned.

    ``calls`` is how many tools it calls, ``open_tokens`` are those that name its calls without a result once more.
    """

    number: int
    version: int
    role: Role
    contents: Contents
    calls: int
    results: tuple[ResultCard, ...]
    open_tokens: int = 0

    @property
    def open_calls(self) -> int:
        """How many of its calls have no result yet."""
        return self.calls - len(self.results)


def card_of(turn: Turn, count: Count, documents: Mapping[str, bytes]) -> Card:
    """The card of a turn. ``documents`` has the bytes of its text documents, by hash."""
    calls = {call.call_id: _named_tokens(call, turn.number, count) for call in turn.calls}
    answers = [found for found in map(turn.answer_to, calls) if found is not None]
    said = contents_of(turn.parts, count, documents)
    waiting = sum(calls.values()) - sum(calls[found.call_id] for found in answers)
    return Card(
        turn.number,
        turn.version,
        turn.role,
        replace(said, tokens=said.tokens + sum(calls.values())),
        len(calls),
        tuple(
            ResultCard(found.version, contents_of(found.parts, count, documents), calls[found.call_id], found.is_error)
            for found in answers
        ),
        waiting,
    )


def contents_of(parts: Iterable[Any], count: Count, documents: Mapping[str, bytes]) -> Contents:
    """What parts cost; of calls only what they ask for, since their names are counted with their turn."""
    tokens = number = pictures = others = 0
    foreign: dict[str, int] = {}
    reasoning: dict[str, int] = {}
    for part in parts:
        number += 1
        match part:
            case ReasoningPart(provider=provider, raw=raw):
                reasoning[provider] = reasoning.get(provider, 0) + count(raw)
            case OpaquePart(provider=provider, raw=raw, block=block):
                foreign[provider] = foreign.get(provider, 0) + count(raw)
                tokens += count(f"[unsupported block: {block}]")
            case DocumentPart() if is_text_document(part):
                text = documents.get(part.sha256 or "", b"").decode("utf-8", "replace")
                tokens += max(count(text) + _TEXT_DOCUMENT, count(media_note(part)))
            case ImagePart():
                pictures += 1
                tokens += count(media_note(part))
            case DocumentPart():
                others += 1
                tokens += count(media_note(part)) + count(part.name or "")
            case _:
                tokens += _text_tokens(part, count)
    return Contents(tokens, number, pictures, others, tuple(sorted(foreign.items())), tuple(sorted(reasoning.items())))


def _text_tokens(part: Any, count: Count) -> int:
    match part:
        case TextPart(text=text):
            return count(text)
        case JsonPart(value=value):
            return count(value)
        case ToolCallPart(arguments=arguments):
            return _argument_tokens(arguments, count)
        case _:
            return count(str(part))


def _argument_tokens(arguments: JsonText | Unparsed, count: Count) -> int:
    if isinstance(arguments, Unparsed):
        return count(arguments.unparsed)
    mended = well_formed_json(arguments)
    return count(arguments) if mended == arguments else max(count(arguments), count(mended))


def _named_tokens(call: ToolCallPart, number: int, count: Count) -> int:
    """What it costs to name a call: its id and its tool, in the dearest spelling that a form may need."""
    ids, names = id_spellings(call.call_id, number), name_spellings(call.tool)
    return max(map(count, ids)) + max(map(count, names))
