"""Which exact strings of a tool's result are used later: what a stand-in for the result should name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from projections.exact.finding import found_in, tokens_in

_PLAIN_WORD: Final = re.compile(r"[^\W\d_]+")
_MOST_PHRASES: Final = 64
"""So many phrases of a result are looked for at most, the first ones; what holds no space is looked for without a limit."""


def used_strings(result_text: str, later_texts: Sequence[str], *, asked: str = "", most: int = 8) -> tuple[str, ...]:
    """The exact strings of a result that later texts hold as whole ones, the most used first, then the first used.

    What stood in ``asked``, the arguments of the call, is not news and does not count; neither does a plain word in quotes.
    """
    strings = list(dict.fromkeys(found.string for found in found_in(result_text)))
    wanted = {string for string in strings if _PLAIN_WORD.fullmatch(string) is None or _is_token(string)}
    phrases = [string for string in strings if string in wanted and not _is_token(string)][:_MOST_PHRASES]
    uses = _uses(wanted, phrases, later_texts)
    known = _uses(wanted, phrases, (asked,))
    return tuple([string for string, _ in uses.most_common() if string not in known][:most])


def _uses(wanted: set[str], phrases: Iterable[str], texts: Iterable[str]) -> Counter[str]:
    """How often each string stands in the texts, in the order of their first places."""
    places: Counter[str] = Counter()
    for text in texts:
        counted = Counter(found.string for found in tokens_in(text) if found.string in wanted)
        for phrase in phrases:
            if phrase not in counted and (number := _times(phrase, text)):
                counted[phrase] = number
        for string in sorted(counted, key=text.find):
            places[string] += counted[string]
    return places


def _is_token(string: str) -> bool:
    return [found.string for found in tokens_in(string)] == [string]


def _times(phrase: str, text: str) -> int:
    """How often a phrase stands in a text where no word goes on at its ends."""
    if phrase not in text:
        return 0
    return sum(1 for _ in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", text))
