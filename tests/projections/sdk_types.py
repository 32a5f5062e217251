"""The official libraries' own types as judges of a request."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError


def refusals_of(request: Mapping[str, Any], form: str) -> list[str]:
    """What the types of a provider's own library refuse in a request's messages."""
    adapter = _openai() if form == "openai" else _anthropic()
    found = []
    for place, message in enumerate(request["messages"]):
        try:
            # These types declare lists as iterables, which pydantic checks only when they are read.
            _exhaust(adapter.validate_python(message))
        except ValidationError as error:
            found.append(f"message {place}: {error}")
    return found


def _exhaust(value: Any) -> None:
    if isinstance(value, dict):
        for item in value.values():
            _exhaust(item)
    elif not isinstance(value, str | bytes) and hasattr(value, "__iter__"):
        for item in value:
            _exhaust(item)


@cache
def _openai() -> TypeAdapter[Any]:
    from openai.types.chat import ChatCompletionMessageParam

    return TypeAdapter(ChatCompletionMessageParam)


@cache
def _anthropic() -> TypeAdapter[Any]:
    from anthropic.types import MessageParam

    return TypeAdapter(MessageParam)
