"""When the spent results of turns that left the tail become stubs: in batches, one segment at a time.

The moment at which a turn's results were cleared depends on the turns up to that moment alone. So a stub never changes from
then on: it shows what was used of the result by then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from projections.policy import Policy
from projections.tailing import STUB_TOKENS, leaves_tail
from projections.told import Told


def clearable_tokens(told: Told, policy: Policy) -> int:
    """What stubs would save of a turn: nothing while a call of it is open."""
    rules = policy.stubs
    if not rules.spent or told.card.open_calls:
        return 0
    tools = {found.version: call.tool for call in told.turn.calls if (found := told.turn.answer_to(call.call_id)) is not None}
    return sum(
        result.contents.tokens - STUB_TOKENS
        for result in told.card.results
        if result.contents.tokens > max(rules.larger_than_tokens, STUB_TOKENS)
        and tools.get(result.version) not in rules.excluded_tools
    )


def cleared_at(told: Sequence[Told], policy: Policy, *, upto: int) -> dict[int, int]:
    """By number, the turns whose spent results are stubs, and the number of the turn at whose coming they became stubs.

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
    answered = next((other.turn.number for other in told[place + 1 :] if other.turn.role == "assistant"), None)
    if answered is None:
        return told[-1].turn.number + 1
    older = number + (policy.stubs.older_than_turns or 0)
    return max(leaves_tail(told, place, policy), answered, older, _complete_at(told, place))


def _complete_at(told: Sequence[Told], place: int) -> int:
    """The first turn that began after all of the results had come."""
    latest = max((result.version for result in told[place].card.results), default=0)
    return next((other.turn.number for other in told[place + 1 :] if other.turn.version > latest), told[-1].turn.number)
