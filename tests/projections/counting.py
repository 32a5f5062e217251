"""What a request costs, counted a second time and another way: every text in its plain values, and the price of its media."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from projections.policy import Policy
from projections.window import Window
from replay.tokens import counter


def tokens_of(window: Window, policy: Policy) -> int:
    """The tokens of a finished window, with 3 for the request and 4 for each message."""
    count = counter(policy.encoding)
    messages = window.request["messages"]
    framing = 3 + 4 * (len(messages) + (1 if window.request.get("system") else 0))
    return framing + sum(price if text is None else count(text) for text, price in _leaves(window.request, policy))


def _leaves(value: Any, policy: Policy) -> Iterator[tuple[str | None, int]]:
    """Every text, and (None, price) in the place of encoded bytes or an address."""
    match value:
        case str():
            yield value, 0
        case {"type": "image_url" | "image"}:
            yield value["type"], 0
            yield None, policy.image_tokens
        case {"type": "document", "source": {"type": "text", "data": text}}:
            yield from (("document", 0), ("text", 0), (text, 0))
        case {"type": "file" | "document"}:
            yield value["type"], 0
            yield None, policy.document_tokens
        case dict():
            for item in value.values():
                yield from _leaves(item, policy)
        case list():
            for item in value:
                yield from _leaves(item, policy)
        case _:
            pass
