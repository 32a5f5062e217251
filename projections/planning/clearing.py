"""When the spent results of turns that left the tail become stubs: in batches, one segment at a time.

The moment at which a turn's results were cleared depends on the turns up to that moment alone, and so does what a stub shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from projections.planning.tailing import clearable_tokens, leaves_tail
from projections.policy import Policy
from projections.told import Told


def cleared_at(told: Sequence[Told], policy: Policy, *, upto: int) -> dict[int, int]:
    """By number, the turns whose spent results are stubs, and the number of the turn at whose coming they became so.

    ``told`` begins with a segment; ``upto`` is the number of the current turn.
    """
    length = 0 if policy.compaction is None else policy.compaction.segment_turns
    moments: dict[int, int] = {}
    for _, places in groupby(range(len(told)), key=lambda place: (told[place].turn.number - 1) // length if length else 0):
        saved = {place: clearable_tokens(told[place], policy) for place in places}
        moments |= _batches(told, {place: tokens for place, tokens in saved.items() if tokens > 0}, policy, upto)
    return moments


def _batches(told: Sequence[Told], saved: Mapping[int, int], policy: Policy, upto: int) -> Iterator[tuple[int, int]]:
    ready = sorted((_ready_at(told, place, policy), place) for place in saved)
    waiting: list[int] = []
    tokens = 0
    moments: list[tuple[int, int]] = []
    for moment, due in groupby(ready, key=lambda item: item[0]):
        if moment > upto:
            break
        for _, place in due:
            waiting.append(place)
            tokens += saved[place]
        if tokens >= policy.stubs.clear_at_least_tokens:
            moments += [(told[place].turn.number, moment) for place in waiting]
            waiting, tokens = [], 0
    return iter(moments)


def _ready_at(told: Sequence[Told], place: int, policy: Policy) -> int:
    """The first turn at which a turn's results are spent, outside the tail, and as old as the policy wants."""
    number = told[place].turn.number
    return max(number + (policy.stubs.older_than_turns or 0), spent_at(told, place), leaves_tail(told, place, policy))


def spent_at(told: Sequence[Told], place: int) -> int:
    """The number of the assistant turn that answered a turn's results: the first that began after all of them had come.

    One beyond the last of ``told`` if there is none yet.
    """
    latest = max((result.version for result in told[place].card.results), default=0)
    later = (told[other].turn for other in range(place + 1, len(told)))
    answers = (turn.number for turn in later if turn.role == "assistant" and turn.version > latest)
    return next(answers, told[-1].turn.number + 1)


def shown_used_through(told: Sequence[Told], place: int, policy: Policy) -> int:
    """The last turn whose use of a turn's results its stubs show: the one at which they were spent and outside the tail.

    No later one, whenever they became stubs, so that a stub never changes; and none that is not at hand when the segment is
    compacted.
    """
    number = told[place].turn.number
    length = 1 if policy.compaction is None else policy.compaction.segment_turns
    at_hand = -(-number // length) * length + policy.looks_ahead + 1
    return min(at_hand, max(spent_at(told, place), leaves_tail(told, place, policy)))
