"""Where a text may be cut: not inside what people read as one character. Pure."""

from __future__ import annotations

import re
from typing import Final

# Listed and not looked up by category, so that a text is cut at the same place under each version of Unicode.
_JOINS: Final = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0903\u093a-\u094f\u0951-\u0957"
    "\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a03\u0a3c-\u0a51\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0b82"
    "\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d\u0d57\u0dca-\u0ddf\u0e31"
    "\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84\u102b-\u103e\u1160-\u11ff\u17b4-\u17d3\u1ab0-\u1aff"
    "\u1dc0-\u1dff\u200d\u20d0-\u20ff\u302a-\u302f\u3099\u309a\ufe00-\ufe0f\ufe20-\ufe2f\U0001f3fb-\U0001f3ff"
    "\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)
_MOST_MARKS: Final = 32
"""More marks than this belong to no character that anybody writes."""


def cut_before(text: str, place: int) -> int:
    """The last place up to this one where no character is cut in two."""
    for nearer in range(place, max(0, place - _MOST_MARKS), -1):
        if not _is_inside(text, nearer):
            return nearer
    return place


def cut_after(text: str, place: int) -> int:
    """The first place from this one on where no character is cut in two."""
    for farther in range(place, min(len(text), place + _MOST_MARKS)):
        if not _is_inside(text, farther):
            return farther
    return place


def _is_inside(text: str, place: int) -> bool:
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if before == "\r":
        return after == "\n"
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return True
    return before == "\u200d" or _JOINS.match(after) is not None
