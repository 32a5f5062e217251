"""Results of tools as windows show them: encoded bytes inside of a text are only measured, since no model reads them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

from ledger.json_text import JsonText
from ledger.parts import JsonPart, TextPart
from projections.transcript import Return

LEAST_CHARACTERS: Final = 1_024
"""So many encoded characters in a row are measured; fewer of them stay."""

_MARK: Final = ";base64,"
_ENCODED: Final = re.compile(r"(;base64,)((?:[\w+/=%-]++|\\/)++)", re.ASCII)


def measured(found: Return) -> Return:
    """The result with the number of the characters that stand behind a ``;base64,``, and its own id, in their place.

    The record keeps them; JSON stays valid JSON. A result without such bytes comes back as it is.
    """
    if not any(_MARK in _source(part) for part in found.parts):
        return found
    return replace(found, parts=tuple(_measured(part, found.id) for part in found.parts))


def left_out(amount: str, result_id: str) -> str:
    """The mark that stands for what is left out of a result."""
    return f"[\u2026 {amount} left out; whole result: result_id={result_id}]"


def _source(part: Any) -> str:
    match part:
        case TextPart(text=text):
            return text
        case JsonPart(value=value):
            return value
        case _:
            return ""


def _measured(part: Any, result_id: str) -> Any:
    def mark(match: re.Match[str]) -> str:
        size = len(match[2])
        return match[0] if size < LEAST_CHARACTERS else match[1] + left_out(f"{size:,} characters", result_id)

    match part:
        case TextPart(text=text):
            return part.model_copy(update={"text": _ENCODED.sub(mark, text)})
        case JsonPart(value=value):
            return part.model_copy(update={"value": JsonText.stored(_ENCODED.sub(mark, value))})
        case _:
            return part
