"""Two pieces of work timed in turn, so that both meet the same disk and the same neighbours."""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Work = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of wall clock and of processor that each run of a piece of work took."""

    wall: list[float]
    cpu: list[float]

    @property
    def wall_ms(self) -> float:
        """The median of the wall clock, in milliseconds."""
        return statistics.median(self.wall) * 1e3

    @property
    def cpu_ms(self) -> float:
        """The median of the processor's time, in milliseconds."""
        return statistics.median(self.cpu) * 1e3


def paired(ours: Work, floor: Work, *, runs: int, warm_up: int = 3) -> tuple[Times, Times]:
    """Run both in turn ``runs`` times, after ``warm_up`` runs that do not count."""
    for _ in range(warm_up):
        ours()
        floor()
    results = Times([], []), Times([], [])
    gc.collect()
    for _ in range(runs):
        for work, times in zip((ours, floor), results, strict=True):
            cpu, wall = time.process_time(), time.perf_counter()
            work()
            times.wall.append(time.perf_counter() - wall)
            times.cpu.append(time.process_time() - cpu)
    return results


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """The slope of a log-log fit: 0 where the size does not matter, 1 where time grows with it."""
    points = [(math.log(size), math.log(second)) for size, second in zip(sizes, seconds, strict=True)]
    mean_x, mean_y = (statistics.mean(axis) for axis in zip(*points, strict=True))
    rise: float = sum((x - mean_x) * (y - mean_y) for x, y in points)
    run: float = sum((x - mean_x) ** 2 for x, _ in points)
    return rise / run


def print_rows(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A Markdown table."""
    print(f"\n## {title}\n")
    for row in (headings, ["---"] * len(headings), *rows):
        print(f"| {' | '.join(row)} |")
