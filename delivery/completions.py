"""What a chat completion holds, whoever made it: its message, why it broke off, what it used, who answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ledger.json_text import JsonText
from ledger.limits import MAX_NAME_CHARACTERS
from ledger.parts import Usage


def first_choice(completion: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first choice of a completion; empty where it has none."""
    choices = completion.get("choices")
    return object_of(choices[0]) if isinstance(choices, list) and choices else {}


def message_of(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message of a choice; empty where it has none."""
    return object_of(choice.get("message"))


def object_of(value: Any) -> Mapping[str, Any]:
    """A JSON object as it is, anything else as an empty one."""
    return value if isinstance(value, dict) else {}


def broken_off(choice: Mapping[str, Any]) -> Iterator[str]:
    """Why an answer is not whole, in words that repeat nothing of it."""
    if message_of(choice).get("refusal"):
        yield "the model refused to answer"
    if choice.get("finish_reason") == "length":
        yield "the answer was cut at the most tokens that it may have"
    if choice.get("finish_reason") == "content_filter":
        yield "the answer was stopped by the endpoint's filter"


def usage_of(completions: Sequence[Mapping[str, Any]]) -> Usage | None:
    """The tokens of all answers together, as the endpoint counted them; ``raw`` is what it said, a list if of several."""
    said = [found for completion in completions if (found := object_of(completion.get("usage")))]
    if not said:
        return None
    return Usage(
        input_tokens=_sum(said, "prompt_tokens"),
        output_tokens=_sum(said, "completion_tokens"),
        raw=JsonText.of(said[0] if len(said) == 1 else said),
    )


def model_of(completions: Sequence[Mapping[str, Any]], asked: str) -> str:
    """The model that says it answered, which may be more exact than the one that was asked."""
    named = completions[0].get("model") if completions else None
    return named if isinstance(named, str) and 0 < len(named) <= MAX_NAME_CHARACTERS else asked


def _sum(said: Sequence[Mapping[str, Any]], name: str) -> int | None:
    counts = [count for one in said if type(count := one.get(name)) is int and count >= 0]
    return sum(counts) if counts else None
