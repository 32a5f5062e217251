"""A window of 8,000 tokens out of 200, 1,000 and 5,000 turns, against a raw table that stores token counts.

The floor reads rows from the end until the budget is spent: no roles, no pairing, no task, no receipt, no history.
"""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path
from typing import Final

import ledger
from bench.measuring import Times, exponent, paired, print_rows
from bench.workload import listed_turns
from ledger.codec import encode
from projections.policy import Policy
from replay import view
from replay.tokens import counter

SIZES: Final = (200, 1_000, 5_000)
POLICY: Final = Policy(tail_turns=24)
RUNS: Final = 9
_PAGE: Final = 24


def main() -> None:
    """Print medians, ratios and how both grow with the conversation."""
    measured = [_measure(size) for size in SIZES]
    rows = [
        (f"{size:,}", f"{ours.wall_ms:.2f}", f"{floor.wall_ms:.3f}", f"{ours.wall_ms / floor.wall_ms:.0f}")
        for size, (ours, floor) in zip(SIZES, measured, strict=True)
    ]
    slopes = [exponent(SIZES, [times[place].wall_ms for times in measured]) for place in (0, 1)]
    rows.append(("growth (log-log exponent)", f"{slopes[0]:.2f}", f"{slopes[1]:.2f}", ""))
    print_rows("Window of 8,000 tokens, warm, SQLite", ("turns", "context-ledger, ms", "raw floor, ms", "ratio"), rows)


def _measure(size: int) -> tuple[Times, Times]:
    with tempfile.TemporaryDirectory() as folder:
        store = ledger.connect(str(Path(folder) / "ours.db"))
        handle = store.ledger("bench")
        handle.append([event for events in listed_turns(size) for event in events])
        raw = _floor(Path(folder) / "floor.db", size)
        with store:
            return paired(
                lambda: view(store, "bench").window(POLICY).request_bytes, lambda: _floor_window(raw, size), runs=RUNS
            )


def _floor(path: Path, size: int) -> sqlite3.Connection:
    count = counter(POLICY.encoding)
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("CREATE TABLE turns (number INTEGER PRIMARY KEY, tokens INTEGER NOT NULL, content BLOB NOT NULL)")
    raw.execute("BEGIN")
    for number, events in enumerate(listed_turns(size), start=1):
        content = b"".join(encode(event) for event in events)
        raw.execute("INSERT INTO turns VALUES (?, ?, ?)", (number, count(content.decode()), content))
    raw.execute("COMMIT")
    return raw


def _floor_window(raw: sqlite3.Connection, size: int) -> list[bytes]:
    chosen: list[bytes] = []
    spent, before = 0, size + 1
    while True:
        query = "SELECT number, tokens, content FROM turns WHERE number < ? ORDER BY number DESC LIMIT ?"
        rows = raw.execute(query, (before, _PAGE)).fetchall()
        for number, tokens, content in rows:
            if spent + tokens > POLICY.budget_tokens:
                return chosen[::-1]
            spent, before = spent + tokens, number
            chosen.append(content)
        if not rows:
            return chosen[::-1]
