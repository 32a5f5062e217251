"""Which exact strings of a tool's result are used later: what a stand-in for the result should name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from projections.exact.finding import Quoting, Uses, uses_in

_PLAIN_WORD: Final = re.compile(r"[^\W\d_]+")
_PLAIN_ASCII: Final = re.compile("[A-Za-z]?[a-z]*")
_WORD: Final = re.compile(r"\w")
_NAMED: Final = re.compile(r'"([^"\\\n]{1,200}+)"\s*+:')
"""A name in JSON: what it names is used, not the name."""

_MOST_PHRASES: Final = 64
"""So many phrases of a result are looked for at most, the first ones; what holds no space is looked for without a limit."""


class Said(NamedTuple):
    """A text in which strings of results may be used, and where its words stand."""

    text: str
    uses: Mapping[str, Uses]


class _Sought(NamedTuple):
    """What of a result is looked for in later texts: exact strings without a space, what is quoted without one, and phrases."""

    tokens: frozenset[str]
    quoted: frozenset[str]
    phrases: tuple[str, ...]


def said_of(text: str) -> Said:
    """A text as it is looked through, for whatever result."""
    return Said(text, uses_in(text))


def used_strings(result: Quoting, later: Sequence[Said], *, asked: str = "", most: int = 8) -> tuple[str, ...]:
    """The exact strings of a result that later texts hold as whole ones, the most used first, then the first used.

    What stood in ``asked``, the arguments of the call, is not news and does not count; neither do a plain word in quotes and
    the names in JSON.
    """
    if not _may_be_used(result, later):
        return ()
    sought = _sought(result)
    uses: dict[str, int] = {}
    for said in later:
        for string, found in sorted(_uses(sought, said).items(), key=lambda item: item[1].place):
            uses[string] = uses.get(string, 0) + found.times
    known = _uses(sought, said_of(asked)) if any(string in asked for string in uses) else {}
    return tuple(sorted((string for string in uses if string not in known), key=lambda string: -uses[string])[:most])


def _may_be_used(result: Quoting, later: Sequence[Said]) -> bool:
    """Whether later texts hold exact strings that stand in a result somewhere, or a phrase of it: mostly they do not."""
    if any(string in result.text for one in later for string, found in one.uses.items() if found.may_be_exact):
        return True
    said = "\n".join(one.text for one in later)
    return all(  # the second one, which takes long, is only asked where the first finds something
        any(_PLAIN_ASCII.fullmatch(phrase) is None for phrase in shared(said))
        for shared in (result.perhaps_shared, result.shared)
    )


def _sought(result: Quoting) -> _Sought:
    names = {match[1] for match in _NAMED.finditer(result.text)}
    strings, tokens = result.strings()
    others = [
        string for string in strings if not (string in names or string in tokens or _PLAIN_ASCII.fullmatch(string) is not None)
    ]
    quoted = frozenset(others) & uses_in("".join(f"{string}\n" for string in others)).keys()
    phrases = [string for string in others if string not in quoted and _PLAIN_WORD.fullmatch(string) is None]
    return _Sought(frozenset(tokens & strings.keys() - names), quoted, tuple(phrases[:_MOST_PHRASES]))


def _uses(sought: _Sought, said: Said) -> dict[str, Uses]:
    """Where and how often strings stand in a text."""
    uses = {
        string: found
        for string, found in said.uses.items()
        if string in sought.quoted or (found.may_be_exact and string in sought.tokens)
    }
    for phrase in [phrase for phrase in sought.phrases if phrase in said.text]:
        places = _places(phrase, said.text)
        if places:
            uses[phrase] = Uses(places[0], len(places))
    return uses


def _places(phrase: str, text: str) -> list[int]:
    """Where a phrase stands in a text and no word goes on at its ends."""
    places = []
    place = text.find(phrase)
    while place >= 0:
        end = place + len(phrase)
        is_whole = _WORD.match(text, end) is None and (place == 0 or _WORD.match(text, place - 1) is None)
        if is_whole:
            places.append(place)
        place = text.find(phrase, end if is_whole else place + 1)
    return places
