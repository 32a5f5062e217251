"""The official libraries' own types as judges of a request."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

PLACES = {"openai": "messages", "openai_responses": "input", "anthropic": "messages", "gemini": "contents"}
"""Where the messages of a form stand in its request."""


def refusals_of(request: Mapping[str, Any], form: str) -> list[str]:
    """What the types of a provider's own library refuse in a request's messages."""
    adapter = _adapter(form)
    found = []
    for place, message in enumerate(request[PLACES[form]]):
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
def _adapter(form: str) -> TypeAdapter[Any]:
    if form == "openai":
        from openai.types.chat import ChatCompletionMessageParam

        return TypeAdapter(ChatCompletionMessageParam)
    if form == "openai_responses":
        from openai.types.responses import ResponseInputItemParam

        return TypeAdapter(ResponseInputItemParam)
    if form == "anthropic":
        from anthropic.types import MessageParam

        return TypeAdapter(MessageParam)
    genai: Any = pytest.importorskip("google.genai.types", reason="google-genai is not installed")
    content: type[Any] = genai.Content
    return TypeAdapter(content)
