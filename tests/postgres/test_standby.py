"""The end of the feed where a snapshot does not list what runs: on a hot standby, and in a writer's own transaction."""

from __future__ import annotations

import time
from typing import Final

import psycopg
import pytest
from psycopg.types.numeric import Int8

from ledger.connect import Ledgers, connect
from ledger.erasing import Sweep
from ledger.errors import StoreError
from ledger.postgres import PostgresStore
from ledger.postgres_append import append_of
from ledger.postgres_statements import FEED
from ledger.store import Lag
from tests.contract.batches import batch, draft
from tests.postgres.server import running_with_standby, url

EARLY, LATE = batch([draft()], name="early", ledger=b"E" * 16), batch([draft()], name="late", ledger=b"L" * 16)
REPLAY_SECONDS: Final = 60.0


def test_a_writer_in_its_transaction_sees_nothing_above_itself(url: str, store: PostgresStore) -> None:
    with psycopg.connect(url) as writer:
        writer.execute(*append_of(EARLY))
        store.append(LATE)
        assert writer.execute(FEED, (Int8(0), Int8(10)), binary=True).fetchall() == []


def wait_for_replay(primary: psycopg.Connection[tuple[object, ...]], standby: str) -> None:
    """Until the standby has replayed all that the primary wrote."""
    row = primary.execute("SELECT pg_current_wal_insert_lsn()::text").fetchone()
    assert row is not None
    end = time.monotonic() + REPLAY_SECONDS
    with psycopg.connect(standby, autocommit=True) as connection:
        while connection.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", row).fetchone() != (True,):
            assert time.monotonic() < end, "the standby replays"
            time.sleep(0.02)


def given(ledgers: Ledgers) -> list[bytes]:
    """The ledgers of the events that a follower gets now."""
    return [event.envelope.ledger for event in ledgers.follow(idle_seconds=0)]


@pytest.mark.slow
def test_a_follower_on_a_standby_passes_by_nothing() -> None:
    """A transaction that began first and ends last is waited for there too."""
    with (
        running_with_standby() as (primary, standby),
        connect(url(primary)) as writing,
        psycopg.connect(primary, autocommit=True) as sql,
        psycopg.connect(primary) as late,
    ):
        writing.store.append(batch([draft()]))
        wait_for_replay(sql, standby)
        with connect(url(standby)) as reading:
            assert given(reading) == [batch([draft()]).ledger]
            late.execute(*append_of(EARLY))
            writing.store.append(batch([draft()], name="second", ledger=b"S" * 16))
            wait_for_replay(sql, standby)
            assert given(reading) == given(writing) == [batch([draft()]).ledger]
            assert reading.lag(0) == Lag(events=2, held=1)
            late.commit()
            wait_for_replay(sql, standby)
            assert given(reading) == [batch([draft()]).ledger, b"E" * 16, b"S" * 16]


@pytest.mark.slow
def test_a_standby_shows_what_is_forgotten_and_forgets_nothing_itself() -> None:
    with (
        running_with_standby() as (primary, standby),
        connect(url(primary)) as writing,
        psycopg.connect(primary, autocommit=True) as sql,
    ):
        writing.store.append(batch([draft(), draft()]))
        writing.store.fence(b"M" * 16, "job")
        writing.store.place_put("a place")
        writing.store.sweep(Sweep(batch([draft()]).ledger, fence=3, versions=[1]))
        wait_for_replay(sql, standby)
        with connect(url(standby)) as reading:
            assert [row.payload is None for row in reading.store.feed(after=0, limit=9)] == [True, False]
            assert reading.store.fenced(b"M" * 16) == "job"
            assert (reading.store.jobs(), reading.store.places()) == ([], ["a place"])
            for forget in (
                lambda: reading.store.fence(b"J" * 16, "job"),
                lambda: reading.store.sweep(Sweep(batch([draft()]).ledger, fence=3, versions=[2])),
                reading.store.scrub,
            ):
                with pytest.raises(StoreError, match="connect to the primary"):
                    forget()
