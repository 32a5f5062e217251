"""Durable appends on PostgreSQL: ours, one raw INSERT of the same bytes by psycopg, and the stock recorder of eventsourcing.

The three take turns on one server with ``fsync`` on, so that all meet the same disk and the same neighbours.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final
from uuid import uuid4

import psycopg
from eventsourcing.persistence import StoredEvent
from eventsourcing.postgres import PostgresApplicationRecorder, PostgresDatastore

import ledger
from bench.measuring import Times, print_rows
from bench.workload import listed_turns
from ledger.codec import commitment, encode
from ledger.postgres import open_postgres
from ledger.store import Batch, Draft
from tests.postgres.server import GIVEN, Databases, running

TURNS: Final = 400
WRITERS: Final = (1, 8, 16)
ROUNDS: Final = 3
SECONDS: Final = 2.0
BATCH: Final = 100
PAYLOAD: Final = b'{"role":"user","parts":[{"kind":"text","text":"' + b"where is my refund? " * 15 + b'"}]}'

Append = Callable[[], object]
"""Appends once; what it appends is new each time."""


def main() -> None:
    """Print medians and ratios."""
    with server() as databases:
        url = databases.new()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE raw (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, content bytea)")
        open_postgres(url).close()
        stock_recorder(url).create_table()
        _one_writer(url)
        for size in (1, BATCH):
            _many_writers(url, size)


@contextmanager
def server() -> Iterator[Databases]:
    """The server that is given, or one of our own that waits for the disk."""
    given = os.environ.get(GIVEN)
    if given:
        databases = Databases(given)
        yield databases
        databases.drop()
        return
    with running({"fsync": "on"}) as dsn:
        yield Databases(dsn)


def _one_writer(url: str) -> None:
    turns = listed_turns(TURNS + 10)
    payloads = [b"".join(encode(event) for event in events) for events in turns]
    with ledger.connect(url) as ledgers, psycopg.connect(url, autocommit=True, prepare_threshold=1) as raw:
        handle, ours, floor = ledgers.ledger("bench"), iter(turns), iter(payloads)
        stock = stock_appends(url, 1, payloads)
        times = in_turn(
            {
                "context-ledger": lambda: handle.append(next(ours)),
                "stock eventsourcing recorder": lambda: next(stock)(),  # noqa: PLW0108 — the next one at every call
                "raw psycopg": lambda: raw.execute("INSERT INTO raw (content) VALUES (%b)", (next(floor),)),
            }
        )
    rows = []
    for name, taken in times.items():
        paired = [mine / theirs for mine, theirs in zip(taken.wall, times["raw psycopg"].wall, strict=True)]
        ratio = taken.cpu_ms / times["raw psycopg"].cpu_ms
        rows.append((name, f"{taken.wall_ms:.3f}", f"{taken.cpu_ms:.3f}", f"{statistics.median(paired):.2f}", f"{ratio:.2f}"))
    headings = ("one turn, durable", "wall ms", "client's processor ms", "wall, paired ratio", "processor ratio")
    print_rows(f"Append: {TURNS} mixed turns, PostgreSQL, one writer", headings, rows)


def in_turn(works: dict[str, Append]) -> dict[str, Times]:
    """Run all works one after the other, again and again."""
    times = {name: Times([], []) for name in works}
    for run in range(TURNS + 5):
        for name, work in works.items():
            cpu, wall = time.process_time(), time.perf_counter()
            work()
            if run >= 5:
                times[name].wall.append(time.perf_counter() - wall)
                times[name].cpu.append(time.process_time() - cpu)
    return times


def our_appends(url: str, size: int) -> Iterator[Append]:
    """Appends to a ledger of its own, straight to the store."""
    store, name, key, salt = open_postgres(url), uuid4().hex, os.urandom(16), os.urandom(32)
    drafts = [Draft("turn.recorded", 1, 1, PAYLOAD, salt, commitment(salt, PAYLOAD))] * size
    for number in itertools.count():
        batch = Batch(name, key, number * size, os.urandom(16), time.time_ns() // 1000, drafts)
        yield lambda batch=batch: store.append(batch)  # type: ignore[misc]


def raw_appends(url: str, size: int) -> Iterator[Append]:
    """The same bytes into a table with a number."""
    connection = psycopg.connect(url, autocommit=True, prepare_threshold=1)
    contents = [PAYLOAD] * size
    statement = "INSERT INTO raw (content) SELECT unnest(%b::bytea[])" if size > 1 else "INSERT INTO raw (content) VALUES (%b)"
    value = contents if size > 1 else PAYLOAD
    while True:
        yield lambda: connection.execute(statement, (value,))


def stock_appends(url: str, size: int, payloads: list[bytes] | None = None) -> Iterator[Append]:
    """The same bytes through the library's recorder, to an aggregate of its own."""
    recorder, originator = stock_recorder(url), uuid4()
    for number in itertools.count():
        content = PAYLOAD if payloads is None else payloads[number % len(payloads)]
        events = [StoredEvent(originator, number * size + place + 1, "turn.recorded", content) for place in range(size)]
        yield lambda events=events: recorder.insert_events(events)  # type: ignore[misc]


def stock_recorder(url: str) -> PostgresApplicationRecorder:
    """The library's recorder as it comes: with its table lock, and its NOTIFY in the transaction."""
    given = {name: str(value) for name, value in psycopg.conninfo.conninfo_to_dict(url).items()}
    datastore = PostgresDatastore(
        dbname=given["dbname"],
        host=given["host"],
        port=given.get("port", "5432"),
        user=given["user"],
        password=given.get("password", "unused"),
    )
    return PostgresApplicationRecorder(datastore, events_table_name="stock")


KINDS: Final = {"context-ledger": our_appends, "stock eventsourcing recorder": stock_appends, "raw psycopg": raw_appends}


def write(kind: str, url: str, size: int, start: float) -> float:
    """Events a second that one process stored, from the agreed time on."""
    appends = KINDS[kind](url, size)
    for _ in range(5):
        next(appends)()
    time.sleep(max(0.0, start - time.time()))
    begin, count = time.perf_counter(), 0
    while (taken := time.perf_counter() - begin) < SECONDS:
        next(appends)()
        count += size
    return count / taken


def _many_writers(url: str, size: int) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    rows = []
    for writers in WRITERS:
        rates: dict[str, list[float]] = {kind: [] for kind in KINDS}
        with context.Pool(writers) as pool:
            for _, kind in itertools.product(range(ROUNDS), KINDS):
                start = time.time() + 0.5 + 0.05 * writers
                rates[kind].append(sum(pool.starmap(write, [(kind, url, size, start)] * writers)))
        floor = statistics.median(rates["raw psycopg"])
        for kind, found in rates.items():
            rate = statistics.median(found)
            rows.append((str(writers), kind, f"{rate:,.0f}", f"{rate / floor:.2f}"))
    headings = ("writers", "store", "events a second", "against raw")
    print_rows(f"Append: {size} event(s) a transaction of {len(PAYLOAD)} bytes each, PostgreSQL", headings, rows)


if __name__ == "__main__":
    main()
