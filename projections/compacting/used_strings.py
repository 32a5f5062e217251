"""Which exact strings of a tool's result are used later: what a stand-in for the result should name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from projections.exact.finding import Uses, found_in, uses_in

_PLAIN_WORD: Final = re.compile(r"[^\W\d_]+")
_NAMED: Final = re.compile(r'"([^"\\\n]{1,200}+)"\s*+:')
"""A name in JSON: what it names is used, not the name."""

_MOST_PHRASES: Final = 64
"""So many phrases of a result are looked for at most, the first ones; what holds no space is looked for without a limit."""


class Said(NamedTuple):
    """A text in which strings of results may be used, and where its words stand."""

    text: str
    uses: Mapping[str, Uses]


class Sought(NamedTuple):
    """What of a result is looked for in later texts: what holds no space, and phrases; ``known`` is no news."""

    tokens: frozenset[str]
    phrases: tuple[str, ...]
    known: frozenset[str]


def used_strings(result_text: str, later_texts: Sequence[str], *, asked: str = "", most: int = 8) -> tuple[str, ...]:
    """The exact strings of a result that later texts hold as whole ones, the most used first, then the first used.

    What stood in ``asked``, the arguments of the call, is not news and does not count; neither do a plain word in quotes and
    the names in JSON.
    """
    return used_of(sought_of(result_text, asked=asked), map(said_of, later_texts), most=most)


def said_of(text: str) -> Said:
    """A text as it is looked through, for whatever result."""
    return Said(text, uses_in(text))


def sought_of(result_text: str, *, asked: str = "") -> Sought:
    """What of a result is looked for, in whatever texts."""
    names = {match[1] for match in _NAMED.finditer(result_text)}
    strings = [found.string for found in found_in(result_text) if found.string not in names]
    tokens = frozenset(set(strings) & uses_in("\n".join(strings)).keys())
    phrases = [string for string in dict.fromkeys(strings) if string not in tokens and _PLAIN_WORD.fullmatch(string) is None]
    looked_for = Sought(tokens, tuple(phrases[:_MOST_PHRASES]), frozenset())
    return looked_for._replace(known=frozenset(_uses(looked_for, said_of(asked))))


def used_of(sought: Sought, later: Iterable[Said], *, most: int = 8) -> tuple[str, ...]:
    """What of a result later texts use, see ``used_strings``."""
    uses: dict[str, int] = {}
    for said in later:
        for string, (_, times) in sorted(_uses(sought, said).items(), key=lambda item: item[1].place):
            if string not in sought.known:
                uses[string] = uses.get(string, 0) + times
    return tuple(sorted(uses, key=lambda string: -uses[string])[:most])


def _uses(sought: Sought, said: Said) -> dict[str, Uses]:
    """Where and how often strings stand in a text."""
    uses = {string: found for string, found in said.uses.items() if string in sought.tokens}
    for phrase in [phrase for phrase in sought.phrases if phrase in said.text]:
        places = _places(phrase, said.text)
        if places:
            uses[phrase] = Uses(places[0], len(places))
    return uses


def _places(phrase: str, text: str) -> list[int]:
    """Where a phrase stands in a text and no word goes on at its ends."""
    return [match.start() for match in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", text)]
