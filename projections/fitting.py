"""Results that are too large for what is left: how much each may take, and its beginning and end within that."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final, TypeVar

from projections.state_block import Count
from projections.stubs import result_cut
from projections.told import Told

Key = TypeVar("Key", bound=Hashable)

_TRIES: Final = 12


def shares(sizes: Mapping[Key, int], room: int) -> dict[Key, int]:
    """How much of ``room`` each of the sizes gets that has to become smaller: small ones stay, the largest are cut alike."""
    left, waiting = room, sorted(sizes, key=lambda key: sizes[key])
    while waiting and sizes[waiting[0]] * len(waiting) <= left:
        left -= sizes[waiting.pop(0)]
    return {key: max(0, left // len(waiting)) for key in waiting}


def cut_to(told: Told, version: int, most: int, count: Count) -> tuple[str | None, int]:
    """Beginning and end of a result within ``most`` tokens, and what they cost; None for one that is shorter as it is."""
    found = next(returned for returned in told.turn.returns if returned.version == version)
    whole = next(result.contents.tokens for result in told.card.results if result.version == version)
    characters = len(found.text) * most // max(1, whole)
    text, tokens = "", most + 1
    for _ in range(_TRIES):
        text = result_cut(found.text, found.id, characters=characters)
        tokens = count(text)
        if tokens <= most or not characters:
            break
        characters = characters * max(0, most - 4) // max(tokens, 1) * 15 // 16
    return (text, tokens) if tokens < whole else (None, whole)
