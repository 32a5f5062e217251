"""Followers of PostgreSQL while many processes write: nothing is missed, doubled or out of order.

The same race with a planted bug must be noticed, or the race would prove nothing.
"""

from __future__ import annotations

import random
import threading
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Final, Self

import psycopg
import pytest

from ledger.connect import connect
from ledger.errors import StoreError
from ledger.following import follow
from ledger.postgres import open_postgres
from ledger.postgres_append import append_of
from ledger.store import Lag, Store, Stored
from tests.contract.batches import batch, draft
from tests.following.racing import (
    PLANTED,
    WRITERS,
    Write,
    faults,
    processes,
    stored_commands,
    stored_places,
    write,
    write_with_head_row,
)
from tests.postgres.server import Databases

RACE_SECONDS: Final = 3.0
LONG_RACE_SECONDS: Final = 60.0


@pytest.fixture
def url(postgres: Databases) -> Iterator[str]:
    """The address of a new store."""
    with postgres.lent() as made:
        open_postgres(made).close()
        yield made


class Followers:
    """One follower that never stops, and one that is stopped and resumed over and over."""

    def __init__(self, url: str) -> None:
        self.steady: list[Stored] = []
        self.resumed: list[Stored] = []
        self._stop = threading.Event()
        self._store = open_postgres(url)
        self._threads = [threading.Thread(target=self._follow), threading.Thread(target=self._resume)]
        for thread in self._threads:
            thread.start()

    def _follow(self) -> None:
        while not self._stop.is_set():
            with suppress(StoreError):  # its connection was killed several times in a row
                for event in follow(self._store, after=self._reached(self.steady), stop=self._stop):
                    self.steady.append(event)

    def _resume(self) -> None:
        chance = random.Random(7)
        while not self._stop.is_set():
            with suppress(StoreError):
                for event in follow(self._store, after=self._reached(self.resumed), idle_seconds=0.05):
                    self.resumed.append(event)
                    if chance.random() < 0.001:
                        break

    @staticmethod
    def _reached(delivered: list[Stored]) -> int:
        return delivered[-1].envelope.position if delivered else 0

    def finish(self) -> None:
        """Let both catch up with what is stored now, and stop them."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        for delivered in (self.steady, self.resumed):
            delivered.extend(follow(self._store, after=self._reached(delivered), idle_seconds=0.5))
        self._store.close()


def race(url: str, writing: Write, seconds: float, beside: AbstractContextManager[object]) -> tuple[Followers, int]:
    """Let the writers run beside the followers; returns the followers and how many events were acknowledged."""
    with processes() as pool:
        followers = Followers(url)
        try:
            with beside:
                results = pool.starmap(writing, [(url, seed, seconds) for seed in range(WRITERS)])
        finally:
            followers.finish()
    stored = stored_commands(url)
    acknowledged = [pair for result in results for pair in result]
    assert [command for command, size in acknowledged if stored[command] != size] == []
    return followers, sum(size for _, size in acknowledged)


def check_race(url: str, seconds: float, beside: AbstractContextManager[object]) -> None:
    followers, count = race(url, write, seconds, beside)
    stored = stored_places(url)
    assert count > WRITERS, "the writers wrote"
    assert faults(followers.steady, stored) == []
    assert faults(followers.resumed, stored) == []


def test_racing_writers(url: str) -> None:
    check_race(url, RACE_SECONDS, nullcontext())


@pytest.mark.slow
def test_racing_writers_for_a_minute(url: str) -> None:
    check_race(url, LONG_RACE_SECONDS, Killer(url))


def test_racing_writers_whose_connections_are_killed(url: str) -> None:
    check_race(url, RACE_SECONDS, Killer(url))


def test_racing_writers_beside_open_transactions(url: str) -> None:
    check_race(url, RACE_SECONDS, Holder(url))


def test_the_race_notices_a_head_row(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(PLANTED)
    followers, _ = race(url, write_with_head_row, 2.0, nullcontext())
    assert faults(followers.steady, stored_places(url)) != []


class Background(AbstractContextManager["Background"]):
    """Does something to the database again and again, in a thread, until the end of the block."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._stop.set()
        self._thread.join()

    @abstractmethod
    def _run(self) -> None: ...


class Killer(Background):
    """Ends one of the store's connections every 50 ms."""

    def _run(self) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            while not self._stop.wait(0.05):
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'context-ledger' "
                    "AND datname = current_database() ORDER BY random() LIMIT 1"
                )


class Holder(Background):
    """Keeps a transaction open that has its number already, for 300 ms each time."""

    def _run(self) -> None:
        with psycopg.connect(self._url) as connection:
            while not self._stop.is_set():
                connection.execute("SELECT pg_current_xact_id()")
                self._stop.wait(0.3)
                connection.rollback()


def seen(store: Store) -> list[tuple[bytes, int]]:
    """What a follower gets now."""
    return [(event.envelope.ledger, event.envelope.version) for event in follow(store, idle_seconds=0)]


def test_an_event_that_commits_late_is_not_passed_by(url: str) -> None:
    """The writer that began first commits last: the follower waits for it, and its lag says so."""
    first, second = batch([draft()], name="a", ledger=b"A" * 16), batch([draft()] * 3, name="b", ledger=b"B" * 16)
    with connect(url) as ledgers, psycopg.connect(url) as late:
        late.execute(*append_of(first))
        envelopes = ledgers.store.append(second)
        assert seen(ledgers.store) == []
        assert ledgers.lag(0) == Lag(events=3, held=3)
        late.commit()
        assert seen(ledgers.store) == [(b"A" * 16, 1), *((b"B" * 16, version) for version in (1, 2, 3))]
        assert ledgers.lag(envelopes[0].position) == Lag(events=2, held=0)


def test_an_open_transaction_of_others_holds_the_feed_back(url: str) -> None:
    with connect(url) as ledgers, psycopg.connect(url) as old:
        old.execute("SELECT pg_current_xact_id()")
        ledgers.store.append(batch([draft()]))
        assert seen(ledgers.store) == []
        old.rollback()
        assert seen(ledgers.store) == [(b"L" * 16, 1)]


def test_an_open_transaction_of_another_database_holds_nothing_back(url: str, postgres: Databases) -> None:
    """Its number counts in the whole server, but it cannot write here."""
    with connect(url) as ledgers, psycopg.connect(postgres.dsn) as old:
        old.execute("SELECT pg_current_xact_id()")
        ledgers.store.append(batch([draft()]))
        assert seen(ledgers.store) == [(b"L" * 16, 1)]
        assert ledgers.lag(0) == Lag(events=1, held=0)


def test_a_reader_of_long_standing_holds_nothing_back(url: str) -> None:
    with connect(url) as ledgers, psycopg.connect(url) as old:
        old.execute("SELECT count(*) FROM context_ledger.events")
        ledgers.store.append(batch([draft()]))
        assert seen(ledgers.store) == [(b"L" * 16, 1)]
