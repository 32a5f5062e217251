"""How well a text matches what is asked for, and the piece of it that shows that. Pure.

The weights are those of BM25, with a fixed usual length: so a text's weight depends on no other text's length, and two stores
with the same record rank alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from projections.search.query import Clause
from projections.search.words import Word, each_word

_SATURATION: Final = 1.2
_LENGTH: Final = 0.75
_USUAL_WORDS: Final = 100
_STEPS: Final = 8
"""Lengths are told apart in so many steps to each doubling."""

BEGINNING_WEIGHT: Final = 0.5
"""How much a word counts that only begins as asked for."""

SNIPPET_CHARACTERS: Final = 200
_WORDS_AT_ONCE: Final = 20_000
_TRIMMED: Final = 20
"""So many characters a piece may be shortened by at each end, so that no word is cut."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a text on one line, and the places in it that match (start, end). It begins or ends with … where it is cut."""

    text: str
    places: tuple[tuple[int, int], ...]


def length_step(number: int) -> int:
    """How long a text of so many words is, in steps that fit into a byte."""
    return min(255, round(math.log2(number + 1) * _STEPS))


_PENALTIES: Final = tuple(
    _SATURATION * (1 - _LENGTH + _LENGTH * (2 ** (step / _STEPS) - 1) / _USUAL_WORDS) for step in range(256)
)


def rarity(*, holding: int, of: int) -> float:
    """How much a clause counts that so many texts have, of so many."""
    return math.log(1 + (max(of - holding, 0) + 0.5) / (holding + 0.5))


def weight(often: float, step: int) -> float:
    """How much a clause counts that a text of a length (``length_step``) has so often, before its rarity."""
    return often * (_SATURATION + 1) / (often + _PENALTIES[step])


def matching(text: str, clauses: Sequence[Clause]) -> dict[Clause, list[tuple[int, int]]]:
    """Where the clauses stand in a text; those that do not are left out.

    A long text is looked at piece by piece, and no further than where all of them were found.
    """
    found: dict[Clause, list[tuple[int, int]]] = {}
    waiting, carried = each_word(text), list[Word]()
    overlap = max(len(clause.texts) for clause in clauses) - 1
    while piece := list(islice(waiting, _WORDS_AT_ONCE)):
        listed = carried + piece
        for clause in clauses:
            places = list(clause.places(listed))
            if places:
                found.setdefault(clause, []).extend(places)
        if len(found) == len(clauses):
            break
        carried = listed[len(listed) - overlap :] if overlap else []
    return found


def snippet(text: str, found: dict[Clause, list[tuple[int, int]]], *, characters: int = SNIPPET_CHARACTERS) -> Snippet:
    """The piece of a text in which the most clauses stand, the first of such pieces."""
    places = sorted({place for listed in found.values() for place in listed})
    if not places:
        return _cut(text, 0, min(len(text), characters), [])
    of_place = {place: clause for clause, listed in found.items() for place in listed}
    first, last = _best(places, of_place, characters)
    spare = max(0, characters - (places[last][1] - places[first][0]))
    start = max(0, places[first][0] - spare // 3)
    end = min(len(text), max(places[last][1], start + characters))
    start = max(0, min(start, end - characters)) if end == len(text) else start
    return _cut(text, start, end, places[first : last + 1])


def _best(places: Sequence[tuple[int, int]], of_place: dict[tuple[int, int], Clause], characters: int) -> tuple[int, int]:
    """The first and last of the places that make the best piece."""
    best, chosen, last = 0, (0, 0), 0
    counts: dict[Clause, int] = {}
    for first, place in enumerate(places):
        last = max(last, first)
        while last < len(places) and (last == first or places[last][1] - place[0] <= characters):
            counts[of_place[places[last]]] = counts.get(of_place[places[last]], 0) + 1
            last += 1
        distinct = sum(count > 0 for count in counts.values())
        if distinct > best:
            best, chosen = distinct, (first, last - 1)
        counts[of_place[place]] -= 1
    return chosen


def _cut(text: str, start: int, end: int, places: Sequence[tuple[int, int]]) -> Snippet:
    """A piece of a text, cut between words where it can be; every piece of white space becomes a space of the same length."""
    keep_from, keep_to = (places[0][0], places[-1][1]) if places else (end, start)
    if start > 0:
        stop = min(keep_from, start + _TRIMMED)
        start = next((place + 1 for place in range(start, stop) if text[place].isspace()), start)
    if end < len(text):
        end = next((place for place in range(end, max(keep_to, end - _TRIMMED), -1) if text[place].isspace()), end)
    before, after = "…" if start > 0 else "", "…" if end < len(text) else ""
    shown = "".join(" " if character.isspace() else character for character in text[start:end])
    moved = len(before) - start
    inside = tuple((first + moved, min(last, end) + moved) for first, last in places if first < end)
    return Snippet(f"{before}{shown}{after}", inside)
