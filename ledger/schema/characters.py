"""Characters that nobody sees. Pure data."""

from __future__ import annotations

import re
from typing import Final

# By code point and not by category: categories change with every Unicode release, and what a value means may not.
INVISIBLE: Final = re.compile(
    "["
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters but for tabs and line ends
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional marks
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u2800\u3164\ufeff\uffa0"
    "\ufe00-\ufe0f\ufff0-\ufffb"  # variation selectors, annotations and what is reserved before them
    "\U00013430-\U00013455\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # controls of hieroglyphs, shorthand and music
    "\U000e0000-\U000e0fff"  # tags and the selectors beyond them
    "]"
)
"""A control character, a format character or a blank that is no white space."""

OUTSIDE_ADDRESSES: Final = re.compile("[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\ud800-\udfff\U000110bd\U000110cd]")
"""Format characters that are seen, as the number signs of Arabic, and halves of characters: neither is part of an address."""


def is_blank(text: str) -> bool:
    """Whether there is nothing to see in a text."""
    return not INVISIBLE.sub("", text).strip()
