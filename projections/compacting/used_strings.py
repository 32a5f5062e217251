"""Which exact strings of a tool's result are used later: what a stand-in for the result should name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from projections.exact.finding import Quoting, Uses, uses_in

_PLAIN_WORD: Final = re.compile(r"[^\W\d_]+")
_PLAIN_ASCII: Final = re.compile("[A-Za-z]?[a-z]*")
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


def used_strings(result_text: str, later: Sequence[Said], *, asked: str = "", most: int = 8) -> tuple[str, ...]:
    """The exact strings of a result that later texts hold as whole ones, the most used first, then the first used.

    What stood in ``asked``, the arguments of the call, is not news and does not count; neither do a plain word in quotes and
    the names in JSON.
    """
    quoting = Quoting(result_text)
    if not _may_be_used(quoting.phrases, result_text, later):
        return ()
    sought = _sought(result_text, quoting)
    known = _uses(sought, said_of(asked)).keys()
    uses: dict[str, int] = {}
    for said in later:
        for string, found in sorted(_uses(sought, said).items(), key=lambda item: item[1].place):
            if string not in known:
                uses[string] = uses.get(string, 0) + found.times
    return tuple(sorted(uses, key=lambda string: -uses[string])[:most])


def _may_be_used(phrases: Iterable[str], result_text: str, later: Sequence[Said]) -> bool:
    """Whether later texts hold a phrase of a result, or exact strings that stand in it somewhere: mostly they do not."""
    said = "\n".join(one.text for one in later)
    return any(phrase in said and _PLAIN_ASCII.fullmatch(phrase) is None for phrase in phrases) or any(
        string in result_text for one in later for string, found in one.uses.items() if found.may_be_exact
    )


def _sought(result_text: str, quoting: Quoting) -> _Sought:
    names = {match[1] for match in _NAMED.finditer(result_text)}
    strings, tokens = quoting.strings()
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
    return [match.start() for match in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", text)]
