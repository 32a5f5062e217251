"""Whether a regular expression that somebody wrote can be used on texts of others."""

from __future__ import annotations

import re
from typing import Final

MAX_PATTERN_CHARACTERS: Final = 2_000

_PIECE: Final = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?[:=!>]|\(\?<[=!]|\(\?P?<\w+>|[()]|[*+?]\+?\??|\{\d*,\d*\}\+?|\{\d+\}|.", re.DOTALL
)
_ENDLESS: Final = re.compile(r"[*+]\??|\{\d*,\}\??")


def check_pattern(pattern: str) -> str:
    """The pattern, if it is one and repeats nothing that repeats; a ``ValueError`` says what to write instead."""
    if not pattern or len(pattern) > MAX_PATTERN_CHARACTERS:
        raise ValueError(f"pattern: give a regular expression of 1 to {MAX_PATTERN_CHARACTERS:,} characters")
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"pattern: {error}: give a regular expression") from error
    if repeats_a_repeat(pattern):
        raise ValueError(
            "pattern: a repeat inside a repeat, such as (a+)+, may take for ever: repeat one of both, or {0,20} times"
        )
    return pattern


def repeats_a_repeat(pattern: str) -> bool:
    """Whether a group that holds an endless repeat is endlessly repeated itself, and neither is possessive."""
    inside = [False]
    closed = False
    for piece in _PIECE.findall(pattern):
        if piece.startswith("("):
            inside.append(False)
        elif piece == ")" and len(inside) > 1:
            closed = inside.pop()
            inside[-1] = inside[-1] or closed
            continue
        elif _ENDLESS.fullmatch(piece):
            if closed:
                return True
            inside[-1] = True
        closed = False
    return False
