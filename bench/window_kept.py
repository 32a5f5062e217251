"""What is made of a ledger for its windows the first time, and the bytes that are kept of it beside the record."""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple

from bench.window_case import SEGMENT_KINDS, Case

_KINDS: Final = "SELECT kind, sum(length(key) + length(value)) FROM derived GROUP BY kind"
_RECORD: Final = """
SELECT sum(length(p.payload) + length(p.salt) + length(e.commitment) + length(e.command) + length(e.ledger) + length(e.type))
FROM payloads p JOIN events e ON e.position = p.position
"""
"""Without what the database itself adds to a row."""


class Kept(NamedTuple):
    """Bytes a turn: of the record, and beside it, of counts and places first, then of the segments under each policy.

    ``first_ms``: the processor's milliseconds a turn for the segments under each policy, made for the first time.
    """

    first_ms: list[float]
    record: float
    beside: list[float]

    def share(self, part: float) -> str:
        """A part with its share of the record."""
        return f"{part:,.0f} ({part * 100 / self.record:.1f} %)"


def kept(case: Case) -> Kept:
    """What is kept in a file of SQLite."""
    raw = sqlite3.connect(case.place)
    (record,) = raw.execute(_RECORD).fetchone()
    kinds = dict(raw.execute(_KINDS).fetchall())
    raw.close()
    segments = sum(kinds.get(kind, 0) for kind in SEGMENT_KINDS)
    first = sum(kinds.values()) - segments
    return Kept(case.first_ms, record / case.turns, [one / case.turns for one in (first, *case.segments)])
