"""A policy as a TOML text with every key, its value and its meaning: what ``policy_from_toml`` reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from projections.policy import Policy

MEANINGS: Final[Mapping[str, str]] = {
    "tail_turns": "k: turns before the current one that stay as they are",
    "tail_exchanges": "at least so many user turns with all that followed them; may make the tail longer",
    "tail_tokens": "but the tail costs no more tokens than this",
    "budget_tokens": "tokens that the request may cost, with the answer",
    "reserve_tokens": "tokens of the budget that stay free for the answer",
    "encoding": "how tokens are counted: an encoding, or a model that has one",
    "model": "the model whose recorded usage says how it counts; else the last that answered",
    "pins": "numbers of turns that are kept whatever the rules say",
    "pins_task": "whether the turn that states the task is one of them",
    "rules": "what becomes of a turn that left the tail: the first rule that claims it says so",
    "languages": "the languages whose words the rules know",
    "otherwise": "what becomes of a turn that no rule claims: keep, compress, stub or drop",
    "image_tokens": "tokens that a picture costs",
    "document_tokens": "tokens that a document costs that is not text",
    "images": "show pictures, or only name them",
    "documents": "show documents that are not text, or only name them",
    "state_place": "where the state stands: before_tail or after_system",
    "stubs": "which results of tools become stubs, which can be fetched again",
    "stubs.spent": "those that an assistant turn has answered",
    "stubs.older_than_turns": "only once their turn is so many turns back",
    "stubs.larger_than_tokens": "only those that cost more tokens",
    "stubs.excluded_tools": "never those of these tools",
    "stubs.clear_at_least_tokens": "in batches: once a segment would save so many tokens",
    "compaction": "how turns that left the tail are made shorter; compaction = false leaves them out",
    "compaction.segment_turns": "so many turns are compacted at a time",
    "compaction.live_percent": "percent of the budget for turns that left the tail and are not compacted yet",
    "compaction.kept_percent": "percent for compacted turns that are kept whole",
    "compaction.text_percent": "percent for what is told of the others",
    "compaction.exact_percent": "percent for exact strings out of them",
    "compaction.by": "recorded summaries to take, the best first; none: turns are told in extracts",
    "compaction.by.summariser": "of this summariser",
    "compaction.by.model": "of this model",
    "compaction.by.prompt_hash": "of the prompt with this hash",
    "state": "how the state is written; state = false shows none",
    "state.form": "lines, compact or markdown",
    "state.provenance": "whether each line says its source and turn",
    "state.task": "whether the block quotes the task, which the window has anyway",
    "state.most_entries": "of each section, so many of the latest are shown",
    "state.most_characters": "of a value or an entry, so many characters are shown",
    "state.budget_tokens": "tokens that the block may cost",
}
"""What each key means, by its path."""

_TABLES: Final = ("stubs", "compaction", "state")
_ADDED_TO: Final = ("compaction.by",)
"""Lists of tables: where they are empty, a value would keep ``[[compaction.by]]`` from being written below."""

_WIDE: Final = 32


def policy_to_toml(policy: Policy) -> str:
    """All of a policy as TOML with comments; ``policy_from_toml`` gives the same policy back.

    A key that has no value, which TOML cannot say, stands there as a comment, and so does an empty list of tables.
    """
    values = policy.model_dump(mode="json")
    lines = [line for key, value in values.items() if key not in _TABLES or value is None for line in _entry(key, key, value)]
    for table in _TABLES:
        if values[table] is not None:
            lines += ["", *_table(table, values[table])]
    return "".join(f"{line}\n" for line in lines)


def _table(name: str, values: Mapping[str, Any]) -> Iterator[str]:
    yield f"[{name}]  # {MEANINGS[name]}"
    for key, value in values.items():
        yield from _entry(f"{name}.{key}", key, value)


def _entry(path: str, key: str, value: Any) -> list[str]:
    """A key with its value and meaning, on one line unless it is a long list."""
    if path in _TABLES:
        return [_commented(f"{key} = false", path)]
    if value is None or (path in _ADDED_TO and not value):
        return [_commented(f"# {key} =", path)]
    written = f"{key} = {_value(value)}"
    if not isinstance(value, list) or len(written) <= _WIDE:
        return [_commented(written, path)]
    return [_commented(f"{key} = [", path), *(f"  {_value(one)}," for one in value), "]"]


def _commented(written: str, path: str) -> str:
    return f"{written:<{_WIDE}}  # {MEANINGS[path]}"


def _value(value: Any) -> str:
    match value:
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case {"type": "provided", "name": str(name)}:
            return _value(name)
        case dict():
            return f"{{ {', '.join(f'{key} = {_value(one)}' for key, one in value.items() if one is not None)} }}"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case _:
            return json.dumps(value)
