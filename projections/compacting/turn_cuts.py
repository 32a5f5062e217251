"""The beginnings and ends of a turn's results, as they were counted: made once for all windows that show them."""

from __future__ import annotations

from projections.compacting.cuts import result_cut, whole_text
from projections.told import Told
from projections.transcript import Return


def turn_cut(told: Told, found: Return, characters: int) -> str:
    """The beginning and end of a result of a turn, in so many characters; the turn remembers it."""
    key = _key(found.version, characters)
    return told.recall(key, lambda _: result_cut(whole_text(found), found.id, characters=characters))


def make_cuts(told: Told) -> None:
    """Make those of all lengths to which the results of a turn may be cut."""
    returned = {found.version: found for found in told.turn.returns}
    for card in told.card.results:
        for cut in card.cuts:
            turn_cut(told, returned[card.version], cut.characters)


def drop_cuts(told: Told) -> None:
    """Remember none any more: they hold the results once more."""
    for card in told.card.results:
        for cut in card.cuts:
            told.remembered.pop(_key(card.version, cut.characters), None)


def _key(version: int, characters: int) -> tuple[str, int, int]:
    return "cut", version, characters
