"""How long a window takes in one ledger, by what is asked, with the floor measured in turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Final, NamedTuple

from bench.measuring import Times, Work
from bench.window_case import NAME, Case
from bench.window_cold import cold
from bench.window_floor import floor_at, floor_window
from ledger import connect
from projections.policy import Policy
from projections.presets import preset_named
from replay.freshening import freshen
from replay.view import view

RUNS: Final = 60
COLD_RUNS: Final = 9
_WARM_UP: Final = 9
_KINDS_RUNS: Final = 120
"""More where windows come in kinds: one turn only adds itself, others cut a result, make a stub of one, or have a segment
compacted."""

Paired = tuple[Times, Times]


class Timed(NamedTuple):
    """Ours and the floor's, and whether one of our processes had to load a tokenizer."""

    paired: Paired
    tokenizer: bool = False


def timed(case: Case, name: str) -> dict[str, Timed]:
    """What each question took under a policy, by its name."""
    policy = preset_named(name)
    freshen(case.store, NAME, policy=policy)
    last, middle = case.turns, case.middle_turns()
    apart, others, in_a_row = iter(middle), iter(middle), iter(range(last // 2, last))
    return {
        "asked again": Timed(_paired(case, policy, lambda: last)),
        "cold": _cold(case, name, [last] * COLD_RUNS),
        "cold, as of the middle": _cold(case, name, middle[:COLD_RUNS]),
        "as of a turn of the middle, asked again": Timed(_paired(case, policy, lambda: last // 2)),
        "as of turns of the middle, one after the other": Timed(_paired(case, policy, lambda: next(in_a_row))),
        "as of turns about the middle, far apart": Timed(
            _paired(case, policy, lambda: next(apart), runs=min(RUNS, len(middle) - _WARM_UP))
        ),
        "by a store just opened": Timed(_paired(case, policy, lambda: last, works=_opening)),
        "by a store just opened, as of turns about the middle": Timed(
            _paired(case, policy, lambda: next(others), works=_opening, runs=min(RUNS, len(middle) - _WARM_UP))
        ),
        "after one more turn": Timed(_paired(case, policy, case.append, runs=_KINDS_RUNS)),
        "after one more turn, with stored counts": Timed(_paired(case, policy, case.append_with_counts, runs=_KINDS_RUNS)),
    }


def _at(case: Case, upto: int) -> int | None:
    return None if upto == case.turns else case.ends[upto]


def _works(case: Case, policy: Policy, upto: int) -> tuple[Work, Work]:
    at = _at(case, upto)
    return (
        lambda: view(case.store, NAME, at=at).window(policy).request_bytes,
        lambda: floor_window(case.floor, upto, policy.budget_tokens),
    )


def _opening(case: Case, policy: Policy, upto: int) -> tuple[Work, Work]:
    """Both by connections of their own, so that nothing of the ledger is in memory, but all else is."""

    def ours() -> bytes:
        with connect(case.place) as store:
            return view(store, NAME, at=_at(case, upto)).window(policy).request_bytes

    def floor() -> bytes:
        with closing(floor_at(case.floor_place)) as opened:
            return floor_window(opened, upto, policy.budget_tokens)

    return ours, floor


def _paired(
    case: Case,
    policy: Policy,
    turn: Callable[[], int],
    *,
    works: Callable[[Case, Policy, int], tuple[Work, Work]] = _works,
    runs: int = RUNS,
) -> Paired:
    """Both windows as of the turn that is given for each run."""
    results = Times([], []), Times([], [])
    for run in range(-_WARM_UP, runs):
        for work, times in zip(works(case, policy, turn()), results, strict=True):
            cpu, wall = time.process_time(), time.perf_counter()
            work()
            if run >= 0:
                times.wall.append(time.perf_counter() - wall)
                times.cpu.append(time.process_time() - cpu)
    return results


def _cold(case: Case, policy: str, turns: Sequence[int]) -> Timed:
    """Each by a process of its own."""
    ours = [cold("ours", case.place, policy, case.ends[turn]) for turn in turns]
    floor = [cold("floor", case.floor_place, policy, turn) for turn in turns]
    both = tuple(Times([one.wall for one in found], [one.cpu for one in found]) for found in (ours, floor))
    return Timed((both[0], both[1]), any(one.tokenizer for one in ours))
