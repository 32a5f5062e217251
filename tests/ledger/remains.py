"""What is left in a store after a forgetting, looked at from outside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from ledger import Ledgers
from ledger.erased import Erased
from ledger.record import Envelope
from ledger.sqlite import SqliteStore
from ledger.standing import Standing
from ledger.store import Selection
from ledger.writer import Writer

REASON = "the customer asked for it"
TABLES = ("ledgers", "events", "payloads", "blobs", "derived", "subjects", "fences", "jobs", "places")


def gone(ledgers: Ledgers, name: str = "case") -> set[int]:
    """The versions of a ledger whose content is forgotten, as a handle that is made now reads them."""
    return {item.version for item in ledgers.ledger(name).events() if isinstance(item.event, Erased)}


def swept(ledgers: Ledgers, name: str = "case") -> set[int]:
    """The versions of a ledger of which no payload is stored."""
    rows = ledgers.store.read(ledgers.head(name).ledger, Selection())
    return {row.envelope.version for row in rows if row.payload is None}


def tagged(ledgers: Ledgers, name: str = "case") -> set[int]:
    """The versions of a ledger that the store knows to be about somebody."""
    assert isinstance(ledgers.store, SqliteStore)
    with ledgers.store._connections.reading() as connection:
        found = connection.execute("SELECT version FROM subjects WHERE ledger = ?", (ledgers.head(name).ledger,))
        return {version for (version,) in found}


def envelopes(ledgers: Ledgers) -> list[Envelope]:
    """Every envelope of the store."""
    return [row.envelope for row in ledgers.store.feed(after=0, limit=10_000)]


def counted(ledgers: Ledgers, name: str) -> dict[str, Any]:
    """What is kept of one ledger: its head, its rows and their bytes, its blobs and derived rows."""
    head = ledgers.head(name)
    return {
        "head": head,
        "rows": list(ledgers.store.read(head.ledger, Selection())),
        "holdings": ledgers.store.holdings(head.ledger),
    }


def stored_bytes(ledgers: Ledgers) -> bytes:
    """Everything that a SQLite store holds, uncompressed, in one piece."""
    assert isinstance(ledgers.store, SqliteStore)
    return b"\0".join(_bytes_of(ledgers, ledgers.store))


def _bytes_of(ledgers: Ledgers, store: SqliteStore) -> Iterator[bytes]:
    for stored in store.feed(after=0, limit=10_000):
        yield stored.payload or b""
    with store._connections.reading() as connection:
        for table in TABLES:
            for row in connection.execute(f"SELECT * FROM {table}"):
                yield from (value if isinstance(value, bytes) else str(value).encode() for value in row)


def standing_of(writer: Writer) -> dict[str, Any]:
    """What a writer that looks now takes for what stands, field by field."""
    writer._catch_up()
    return plain(writer._standing)


def plain(standing: Standing) -> dict[str, Any]:
    """The fields of a standing by name. What was said of calls that wait no more is left out: it says nothing."""
    found = {one.name: getattr(standing, one.name) for one in fields(standing)}
    return {**found, "open_calls": {call: turns for call, turns in standing.open_calls.items() if turns}}
