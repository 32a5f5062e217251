"""A search over 1,000, 10,000 and 50,000 turns, against a scan of all payloads for the same words.

The floor decompresses every payload and looks for the words in its bytes, whatever stands around them: no versions, no ranking,
no snippets, no look at what was forgotten. The first search builds the index; later ones find it there.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import ledger
from bench.measuring import exponent, paired, print_rows
from bench.workload import mixed_turns
from ledger import Ledgers
from ledger.codec import unpack
from ledger.events import Event, TurnRecorded
from ledger.parts import TextPart
from replay import view

SIZES: Final = tuple(int(size) for size in os.environ.get("BENCH_SIZES", "1000,10000,50000").split(","))
RUNS: Final = 5
_AT_ONCE: Final = 500
_RARE: Final = "the depot in Ghent closes at 17:45 on ORD-88213-X"

QUERIES: Final = (
    ("an identifier in one turn", "ORD-88213-X", ("ord-88213-x",)),
    ("a question about one turn", "when does the depot in Ghent close?", ("depot", "ghent")),
    ("a word in most turns", "refund", ("refund",)),
)


def main() -> None:
    """Print how long the index takes, medians, ratios and growth."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name, _, _ in QUERIES}
    built: list[tuple[str, ...]] = []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "record.db"
            with ledger.connect(str(path)) as store:
                _fill(store, size)
                built.append(_built(store, path, size))
                for name, query, words in QUERIES:
                    ours, floor = paired(_search(store, query), _scan(path, words), runs=RUNS, warm_up=1)
                    times[name].append((ours.wall_ms, floor.wall_ms))
    print_rows(
        "Building the index of searches, SQLite", ("turns", "first search, s", "CPU, s", "file, MB", "of it index, MB"), built
    )
    for name, measured in times.items():
        rows = [
            (f"{size:,}", f"{ours:.1f}", f"{floor:.1f}", f"{ours / floor:.3f}")
            for size, (ours, floor) in zip(SIZES, measured, strict=True)
        ]
        if len(SIZES) > 1:
            slopes = [exponent(SIZES, [each[place] for each in measured]) for place in (0, 1)]
            rows.append(("growth (log-log exponent)", f"{slopes[0]:.2f}", f"{slopes[1]:.2f}", ""))
        print_rows(f"Search, SQLite: {name}", ("turns", "context-ledger, ms", "scan, ms", "ratio"), rows)


def _fill(store: Ledgers, size: int) -> None:
    handle = store.ledger("bench")
    batch: list[Event] = []
    for turn, events in enumerate(mixed_turns(size), start=1):
        is_rare = turn == size // 2 and events[0].turn is not None
        batch += [TurnRecorded(role="user", parts=(TextPart(text=_RARE),), turn=turn)] if is_rare else events
        if len(batch) >= _AT_ONCE:
            handle.append(batch)
            batch.clear()
    if batch:
        handle.append(batch)


def _built(store: Ledgers, path: Path, size: int) -> tuple[str, ...]:
    begun, cpu = time.perf_counter(), time.process_time()
    view(store, "bench").search(QUERIES[0][1])
    seconds, cpu_seconds = time.perf_counter() - begun, time.process_time() - cpu
    with sqlite3.connect(path) as raw:
        (index,) = raw.execute("SELECT sum(length(value)) FROM derived").fetchone()
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw.close()
    return f"{size:,}", f"{seconds:.1f}", f"{cpu_seconds:.1f}", f"{path.stat().st_size / 1e6:.1f}", f"{index / 1e6:.1f}"


def _search(store: Ledgers, query: str) -> Callable[[], object]:
    return lambda: view(store, "bench").search(query).hits


def _scan(path: Path, words: tuple[str, ...]) -> Callable[[], object]:
    raw = sqlite3.connect(path, isolation_level=None)
    wanted = [word.encode() for word in words]

    def scan() -> list[int]:
        found = []
        for position, compression, stored in raw.execute("SELECT position, compression, payload FROM payloads"):
            payload = unpack(compression, stored).lower()
            if all(word in payload for word in wanted):
                found.append(position)
        return found

    return scan
