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
from ledger.parts import DocumentPart, ImagePart, JsonPart, OpaquePart, ReasoningPart, TextPart, ToolCallPart, Unparsed, Usage
from projections.compacting.cut_tokens import cut_tokens
from projections.compacting.cuts import has_names, whole_text
from projections.compacting.middle_text import exact_line
from projections.compacting.outlines import carried_along, outline, strings_of
from projections.measured import measured
from projections.pieces import is_text_document, media_note
from projections.render.identifiers import id_spellings, name_spellings
from projections.sendable import unparsed_object, well_formed_json
from projections.state_block import Count
from projections.transcript import Return, Turn

_CACHED: Final = ("cache_read_input_tokens", "cache_creation_input_tokens")  # counted beside ``input_tokens`` by one vendor
_TEXT_DOCUMENT: Final = 8  # what the form with the most fields adds to the text of a document


@dataclass(frozen=True, slots=True)
class Contents:
    """Tokens of texts and encoded reasoning, and how many pictures and documents there are that are not text.

    ``parts`` counts the parts, ``foreign`` holds (provider, tokens) of blocks that only that provider is shown, ``reasoning``
    the same of its reasoning. ``note`` are the tokens of the longest text that names one of the pictures and documents.
    """

    tokens: int = 0
    parts: int = 0
    pictures: int = 0
    documents: int = 0
    foreign: tuple[tuple[str, int], ...] = ()
    reasoning: tuple[tuple[str, int], ...] = ()
    note: int = 0


@dataclass(frozen=True, slots=True)
class ResultCard:
    """What the result of a ``tool`` costs, and what it costs as a text that is cut to each step (``cuts.step_characters``).

    ``version`` is that of its event, ``call_tokens`` are those of the call that it names. Where a result has pictures and the
    like, which its text only names, the last of ``cuts`` is the whole text.
    """

    version: int
    contents: Contents
    call_tokens: int
    is_error: bool
    tool: str
    cuts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """What a turn costs with all that its calls returned.

    ``calls`` is how many tools it calls, ``open_tokens`` are those that name its calls without a result once more,
    ``id_tokens`` those of the ids of all its calls, which are part of the rest twice. ``line_tokens`` are what its outline
    costs, ``exact_tokens`` the lines of the exact strings that are carried along with it (``compacting.outlines``). ``model``
    is the one that answered so, and ``asked_tokens`` is what its provider counted for the request that it answers, where that
    is known.
    """

    number: int
    version: int
    role: Role
    contents: Contents
    calls: int
    results: tuple[ResultCard, ...]
    open_tokens: int = 0
    id_tokens: int = 0
    line_tokens: int = 0
    exact_tokens: tuple[int, ...] = ()
    model: str | None = None
    asked_tokens: int | None = None

    @property
    def open_calls(self) -> int:
        """How many of its calls have no result yet."""
        return self.calls - len(self.results)

    def as_of(self, version: int) -> Card:
        """The same without what came after a version."""
        later = [result for result in self.results if result.version > version]
        if not later:
            return self
        kept = tuple(result for result in self.results if result.version <= version)
        return replace(self, results=kept, open_tokens=self.open_tokens + sum(result.call_tokens for result in later))


def card_of(turn: Turn, count: Count, documents: Mapping[str, bytes]) -> Card:
    """The card of a turn. ``documents`` has the bytes of its text documents, by hash."""
    ids = {call.call_id: max(map(count, id_spellings(call.call_id, turn.number))) for call in turn.calls}
    calls = {call.call_id: ids[call.call_id] + max(map(count, name_spellings(call.tool))) for call in turn.calls}
    tools = {call.call_id: call.tool for call in turn.calls}
    answers = [measured(found) for found in map(turn.answer_to, calls) if found is not None]
    said = contents_of(turn.parts, count, documents)
    results = tuple(
        ResultCard(
            found.version,
            contents_of(found.parts, count, documents),
            calls[found.call_id],
            found.is_error,
            tools[found.call_id],
            _cuts(found, count),
        )
        for found in answers
    )
    named = sum(calls.values())
    return Card(
        turn.number,
        turn.version,
        turn.role,
        replace(said, tokens=said.tokens + named),
        len(calls),
        results,
        open_tokens=named - sum(result.call_tokens for result in results),
        id_tokens=sum(ids.values()),
        line_tokens=count(outline(turn)),
        exact_tokens=tuple(count(exact_line(string)) for string in carried_along(strings_of(turn))),
        model=turn.model,
        asked_tokens=None if turn.usage is None else asked_tokens(turn.usage),
    )


def asked_tokens(usage: Usage) -> int | None:
    """What a provider counted for a request, with what it took from its cache."""
    if usage.input_tokens is None:
        return None
    raw = None if usage.raw is None else usage.raw.value
    cached = [raw.get(name) for name in _CACHED] if isinstance(raw, dict) else []
    return usage.input_tokens + sum(found for found in cached if isinstance(found, int))


def _cuts(found: Return, count: Count) -> tuple[int, ...]:
    whole = whole_text(found)
    return (*cut_tokens(whole, found.id, count), *([count(whole)] if has_names(found) else []))


def contents_of(parts: Iterable[Any], count: Count, documents: Mapping[str, bytes]) -> Contents:
    """What parts cost; of calls only what they ask for, since their names are counted with their turn."""
    tokens = number = pictures = others = note = 0
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
                note = max(note, count(media_note(part)))
            case DocumentPart():
                others += 1
                note = max(note, count(media_note(part)))
                tokens += count(part.name or "")
            case _:
                tokens += _text_tokens(part, count)
    foreign_tokens, reasoning_tokens = (tuple(sorted(found.items())) for found in (foreign, reasoning))
    return Contents(tokens, number, pictures, others, foreign_tokens, reasoning_tokens, note)


def _text_tokens(part: Any, count: Count) -> int:
    match part:
        case TextPart(text=text):
            return count(text)
        case JsonPart(value=value):
            return _json_tokens(value, count)
        case ToolCallPart(arguments=Unparsed(unparsed=text)):
            return max(count(text), count(unparsed_object(text)))
        case ToolCallPart(arguments=JsonText() as arguments):
            return _json_tokens(arguments, count)
        case _:
            return count(str(part))


def _json_tokens(source: JsonText, count: Count) -> int:
    """A form that takes no lone surrogate writes another escape, which may be dearer."""
    mended = well_formed_json(source)
    return count(source) if mended == source else max(count(source), count(mended))
