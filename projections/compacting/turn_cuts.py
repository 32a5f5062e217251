"""The beginnings and ends of a turn's results, as they were counted: made once for all windows that show them."""

from __future__ import annotations

from projections.compacting.cuts import FEW_STEPS, result_cut, step_characters, whole_text
from projections.told import Told
from projections.transcript import Return


def turn_cut(told: Told, found: Return, step: int) -> str:
    """The beginning and end of a result of a turn, cut to a step; the turn remembers it."""
    key = _key(found.version, step)
    return told.recall(key, lambda _: result_cut(whole_text(found), found.id, characters=step_characters(step)))


def make_cuts(told: Told) -> None:
    """Make those to which the results of a turn are cut once they were answered."""
    returned = {found.version: found for found in told.turn.returns}
    for card in told.card.results:
        for step in FEW_STEPS:
            if step < len(card.cuts):
                turn_cut(told, returned[card.version], step)


def drop_cuts(told: Told) -> None:
    """Remember none any more: they hold the results once more."""
    for card in told.card.results:
        for step in range(len(card.cuts)):
            told.remembered.pop(_key(card.version, step), None)


def _key(version: int, step: int) -> tuple[str, int, int]:
    return "cut", version, step
