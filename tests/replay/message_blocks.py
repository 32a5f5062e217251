"""The content of messages as blocks, as tests read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def blocks_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The content of a message as blocks; a text is one text block."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content or [])
