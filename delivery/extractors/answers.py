"""What a model answered, as candidates. It may say anything: what is not of the form asked for is left out and counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from delivery.completions import broken_off, first_choice, message_of, object_of
from delivery.extractors.prompt import Batch
from ledger.errors import InvalidInput
from ledger.fields import canonical_field
from ledger.json_text import JsonText, has_lone_surrogate
from ledger.limits import MAX_NAME_CHARACTERS
from ledger.schema.schema import Schema
from projections.extraction import Candidate

_LIST: Final = re.compile(r'"candidates"\s*:\s*\[')
# Possessive, and its end optional: a string that was cut costs one pass, and nothing in it is a bracket.
_TOKEN: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{},]', re.DOTALL)

_MALFORMED: Final = "not of the form asked for"
_NOT_GIVEN: Final = "for turns that were not given"


@dataclass(frozen=True, slots=True)
class Answer:
    """The candidates of one answer, and what is missing from it, in words that repeat nothing of the conversation."""

    candidates: tuple[Candidate, ...]
    missing: tuple[str, ...]


def read_answer(completion: Mapping[str, Any], schema: Schema, batch: Batch) -> Answer:
    """The candidates in a chat completion. One whose quote stands nowhere is passed on, so that its rejection is recorded."""
    choice = first_choice(completion)
    text = message_of(choice).get("content")
    missing = list(broken_off(choice))
    if not isinstance(text, str) or not text.strip():
        return Answer((), tuple(missing) or ("the model gave no answer",))
    items, is_whole = _items(text)
    if items is None:
        return Answer((), (*missing, "the answer was not the JSON that was asked for"))
    if not is_whole and not missing:
        missing.append("the answer broke off in its middle")
    return _judged(items, schema, batch, missing)


def _items(text: str) -> tuple[list[Any] | None, bool]:
    """The items of the list of candidates, and whether it is whole; None where there is no such list.

    JSON with text around it, or broken somewhere, is read item by item: the others count.
    """
    try:
        whole = JsonText.parse(text).value
    except InvalidInput:
        return _whole_items(text)
    items = object_of(whole).get("candidates")
    return (items if isinstance(items, list) else None), True


def _whole_items(text: str) -> tuple[list[Any] | None, bool]:
    starts = [match.end() for match in _LIST.finditer(text)]
    if not starts:
        return None, False
    sources, rest = _split(text, starts[-1])
    if rest is None:
        return [_parsed(source) for source in sources if source.strip()], True
    last = _parsed(rest)
    return [*(_parsed(source) for source in sources), *([last] if isinstance(last, dict) else [])], False


def _split(text: str, start: int) -> tuple[list[str], str | None]:
    """The sources of the items of a list that starts here, and what follows them if the list does not end."""
    sources: list[str] = []
    depth = 0
    for match in _TOKEN.finditer(text, start):
        mark = match.group()
        if depth == 0 and mark in {",", "]", "}"}:
            sources.append(text[start : match.start()])
            start = match.end()
            if mark != ",":
                return sources, (None if mark == "]" else "")
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark, 0)
    return sources, text[start:]


def _parsed(source: str) -> Any:
    try:
        return JsonText.parse(source).value
    except InvalidInput:
        return None


def _judged(items: Sequence[Any], schema: Schema, batch: Batch, missing: Sequence[str]) -> Answer:
    left_out: Counter[str] = Counter()
    found: dict[tuple[Any, ...], Candidate] = {}
    for item in items:
        made = _candidate(item, schema, batch)
        if isinstance(made, str):
            left_out[made] += 1
        elif made is not None:
            found.setdefault((made.field, JsonText.of(made.value).canonical, made.quote, made.turn, made.result), made)
    counted = (f"{count} left out: {why}" for why, count in left_out.items())
    return Answer(tuple(found.values()), (*missing, *counted))


def _candidate(item: Any, schema: Schema, batch: Batch) -> Candidate | str | None:
    """A candidate, or why it is none; None for a field that the model lists without a value, which says nothing."""
    fields = object_of(item)
    field, value = _field(fields.get("field"), schema), fields.get("value")
    quote, turn, result, corrects = fields.get("quote"), fields.get("turn"), fields.get("result"), fields.get("corrects", False)
    if field is None or "value" not in fields:
        return _MALFORMED
    if value is None:
        return None
    if not isinstance(quote, str) or type(turn) is not int or not isinstance(result, str | None) or type(corrects) is not bool:
        return _MALFORMED
    if turn not in batch.turns:
        return _NOT_GIVEN
    return Candidate(field=field, value=value, quote=quote, turn=turn, result=result, corrects=corrects)


def _field(name: Any, schema: Schema) -> str | None:
    """The field that is meant; one that is not declared is passed on, so that its rejection is recorded under its name."""
    if not isinstance(name, str) or has_lone_surrogate(name):
        return None
    field = schema.resolve(canonical_field(name))
    return field if 0 < len(field) <= MAX_NAME_CHARACTERS else None
