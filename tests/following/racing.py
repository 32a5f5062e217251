"""Many writer processes on one store, and what a follower must have seen of them."""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.pool import Pool
from typing import Any, Final

import psycopg

from ledger import Ledgers
from ledger.connect import connect
from ledger.errors import StoreError, VersionConflict
from ledger.store import Batch, Draft, Store, Stored
from tests.contract.batches import batch, draft

WRITERS: Final = 16
BIG: Final = 3_000

Place = tuple[bytes, int]
"""A ledger and a version in it."""


@contextmanager
def processes(count: int = WRITERS) -> Iterator[Pool]:
    """Processes that import the store once and are then forked from one clean process."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with context.Pool(count) as pool:
        yield pool
        pool.close()
        pool.join()


def write(url: str, seed: int, seconds: float) -> list[tuple[bytes, int]]:
    """Append for some time: batches of 3,000 if the seed is a multiple of 4, else one event each, to shared ledgers.

    Returns the command and the number of events of every append that was acknowledged.
    """
    chance = random.Random(seed)
    size = BIG if seed % 4 == 0 else 1
    ledgers, done, end = opened(url), [], time.monotonic() + seconds
    while time.monotonic() < end:
        name = f"shared {chance.randrange(4)}" if chance.random() < 0.5 else f"own {seed}"
        try:
            made = next_batch(ledgers.store, name, size)
            ledgers.store.append(made)
        except VersionConflict:
            continue
        except StoreError:  # the connection was killed twice: whether it was stored is not known
            continue
        done.append((made.command, size))
    ledgers.close()
    return done


def opened(url: str) -> Ledgers:
    """The store, though its connection may be killed while it is opened, a few times."""
    for _ in range(20):
        with suppress(StoreError):
            return connect(url)
    return connect(url)


def next_batch(store: Store, name: str, size: int) -> Batch:
    """A batch for the place where the ledger is now."""
    head = store.head(name)
    ledger = head.ledger if head is not None else os.urandom(16)
    return batch(small(size), name=name, ledger=ledger, expected=0 if head is None else head.version)


def small(size: int) -> list[Draft]:
    """Drafts that are cheap to make: they share a payload and a salt."""
    return [draft()] * size


PLANTED: Final = """
CREATE TABLE heads (ledger bytea PRIMARY KEY, version bigint NOT NULL);
INSERT INTO heads SELECT decode(repeat(to_hex(n), 16), 'hex'), 0 FROM generate_series(16, 18) AS n;
"""
"""The head rows of three ledgers, for ``write_with_head_row``."""

_NEXT_VERSION: Final = "UPDATE heads SET version = version + 1 WHERE ledger = %s RETURNING version"
_EVENT: Final = """
INSERT INTO context_ledger.events
SELECT pg_current_xact_id()::text::bigint << 20, 1, %(ledger)s, %(version)s, %(command)s, 0, 'turn.recorded', 1, NULL,
    0, NULL, NULL, %(commitment)s
"""
_PAYLOAD: Final = "INSERT INTO context_ledger.payloads VALUES (%(ledger)s, %(version)s, %(salt)s, 0, %(payload)s)"


def write_with_head_row(url: str, seed: int, seconds: float) -> list[tuple[bytes, int]]:
    """The bug: a transaction that updates its ledger's head row first, so that it has its number before it waits its turn."""
    chance, done, end = random.Random(seed), [], time.monotonic() + seconds
    with psycopg.connect(url, autocommit=True) as connection:
        while time.monotonic() < end:
            made, command = draft(), os.urandom(16)
            values: dict[str, Any] = {"command": command, "commitment": made.commitment, "salt": made.salt}
            values |= {"payload": made.payload, "ledger": bytes([chance.randrange(16, 19)]) * 16}
            with connection.transaction():
                row = connection.execute(_NEXT_VERSION, (values["ledger"],)).fetchone()
                assert row is not None, "the head rows were planted"
                connection.execute(_EVENT, values | {"version": row[0]})
                connection.execute(_PAYLOAD, values | {"version": row[0]})
            done.append((command, 1))
    return done


Write = Callable[[str, int, float], list[tuple[bytes, int]]]


def faults(delivered: list[Stored], stored: list[Place]) -> list[str]:
    """What a follower got wrong, in words: missed, doubled, or out of order in a ledger or in the feed."""
    places = [(event.envelope.ledger, event.envelope.version) for event in delivered]
    counts = Counter(places)
    found = [f"missed {place}" for place in stored if place not in counts]
    found += [f"{count} times {place}" for place, count in counts.items() if count > 1]
    last: dict[bytes, int] = {}
    for ledger, version in places:
        if version != last.get(ledger, 0) + 1:
            found.append(f"{version} after {last.get(ledger, 0)} in {ledger.hex()}")
        last[ledger] = version
    positions = [event.envelope.position for event in delivered]
    if positions != sorted(positions):
        found.append("positions do not rise")
    return found


def stored_places(url: str) -> list[Place]:
    """Every event that is in the database."""
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT ledger, version FROM context_ledger.events").fetchall()


def stored_commands(url: str) -> Counter[bytes]:
    """How many events of each command are in the database."""
    with psycopg.connect(url) as connection:
        return Counter(row[0] for row in connection.execute("SELECT command FROM context_ledger.events"))
