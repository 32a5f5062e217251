"""When spent results become stubs: once their turn has left the tail, in batches, one segment at a time.

All that wait for their batch become stubs when a segment is compacted, and at once those whose turn was crowded out of the
tail: it and the turns after it, whole, cost more than the budget. The moment depends on the turns up to that moment alone, and
so does what a stub shows: what became a stub stays one, with the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from projections.planning.tailing import crowded_at, latest_result, leaves_tail
from projections.policy import Policy
from projections.told import Told


class Away(NamedTuple):
    """When a turn's results were ``spent``, at which ``moment`` it was out of the tail too, and whether it was crowded out."""

    spent: int
    moment: int
    is_crowded: bool


def away(told: Sequence[Told], place: int, timely: Sequence[int], policy: Policy) -> Away:
    """When a turn's results are spent and away, as numbers of turns; beyond the last of ``told`` if that is still to come.

    ``timely``: what these turns add up to (``timely_sums``).
    """
    one, last = told[place], told[-1].turn.number
    key = ("away", policy.leaving)
    known: Away | None = one.remembered.get(key)
    if known is not None and known.moment < last:
        return known
    spent, leaves = spent_at(told, place), leaves_tail(told, place, policy)
    crowded = crowded_at(told[0].turn.number, place, timely, policy, upto=leaves - 1)
    made = Away(spent, max(spent, crowded), crowded < leaves)
    if made.moment < last:  # nothing that is still to come changes it
        one.remembered[key] = made
    return made


def cleared_at(
    saved: Iterable[tuple[int, int]], away: Callable[[int], Away], policy: Policy, *, first: int, upto: int, compacted_at: int
) -> dict[int, int]:
    """By number, the turns whose spent results are stubs, and the number of the turn at whose coming they became so.

    ``saved`` is what stubs save of turns, by their places from the turn ``first`` on, with which a segment begins; ``away``
    tells when each of them was away; ``upto`` is the number of the current turn, ``compacted_at`` of that at whose coming the
    last segment was compacted, 0 before there was one.
    """
    moments: dict[int, int] = {}
    length = 0 if policy.compaction is None else policy.compaction.segment_turns
    waiting: dict[int, list[_Waiting]] = {}
    for place, tokens in saved:
        number = first + place
        found = away(place)
        if found.moment <= (upto if found.is_crowded else compacted_at):
            moments[number] = found.moment if found.is_crowded else compacted_at
        elif not found.is_crowded:
            ready = max(found.moment, number + (policy.stubs.older_than_turns or 0))
            waiting.setdefault((number - 1) // length if length else 0, []).append(_Waiting(ready, number, tokens))
    for segment in waiting.values():
        moments.update(_batches(segment, policy, upto))
    return moments


class _Waiting(NamedTuple):
    """From which turn on the results of a turn may be cleared, the turn, and what that saves."""

    ready: int
    number: int
    tokens: int


def _batches(segment: list[_Waiting], policy: Policy, upto: int) -> Iterator[tuple[int, int]]:
    waiting: list[_Waiting] = []
    for moment, due in groupby(sorted(segment), key=lambda one: one.ready):
        if moment > upto:
            break
        waiting += due
        if sum(one.tokens for one in waiting) >= policy.stubs.clear_at_least_tokens:
            yield from ((one.number, moment) for one in waiting)
            waiting = []


def spent_at(told: Sequence[Told], place: int) -> int:
    """The number of the assistant turn that answered a turn's results: the first that began after all of them had come.

    One beyond the last of ``told`` if there is none yet.
    """
    latest = latest_result(told[place])
    later = (told[other].turn for other in range(place + 1, len(told)))
    answers = (turn.number for turn in later if turn.role == "assistant" and turn.version > latest)
    return next(answers, told[-1].turn.number + 1)


def shown_used_through(number: int, moment: int, policy: Policy) -> int:
    """The last turn whose use of a turn's results its stubs show: the ``moment`` at which they were spent and away.

    No later one, whenever they became stubs, so that a stub never changes; and none that is not at hand when the segment is
    compacted.
    """
    length = 1 if policy.compaction is None else policy.compaction.segment_turns
    at_hand = -(-number // length) * length + policy.looks_ahead + 1
    return min(at_hand, moment)
