"""A window of 8,000 tokens out of short and long ledgers, warm and cold, now and as it was, against a raw table.

Warm is a process that has answered before: asked again, asked after one more turn was appended, and asked as of the middle of
the ledger: again, at turns one after the other, and at turns far apart, of which the process has all at hand where the ledger
is short, and little where it is long. A store just opened has nothing of it at hand, whatever its length. What comes before a
question is not timed: the turn is appended here and there, and once its counts are stored here, too, as the raw table's are
(``bring_up_to_date``, which also looks through the turn for the stubs and cuts to come).
Cold is a process that has just begun, imports aside. ``BENCH_SIZES`` has other numbers of turns.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from bench.measuring import Times, exponent, print_rows
from bench.window_case import filled
from bench.window_kept import Kept, kept
from bench.window_times import Paired, Timed, timed
from projections.presets import preset_named

SIZES: Final = tuple(int(size) for size in os.environ.get("BENCH_SIZES", "200,1000,5000,50000").split(","))
POSTGRES_SIZES: Final = tuple(size for size in SIZES if size <= 5_000)
POLICIES: Final = ("default", "coding")


class Measured(NamedTuple):
    """What was measured of a ledger of one length: by policy and question, and what is kept beside it."""

    timed: dict[tuple[str, str], Timed]
    kept: Kept | None


def main() -> None:
    """Print medians, ratios and how both grow with the ledger."""
    with tempfile.TemporaryDirectory() as folder:
        places = [(str(Path(folder) / f"{size}.db"), str(Path(folder) / f"{size}-floor.db")) for size in SIZES]
        found = [_measure(*place, size) for place, size in zip(places, SIZES, strict=True)]
    _print("SQLite", SIZES, found)
    _print_kept(SIZES, [measured.kept for measured in found])
    _postgres()


def _postgres() -> None:
    try:
        from bench.postgres_append import server  # a machine may have no server, nor its driver
    except ImportError as missing:
        print(f"\nNo PostgreSQL: {missing}")
        return
    with server() as databases:
        _print("PostgreSQL", POSTGRES_SIZES, [_measure(databases.new(), databases.new(), size) for size in POSTGRES_SIZES])


def _measure(place: str, floor_place: str, size: int) -> Measured:
    case = filled(place, floor_place, size, [preset_named(name) for name in POLICIES])
    beside = None if place.startswith("postgresql:") else kept(case)
    found = {(name, asked): times for name in POLICIES for asked, times in timed(case, name).items()}
    case.store.close()
    return Measured(found, beside)


def _print(store: str, sizes: Sequence[int], found: Sequence[Measured]) -> None:
    headings = ("turns", "context-ledger, ms", "of it processor, ms", "raw floor, ms", "paired ratio", "tokenizer loaded")
    for name, asked in found[0].timed:
        times = [measured.timed[name, asked] for measured in found]
        rows = [_row(f"{size:,}", one) for size, one in zip(sizes, times, strict=True)]
        rows += [_growth(sizes, [one.paired for one in times])] if len(sizes) > 1 else []
        print_rows(f"Window of 8,000 tokens, {store}, {name}: {asked}", headings, rows)


def _row(size: str, found: Timed) -> tuple[str, ...]:
    ours, floor = found.paired
    ratio = statistics.median(one / other for one, other in zip(ours.wall, floor.wall, strict=True))
    loaded = "yes" if found.tokenizer else "no"
    return size, f"{ours.wall_ms:.2f}", f"{ours.cpu_ms:.2f}", f"{floor.wall_ms:.3f}", f"{ratio:.1f}", loaded


def _growth(sizes: Sequence[int], times: Sequence[Paired]) -> tuple[str, ...]:
    """How both grow, and what is left of our growth without that of the floor."""
    ours, floor = (_slope(sizes, [both[side] for both in times]) for side in (0, 1))
    return "growth (log-log exponent)", f"{ours:.2f}", "", f"{floor:.2f}", f"{ours - floor:+.2f} less the floor's", ""


def _slope(sizes: Sequence[int], times: Sequence[Times]) -> float:
    return exponent(sizes, [one.wall_ms for one in times])


def _print_kept(sizes: Sequence[int], found: Sequence[Kept | None]) -> None:
    headings = ("turns", *(f"first time, {name}, processor ms a turn" for name in POLICIES))
    headings += ("record, bytes a turn", "counts and places", *(f"segments, {name}" for name in POLICIES))
    rows = [
        (f"{size:,}", *(f"{one:.2f}" for one in beside.first_ms), f"{beside.record:,.0f}", *map(beside.share, beside.beside))
        for size, beside in zip(sizes, found, strict=True)
        if beside is not None
    ]
    print_rows("What is made for windows and kept beside the record, SQLite", headings, rows)
