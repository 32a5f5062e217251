"""Places in a text that no token crosses: what stands before and after one may be counted apart, and added.

A seam is before a space that follows other text, after a newline that is followed by neither white space nor "/", and between
an ASCII letter or digit and an ASCII sign after it other than the apostrophe. It holds for all encodings that are carried
(``projections.encodings.ENCODINGS``), in whatever text it stands.
"""

from __future__ import annotations

import re
from typing import Final

_SEAM: Final = r"(?:\S(?= )|\n(?=[^\s/])|[0-9A-Za-z](?=[!-&(-/:-@\[-`{-~]))"
# The greedy start makes the match end at the last seam in reach.
_UP_TO_LAST: Final = re.compile(f".*{_SEAM}", re.DOTALL)
_FIRST: Final = re.compile(_SEAM)


def last_seam(text: str, start: int, end: int) -> int:
    """The last seam after ``start`` and before ``end``; ``start`` if there is none."""
    found = _UP_TO_LAST.match(text, start, end)
    return start if found is None else found.end()


def first_seam(text: str, start: int, end: int) -> int:
    """The first seam after ``start`` and before ``end``; ``end`` if there is none."""
    found = _FIRST.search(text, start, end)
    return end if found is None else found.end()
