"""Text from outside inside texts of ours: nothing in it can close a block, begin a line or hide."""

from __future__ import annotations

import json
import re
from typing import Final

from ledger.json_text import JsonText, json_string

# Listed by code point and not looked up by category: the categories change with every Unicode release, and the same record must
# give the same bytes under each of them.
_UNSAFE: Final = re.compile(
    "[<>&"
    "\x00-\x1f\x7f-\x9f"  # control characters
    "\u2028\u2029"  # line and paragraph separator
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional marks
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"  # invisible
    "\u2800\U00016fe4\U0001d159"  # blank, and no white space: of Braille, Khitan and music
    "\ufe00-\ufe0f\ufff0-\ufffb"  # variation selectors, annotations and what is reserved before them
    "\U00013430-\U00013455\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # invisible controls of hieroglyphs, shorthand and music
    "\U000e0000-\U000e0fff"  # tags and the selectors beyond them
    "]"
)


def escaped(text: str) -> str:
    """The JSON literal of a text with markup and all invisible characters escaped."""
    return _UNSAFE.sub(_escape, json_string(text))


def escaped_json(source: str) -> str:
    """JSON on one line, with markup and all invisible characters escaped; its value stays the same."""
    return _UNSAFE.sub(_escape, JsonText(source).one_line)


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    return f"\\u{ord(character):04x}" if character.isascii() else json.dumps(character)[1:-1]
