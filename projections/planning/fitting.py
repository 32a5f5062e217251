"""Results that are too large for what is left: how much each may take, and its beginning and end within that."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any, Final, TypeVar

from ledger.parts import DocumentPart, ImagePart, OpaquePart
from projections.compacting.middle import Cut
from projections.compacting.stubs import result_cut
from projections.pieces import media_note
from projections.planning.tailing import clearable_results
from projections.policy import Policy
from projections.state_block import Count
from projections.told import Told
from projections.transcript import Return, text_of

Key = TypeVar("Key", bound=Hashable)

Place = tuple[int, int]
"""Where a result stands: its turn and its version."""

CutPrice = Callable[[Told, int, int, str], int]
"""What a result costs when it is cut: of its turn, its version, the characters and the text."""

LEAST_CHARACTERS: Final = 110
"""No result is cut to less: there is room for the line that says what is left out, and where the whole result is."""

CUT_CHARACTERS: Final = (7_040, 1_760, 440, LEAST_CHARACTERS)
"""The lengths to which results of the tail are cut: a few fixed ones, so that a cut is seldom another one a turn later."""

_TRIES: Final = 12


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


def cuts(sizes: Mapping[Place, int], returned: Mapping[Place, Return], room: int, count: Count) -> dict[Place, tuple[str, int]]:
    """The beginning and end of those results that have to become shorter to fit into ``room`` together, and what these cost."""
    least = {place: min(size, cut_to(returned[place], 0, count)[1]) for place, size in sizes.items()}
    given = shares(sizes, least, room)
    made = {place: cut_to(returned[place], most, count) for place, most in given.items()}
    # What pictures leave of their share, since their names are short, goes to the others.
    short = {place: tokens for place, (_, tokens) in made.items() if tokens < given[place] // 2}
    if short:
        given = shares({**sizes, **short}, {**least, **short}, room)
        made = {place: made[place] for place in short} | {
            place: cut_to(returned[place], most, count) for place, most in given.items() if place not in short
        }
    return made


def cut_by(told: Told, found: Return, tokens: int, *, over: int, price: CutPrice) -> tuple[str, int] | None:
    """The longest beginning and end of a result that save ``over`` of its ``tokens``, and what they cost; else the shortest.

    None where nothing is saved. ``told`` is its turn: it remembers what is made of it.
    """
    whole = _whole(found)
    made: tuple[str, int] | None = None
    for characters in _lengths(whole):
        made = told.recall(("cut", found.version, characters), partial(_cut, whole, found, characters, price))
        if tokens - made[1] >= over:
            break
    return None if made is None or made[1] >= tokens else made


def cuts_of(told: Told, policy: Policy, count: Count) -> tuple[Cut, ...]:
    """What all cuts cost of those results of a turn that may become stubs."""
    wholes = {found.version: (found.id, _whole(found)) for found in told.turn.returns}
    return tuple(
        Cut(result.version, characters, count(result_cut(whole, result_id, characters=characters)))
        for result in clearable_results(told, policy.stubs)
        for result_id, whole in [wholes[result.version]]
        for characters in _lengths(whole)
    )


def _lengths(whole: str) -> list[int]:
    """The lengths to which a result may be cut, the longest first."""
    return [characters for characters in CUT_CHARACTERS if characters < len(whole)]


def _cut(whole: str, found: Return, characters: int, price: CutPrice, told: Told) -> tuple[str, int]:
    text = result_cut(whole, found.id, characters=characters)
    return text, price(told, found.version, characters, text)


def cut_to(found: Return, most: int, count: Count) -> tuple[str, int]:
    """Beginning and end of a result within ``most`` tokens, and what they cost; no less than ``LEAST_CHARACTERS`` of it.

    Pictures, documents and blocks of others are named.
    """
    whole = _whole(found)
    characters = max(LEAST_CHARACTERS, min(len(whole), most * 6))
    for _ in range(_TRIES):
        text = result_cut(whole, found.id, characters=characters)
        tokens = count(text)
        if tokens <= most or characters == LEAST_CHARACTERS:
            return text, tokens
        characters = max(LEAST_CHARACTERS, min(characters - 1, characters * most // tokens * 31 // 32))
    text = result_cut(whole, found.id, characters=LEAST_CHARACTERS)
    return text, count(text)


def _whole(found: Return) -> str:
    return "\n".join(_written(part, found.id) for part in found.parts)


def _written(part: Any, result_id: str) -> str:
    match part:
        case ImagePart() | DocumentPart():
            return f"{media_note(part)[:-1]}; whole result: result_id={result_id}]"
        case OpaquePart(block=block):
            return f"[unsupported block: {block}; whole result: result_id={result_id}]"
        case _:
            return text_of((part,))
