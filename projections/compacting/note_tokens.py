"""What our own lines of turn numbers and ids cost, without a tokenizer: the fixed texts in them, and groups of three digits.

Both encodings take digits apart from all else, from the left and three at a time, and each such group is one token. So what
stands between the numbers of a line costs the same whatever they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

FRAGMENTS: Final[Mapping[str, int]] = {
    "[turns ": 4,
    "-": 1,
    " are compacted; the record has them whole]\n": 10,
    " are compacted; the record has them whole, but ": 12,
    ",": 1,
    " that was forgotten]\n": 4,
    " that were forgotten]\n": 4,
    "told in their own words, cut short, unless it says summary:\n": 15,
    "summaries:\n": 3,
    "exact strings out of them:\n": 6,
    "can be fetched by id: r_": 8,
    ", r_": 3,
    "evidence recorded of them: ev_": 8,
    ", ev_": 3,
    "contradictions recorded of them: con_": 9,
    ", con_": 3,
    "\n": 1,
    "[of turns ": 4,
    ": turn ": 3,
    ": turns ": 3,
    ", ": 2,
    " stands here whole]\n": 4,
    " stand here whole]\n": 4,
    "[turn ": 3,
    " is not shown here; the record has it]\n": 10,
    " is not shown here: it was forgotten]\n": 9,
    " are not shown here; the record has them]\n": 10,
    " are not shown here; the record has them, but ": 12,
    " are not shown here: they were forgotten]\n": 9,
}
"""The tokens of all that stands between the numbers of our lines, in the encoding in which it costs more."""

_NUMBER: Final = re.compile("([0-9]+)")
_DIGITS_A_TOKEN: Final = 3


def note_tokens(line: str) -> int:
    """What a line of ours costs that is made of ``FRAGMENTS`` and numbers, with its end; ``KeyError`` for any other line."""
    pieces = _NUMBER.split(line)
    numbers = sum([-(-len(number) // _DIGITS_A_TOKEN) for number in pieces[1::2]])
    return numbers + sum([FRAGMENTS[piece] for piece in pieces[::2] if piece])
