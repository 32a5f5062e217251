"""A window of 8,000 tokens out of short and long ledgers, warm and cold, now and as it was, against a raw table.

Warm is a process that has answered before: asked again, asked after one more turn was appended (which is not timed), and asked as
of turns about the middle of the ledger, each time another one. Cold is a process that has just begun, imports aside.
"""

from __future__ import annotations

import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from bench.measuring import Times, Work, exponent, print_rows
from bench.window_case import NAME, Case, filled
from bench.window_cold import cold
from bench.window_floor import floor_window
from projections.policy import Policy
from projections.presets import preset_named
from replay.view import view

SIZES: Final = tuple(int(size) for size in os.environ.get("BENCH_SIZES", "200,1000,5000,50000").split(","))
POSTGRES_SIZES: Final = tuple(size for size in SIZES if size <= 5_000)
POLICIES: Final = ("default", "coding")
RUNS: Final = 61
COLD_RUNS: Final = 9
_WARM_UP: Final = 9

Paired = tuple[Times, Times]


def main() -> None:
    """Print medians, ratios and how both grow with the ledger."""
    with tempfile.TemporaryDirectory() as folder:
        places = [(str(Path(folder) / f"{size}.db"), str(Path(folder) / f"{size}-floor.db")) for size in SIZES]
        _print("SQLite", SIZES, [_measure(*place, size) for place, size in zip(places, SIZES, strict=True)])
    _postgres()


def _postgres() -> None:
    try:
        from bench.postgres_append import server  # noqa: PLC0415 — a machine may have no server, nor its driver
    except ImportError as missing:
        print(f"\nNo PostgreSQL: {missing}")
        return
    with server() as databases:
        found = [_measure(databases.new(), databases.new(), size) for size in POSTGRES_SIZES]
        _print("PostgreSQL", POSTGRES_SIZES, found)


def _measure(place: str, floor_place: str, size: int) -> tuple[dict[tuple[str, str], Paired], list[tuple[str, ...]]]:
    """What was measured, by policy and question; and rows on what is kept."""
    case = filled(place, floor_place, size, [preset_named(name) for name in POLICIES])
    kept = [] if place.startswith("postgresql:") else [_kept(case, size)]
    found = {(name, asked): times for name in POLICIES for asked, times in _asked(case, name).items()}
    case.store.close()
    return found, kept


def _asked(case: Case, name: str) -> dict[str, Paired]:
    policy = preset_named(name)
    last = case.turns
    found = {
        "cold": _timed_cold(case, name, [last] * COLD_RUNS),
        "cold, as of the middle": _timed_cold(case, name, list(case.middle_turns())[:COLD_RUNS]),
    }
    middle = list(case.middle_turns())[: RUNS + _WARM_UP]
    turns = iter(middle)
    return {
        "asked again": _paired(case, policy, lambda: case.turns),
        "after one more turn": _paired(case, policy, lambda: case.append() or case.turns),
        "as of the middle": _paired(case, policy, lambda: next(turns), runs=len(middle) - _WARM_UP),
        **found,
    }


def _paired(case: Case, policy: Policy, turn: Callable[[], int], *, runs: int = RUNS) -> Paired:
    """Both windows as of the turn that is given for each run."""
    results = Times([], []), Times([], [])
    for run in range(-_WARM_UP, runs):
        upto = turn()
        works: tuple[Work, ...] = (
            lambda upto=upto: view(case.store, NAME, at=case.ends[upto]).window(policy).request_bytes,  # type: ignore[misc]
            lambda upto=upto: floor_window(case.floor, upto, policy.budget_tokens),  # type: ignore[misc]
        )
        for work, times in zip(works, results, strict=True):
            cpu, wall = time.process_time(), time.perf_counter()
            work()
            if run >= 0:
                times.wall.append(time.perf_counter() - wall)
                times.cpu.append(time.process_time() - cpu)
    return results


def _timed_cold(case: Case, policy: str, turns: Sequence[int]) -> Paired:
    ours = [cold("ours", case.place, policy, case.ends[turn]) for turn in turns]
    floor = [cold("floor", case.floor_place, policy, turn) for turn in turns]
    if any(one.tokenizer for one in ours):
        print(f"{sum(one.tokenizer for one in ours)} of {len(ours)} processes loaded a tokenizer")
    return tuple(Times([one.wall for one in found], [one.cpu for one in found]) for found in (ours, floor))  # type: ignore[return-value]


def _print(store: str, sizes: Sequence[int], measured: Sequence[tuple[dict[tuple[str, str], Paired], list[tuple[str, ...]]]]) -> None:
    headings = ("turns", "context-ledger, ms", "of it processor, ms", "raw floor, ms", "paired ratio")
    for name, asked in measured[0][0]:
        times = [found[name, asked] for found, _ in measured]
        rows = [_row(f"{size:,}", *both) for size, both in zip(sizes, times, strict=True)]
        if len(sizes) > 1:
            slopes = [exponent(sizes, [both[side].wall_ms for both in times]) for side in (0, 1)]
            rows.append(("growth (log-log exponent)", f"{slopes[0]:.2f}", "", f"{slopes[1]:.2f}", f"{slopes[0] - slopes[1]:+.2f}"))
        print_rows(f"Window of 8,000 tokens, {store}, {name}: {asked}", headings, rows)
    kept = [row for _, rows in measured for row in rows]
    if kept:
        headings = ("turns", *(f"first time, {name}, ms of processor a turn" for name in POLICIES), "record, bytes a turn")
        print_rows(f"Made for windows, {store}", (*headings, "counts and places", "segments, both policies"), kept)


def _row(size: str, ours: Times, floor: Times) -> tuple[str, ...]:
    ratio = statistics.median(one / other for one, other in zip(ours.wall, floor.wall, strict=True))
    return size, f"{ours.wall_ms:.2f}", f"{ours.cpu_ms:.2f}", f"{floor.wall_ms:.3f}", f"{ratio:.1f}"


def _kept(case: Case, size: int) -> tuple[str, ...]:
    """The bytes a turn of the record, and of what is kept beside it, in a store that is a file of SQLite."""
    raw = sqlite3.connect(case.place)
    (record,) = raw.execute("SELECT sum(length(payload) + 120) FROM payloads").fetchone()
    kinds = dict(raw.execute("SELECT kind, sum(length(key) + length(value)) FROM derived GROUP BY kind").fetchall())
    raw.close()
    segments = _sum(kinds, lambda kind: kind.startswith("middle"))
    first = [f"{one:.2f}" for one in case.first_ms]
    shares = (f"{one / size:,.0f} ({one * 100 / record:.1f} %)" for one in (_sum(kinds, lambda kind: not kind.startswith("middle")), segments))
    return f"{size:,}", *first, f"{record / size:,.0f}", *shares


def _sum(kinds: dict[str, int], chosen: Callable[[str], bool]) -> int:
    found: Iterable[int] = (number for kind, number in kinds.items() if chosen(kind))
    return sum(found)
