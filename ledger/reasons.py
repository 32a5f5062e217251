"""Why somebody forgot, kept or took again: a text that stays in the record for ever, so it is checked first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ledger.errors import InvalidInput
from ledger.json_text import has_lone_surrogate
from ledger.mentions import repeats
from ledger.record import Recorded

MAX_REASON_CHARACTERS: Final = 4_096
"""Characters of a reason."""


def checked_reason(name: str, text: object) -> str:
    """The text, if it can be a reason; ``InvalidInput`` naming the field ``name`` if it is blank, too long or not storable."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(f"{name} is empty: say why, without repeating what is to be forgotten", path=name)
    if len(text) > MAX_REASON_CHARACTERS:
        raise InvalidInput(f"{name} has {len(text):,} characters: say why in at most {MAX_REASON_CHARACTERS:,}", path=name)
    if "\0" in text:
        raise InvalidInput(f"{name} holds a NUL, which not every store can keep: leave it out", path=name)
    if has_lone_surrogate(text):
        raise InvalidInput(f"{name} holds a lone surrogate, which UTF-8 cannot: leave it out", path=name)
    return text


def check_repeats_nothing(name: str, text: str | None, going: Iterable[Recorded]) -> None:
    """``InvalidInput`` if what is kept for ever repeats an address, number or identifier out of what is to be forgotten."""
    if text is not None and repeats(text, (item.event for item in going)):
        raise InvalidInput(
            f"{name} repeats an address, number or identifier out of what is to be forgotten, and would stay for ever: "
            "leave it out",
            path=name,
        )
