"""Which segments of a ledger have no summary yet that a policy takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ledger.erased import Forgotten
from ledger.retention import RETENTION
from projections.compacting.segments import Segment, inputs_digest, judged
from projections.compacting.summaries import chosen_summary
from projections.planning.gathering import task_number
from projections.planning.tailing import compacted_segments, plain_tokens, tail_start
from projections.policy import Policy, SummaryChoice
from projections.summarising import segment_turns
from projections.told import Turns
from projections.transcript import Turn
from replay.windows.scenes import Ground, middles_of

Which = Literal["compacted", "complete"]
"""The segments that a policy compacts in a window of this version, or all whose turns were all recorded and answered."""


@dataclass(frozen=True, slots=True)
class MissingSummary:
    """A segment, the turns from ``first`` to ``last``, of which no summary is recorded that is taken and made of these turns.

    ``turns``: of how many of them there is something to tell; ``tokens``: what these cost whole.
    """

    first: int
    last: int
    turns: int
    tokens: int


def missing_summaries(ground: Ground, policy: Policy, *, which: Which) -> tuple[MissingSummary, ...]:
    """The segments without a summary, in order.

    A policy that names no summaries misses those of which there is none at all. Nothing is missed of a segment whose turns are
    all kept or dropped, nor while one of its turns is past its retention and not erased yet: a summary would go with it.
    """
    task = task_number(ground.turns, policy)
    if policy.compaction is None or task is None:
        return ()
    middles = middles_of(ground, policy, task)
    wanted = policy.compaction.by or (SummaryChoice(),)
    segments = (middles.segment(number) for number in range(1, _segments(ground.turns, policy, which) + 1))
    return tuple(_described(segment, policy) for segment in segments if _is_missing(segment, policy, task, wanted))


def is_passing(turns: Iterable[Turn]) -> bool:
    """Whether something in these turns is past its retention and not erased yet."""
    return any(mark.job == RETENTION for turn in turns for mark in _marks(turn))


def _segments(turns: Turns, policy: Policy, which: Which) -> int:
    if policy.compaction is None:
        return 0
    if which == "compacted":
        return compacted_segments(turns, policy, tail_start(turns, policy))
    return max(0, turns.last - 1) // policy.compaction.segment_turns  # the current turn's calls may still be answered


def _is_missing(segment: Segment, policy: Policy, task: int, wanted: Sequence[SummaryChoice]) -> bool:
    turns = segment.turns
    is_told = any(verdict.verdict in ("compress", "stub") for verdict in judged(segment, policy, task))
    if not is_told or is_passing(turns) or not segment_turns(turns).turns:
        return False
    return not segment.summaries or chosen_summary(segment.summaries, wanted, inputs=inputs_digest(turns)) is None


def _described(segment: Segment, policy: Policy) -> MissingSummary:
    living = [told for told in segment.told if told.turn.forgotten is None]
    tokens = sum(plain_tokens(told.card, {}, policy) for told in living)
    return MissingSummary(segment.first, segment.last, len(living), tokens)


def _marks(turn: Turn) -> Iterator[Forgotten]:
    for parts in (turn.parts, *(found.parts for found in turn.returns)):
        yield from (part for part in parts if isinstance(part, Forgotten))
