"""Which exact strings of a tool's result are used later: what a stand-in for the result should name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from projections.exact.finding import Uses, found_in, uses_in

_PLAIN_WORD: Final = re.compile(r"[^\W\d_]+")
_NAMED: Final = re.compile(r'"([^"\\\n]{1,200}+)"\s*+:')
"""A name in JSON: what it names is used, not the name."""

_MOST_PHRASES: Final = 64
"""So many phrases of a result are looked for at most, the first ones; what holds no space is looked for without a limit."""


def used_strings(result_text: str, later_texts: Sequence[str], *, asked: str = "", most: int = 8) -> tuple[str, ...]:
    """The exact strings of a result that later texts hold as whole ones, the most used first, then the first used.

    What stood in ``asked``, the arguments of the call, is not news and does not count; neither do a plain word in quotes and
    the names in JSON.
    """
    names = {match[1] for match in _NAMED.finditer(result_text)}
    strings = [found.string for found in found_in(result_text) if found.string not in names]
    tokens = set(strings) & uses_in("\n".join(strings)).keys()
    phrases = [string for string in dict.fromkeys(strings) if string not in tokens and _PLAIN_WORD.fullmatch(string) is None]
    known = _uses(tokens, phrases[:_MOST_PHRASES], asked)
    uses: dict[str, int] = {}
    for text in later_texts:
        for string, (_, times) in sorted(_uses(tokens, phrases[:_MOST_PHRASES], text).items(), key=lambda item: item[1].place):
            if string not in known:
                uses[string] = uses.get(string, 0) + times
    return tuple(sorted(uses, key=lambda string: -uses[string])[:most])


def _uses(tokens: set[str], phrases: Iterable[str], text: str) -> dict[str, Uses]:
    """Where and how often strings stand in a text."""
    uses = {string: found for string, found in uses_in(text).items() if string in tokens}
    for phrase in phrases:
        places = _places(phrase, text)
        if places:
            uses[phrase] = Uses(places[0], len(places))
    return uses


def _places(phrase: str, text: str) -> list[int]:
    """Where a phrase stands in a text and no word goes on at its ends."""
    if phrase not in text:
        return []
    return [match.start() for match in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", text)]
