"""The beginnings and ends of a turn's results, as they were counted: made once for all windows that show them."""

from __future__ import annotations

from projections.cards import ResultCard
from projections.compacting.cuts import result_cut, whole_text
from projections.told import Told
from projections.transcript import Return


def turn_cut(told: Told, found: Return, characters: int) -> str:
    """The beginning and end of a result of a turn, in so many characters; the turn remembers it."""
    return told.recall(
        ("cut", found.version, characters), lambda _: result_cut(whole_text(found), found.id, characters=characters)
    )


def make_cuts(told: Told) -> None:
    """Make those of all lengths to which the results of a turn may be cut."""
    for found, card in _results(told):
        for cut in card.cuts:
            turn_cut(told, found, cut.characters)


def drop_cuts(told: Told) -> None:
    """Remember none any more: they hold the results once more."""
    for found, card in _results(told):
        for cut in card.cuts:
            told.remembered.pop(("cut", found.version, cut.characters), None)


def _results(told: Told) -> list[tuple[Return, ResultCard]]:
    returned = {found.version: found for found in told.turn.returns}
    return [(returned[card.version], card) for card in told.card.results]
