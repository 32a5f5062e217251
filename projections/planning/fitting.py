"""Results that are too large for what is left: how much each may take, and its beginning and end within that."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Final, NamedTuple, TypeVar

from projections.cards import ResultCard
from projections.compacting.cuts import LEAST_CHARACTERS, result_cut, whole_text
from projections.compacting.turn_cuts import turn_cut
from projections.sendable import is_said
from projections.state_block import Count
from projections.told import Told
from projections.transcript import Return

Key = TypeVar("Key", bound=Hashable)

Place = tuple[int, int]
"""Where a result stands: its turn and its version."""

_TRIES: Final = 12


class Large(NamedTuple):
    """A result that has to become shorter, with its card and what it costs whole."""

    found: Return
    card: ResultCard
    tokens: int


def large_results(told: Told, price: Callable[[Told, int], int]) -> dict[Place, Large]:
    """All results of a turn; ``price`` says what those of a version cost."""
    found = {returned.version: returned for returned in told.turn.returns}
    return {
        (told.number, card.version): Large(found[card.version], card, price(told, card.version)) for card in told.card.results
    }


def shares(sizes: Mapping[Key, int], least: Mapping[Key, int], room: int) -> dict[Key, int]:
    """How much of ``room`` each of the sizes gets that has to become smaller: small ones stay, the largest are cut alike.

    None gets less than its ``least``, even where there is no room for that.
    """
    low, high = 0, max(sizes.values(), default=0)
    while low < high:
        level = (low + high + 1) // 2
        if sum(max(least[key], min(size, level)) for key, size in sizes.items()) <= room:
            low = level
        else:
            high = level - 1
    return {key: max(least[key], low) for key, size in sizes.items() if size > max(least[key], low)}


def cuts(large: Mapping[Place, Large], room: int, count: Count) -> dict[Place, tuple[str, int]]:
    """The beginning and end of those results that have to become shorter to fit into ``room`` together, and what these cost."""
    sizes = {place: one.tokens for place, one in large.items()}
    least = {place: min(one.tokens, _least(one, count)) for place, one in large.items()}
    given = shares(sizes, least, room)
    made = {place: _cut_to(large[place].found, most, count) for place, most in given.items()}
    # What pictures leave of their share, since their names are short, goes to the others.
    short = {place: tokens for place, (_, tokens) in made.items() if tokens < given[place] // 2}
    if short:
        given = shares({**sizes, **short}, {**least, **short}, room)
        made = {place: made[place] for place in short} | {
            place: _cut_to(large[place].found, most, count) for place, most in given.items() if place not in short
        }
    return made


def cut_by(told: Told, found: Return, card: ResultCard, *, tokens: int, over: int) -> tuple[str, int] | None:
    """The longest beginning and end of a result that save ``over`` of its ``tokens``, and what they cost; else the shortest.

    None where nothing is saved. ``told`` is its turn: it remembers what is made of it.
    """
    enough = (cut for cut in card.cuts if tokens - cut.tokens >= over)
    cut = next(enough, card.cuts[-1] if card.cuts else None)
    if cut is None or cut.tokens >= tokens:
        return None
    return turn_cut(told, found, cut.characters), cut.tokens


def _least(large: Large, count: Count) -> int:
    """What a result costs at least: one that says nothing is not made shorter."""
    if large.card.cuts:
        return large.card.cuts[-1].tokens
    whole = whole_text(large.found)
    return count(whole) if is_said(whole) else large.tokens


def _cut_to(found: Return, most: int, count: Count) -> tuple[str, int]:
    """Beginning and end of a result within ``most`` tokens, and what they cost; no less than ``LEAST_CHARACTERS`` of it."""
    whole = whole_text(found)
    characters = max(LEAST_CHARACTERS, min(len(whole), most * 6))
    for _ in range(_TRIES):
        text = result_cut(whole, found.id, characters=characters)
        tokens = count(text)
        if tokens <= most or characters == LEAST_CHARACTERS:
            return text, tokens
        characters = max(LEAST_CHARACTERS, min(characters - 1, characters * most // tokens * 31 // 32))
    text = result_cut(whole, found.id, characters=LEAST_CHARACTERS)
    return text, count(text)
