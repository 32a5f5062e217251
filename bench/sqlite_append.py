"""Durable append of one mixed turn on SQLite, against one raw INSERT of the same bytes with the same durability."""

from __future__ import annotations

import sqlite3
import statistics
import tempfile
from pathlib import Path
from typing import Final

import ledger
from bench.measuring import Times, paired, print_rows
from bench.workload import listed_turns
from ledger.codec import encode

TURNS: Final = 600


def main() -> None:
    """Print medians and ratios."""
    with tempfile.TemporaryDirectory() as folder:
        ours, floor = _measure(Path(folder))
    rows = [_row("context-ledger", ours, floor), _row("raw sqlite3", floor, floor)]
    headings = ("one turn, durable", "wall ms", "processor ms", "wall, paired ratio", "processor ratio")
    print_rows(f"Append: {TURNS} mixed turns, SQLite, WAL, synchronous=FULL", headings, rows)


def _measure(folder: Path) -> tuple[Times, Times]:
    turns = listed_turns(TURNS + 10)
    payloads = [b"".join(encode(event) for event in events) for events in turns]
    store = ledger.connect(str(folder / "ours.db"))
    handle = store.ledger("bench")
    raw = sqlite3.connect(folder / "floor.db", isolation_level=None)
    raw.execute("PRAGMA journal_mode = WAL")
    raw.execute("PRAGMA synchronous = FULL")
    raw.execute("CREATE TABLE turns (number INTEGER PRIMARY KEY, content BLOB NOT NULL)")
    our_turns, floor_turns = iter(turns), iter(enumerate(payloads))
    with store:
        return paired(
            lambda: handle.append(next(our_turns)),
            lambda: raw.execute("INSERT INTO turns VALUES (?, ?)", next(floor_turns)),
            runs=TURNS,
        )


def _row(name: str, times: Times, floor: Times) -> tuple[str, ...]:
    ratio = statistics.median(ours / theirs for ours, theirs in zip(times.wall, floor.wall, strict=True))
    return name, f"{times.wall_ms:.3f}", f"{times.cpu_ms:.3f}", f"{ratio:.2f}", f"{times.cpu_ms / floor.cpu_ms:.2f}"
