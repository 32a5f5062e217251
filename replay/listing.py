"""The ledgers of a store at a glance."""

from __future__ import annotations

from dataclasses import dataclass

from ledger import Ledgers
from ledger.record import timestamp
from ledger.store import Head, Selection


@dataclass(frozen=True, slots=True)
class Listed:
    """A ledger with its version, its number of turns and the time of its first event (RFC 3339, UTC)."""

    ledger: str
    version: int
    turns: int
    opened_at: str


def listing(store: Ledgers) -> list[Listed]:
    """All ledgers, in the order in which they were made."""
    return [_listed(store, head) for head in store.heads()]


def _listed(store: Ledgers, head: Head) -> Listed:
    first = next(iter(store.store.read(head.ledger, Selection(limit=1))))
    turns = (
        row.envelope.turn
        for row in store.store.read(head.ledger, Selection(kind="turns", newest_first=True))
        if row.envelope.type == "turn.recorded" and row.envelope.turn is not None
    )
    return Listed(head.name, head.version, next(turns, 0), timestamp(first.envelope.recorded_at))
