"""Results that are too large for what is left: how much each may take, and its beginning and end within that."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple, TypeVar

from projections.cards import ResultCard
from projections.compacting.cuts import FEW_STEPS
from projections.compacting.turn_cuts import turn_cut
from projections.told import Told
from projections.transcript import Return

Key = TypeVar("Key", bound=Hashable)

Place = tuple[int, int]
"""Where a result stands: its turn and its version."""


class Large(NamedTuple):
    """A result that has to become shorter, with its turn and card, and what it costs whole."""

    told: Told
    found: Return
    card: ResultCard
    tokens: int


def large_results(told: Told, price: Callable[[Told, int], int]) -> dict[Place, Large]:
    """All results of a turn; ``price`` says what those of a version cost."""
    found = {returned.version: returned for returned in told.turn.returns}
    return {
        (told.number, card.version): Large(told, found[card.version], card, price(told, card.version))
        for card in told.card.results
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


def cuts(large: Mapping[Place, Large], room: int) -> dict[Place, tuple[str, int]]:
    """The beginning and end of those results that have to become shorter to fit into ``room`` together, and what these cost."""
    sizes = {place: one.tokens for place, one in large.items()}
    least = {place: min(one.tokens, _least(one)) for place, one in large.items()}
    given = shares(sizes, least, room)
    made = {place: _step_within(large[place], most) for place, most in given.items()}
    # What pictures leave of their share, since their names are short, goes to the others.
    short = {place: large[place].card.cuts[step] for place, step in made.items()}
    short = {place: tokens for place, tokens in short.items() if tokens < given[place] // 2}
    if short:
        given = shares({**sizes, **short}, {**least, **short}, room)
        others = {place: _step_within(large[place], most) for place, most in given.items() if place not in short}
        made = {place: made[place] for place in short} | others
    return {place: _cut_to(large[place], step) for place, step in _lengthened(made, large, room).items()}


def _lengthened(made: Mapping[Place, int], large: Mapping[Place, Large], room: int) -> dict[Place, int]:
    """The same steps, or the next longer ones as far as those of all leave room for that: the oldest results first."""
    costs = {place: one.card.cuts[made[place]] if place in made else one.tokens for place, one in large.items()}
    spare, longer = max(0, room - sum(costs.values())), {}
    for place, step in made.items():
        cuts = large[place].card.cuts
        more = cuts[step + 1] - cuts[step] if step + 1 < len(cuts) else 0
        is_longer = 0 < more <= spare
        longer[place], spare = step + is_longer, spare - more * is_longer
    return longer


def cut_by(told: Told, found: Return, card: ResultCard, *, tokens: int, over: int) -> tuple[str, int] | None:
    """The longest beginning and end of a result that save ``over`` of its ``tokens``, and what they cost; else the shortest.

    None where nothing is saved. ``told`` is its turn: it remembers what is made of it.
    """
    steps = [step for step in FEW_STEPS if step < len(card.cuts)]
    step = next((step for step in steps if tokens - card.cuts[step] >= over), steps[-1] if steps else None)
    if step is None or card.cuts[step] >= tokens:
        return None
    return turn_cut(told, found, step), card.cuts[step]


def _least(large: Large) -> int:
    """What a result costs at least: one that is shorter than any cut stays as it is."""
    return large.card.cuts[0] if large.card.cuts else large.tokens


def _step_within(large: Large, most: int) -> int:
    """The longest step within ``most`` tokens; the shortest where there is none."""
    cuts = large.card.cuts
    return next((step for step in range(len(cuts) - 1, 0, -1) if cuts[step] <= most), 0)


def _cut_to(large: Large, step: int) -> tuple[str, int]:
    """Beginning and end of a result, and what they cost."""
    return turn_cut(large.told, large.found, step), large.card.cuts[step]
