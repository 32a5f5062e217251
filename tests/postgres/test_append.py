"""What the append promises on PostgreSQL beyond the contract of every store."""

from __future__ import annotations

import os
import threading

import psycopg
import pytest

from ledger.errors import StoreError, VersionConflict
from ledger.postgres import PostgresStore, open_postgres
from ledger.store import Selection
from tests.contract.batches import LEDGER, batch, draft

Sql = psycopg.Connection[tuple[object, ...]]


def test_one_batch_of_twenty_megabytes(store: PostgresStore) -> None:
    """A pipeline would hang here for ever."""
    drafts = [draft(os.urandom(1_000_000)) for _ in range(20)]
    store.append(batch(drafts))
    assert [stored.payload for stored in store.read(LEDGER, Selection())] == [made.payload for made in drafts]


def test_one_event_of_twenty_megabytes(store: PostgresStore) -> None:
    made = draft(os.urandom(20_000_000))
    store.append(batch([made], blobs={"ab": made.payload}))
    assert next(store.read(LEDGER, Selection())).payload == made.payload
    assert store.blob(LEDGER, "ab") == made.payload


def test_a_batch_of_many_events(store: PostgresStore) -> None:
    envelopes = store.append(batch([draft() for _ in range(3_000)]))
    assert [envelope.position - envelopes[0].position for envelope in envelopes] == list(range(3_000))
    assert [stored.envelope for stored in store.read(LEDGER, Selection())] == envelopes


def test_a_position_holds_the_number_of_its_transaction(store: PostgresStore, sql: Sql) -> None:
    before = sql.execute("SELECT pg_current_xact_id()::text::bigint").fetchone()
    (envelope,) = store.append(batch([draft()]))
    assert before is not None
    assert (envelope.position >> 20, envelope.position & 0xFFFFF) == (int(str(before[0])) + 1, 0)


@pytest.mark.parametrize("replays", [False, True])
@pytest.mark.parametrize(
    "attack",
    [
        "UPDATE context_ledger.events SET turn = 9",
        "DELETE FROM context_ledger.events",
        "TRUNCATE context_ledger.events",
        "INSERT INTO context_ledger.events TABLE context_ledger.events ON CONFLICT (ledger, version) DO UPDATE SET turn = 9",
        "UPDATE context_ledger.payloads SET payload = ''",
        "TRUNCATE context_ledger.payloads",
        "UPDATE context_ledger.blobs SET content = ''",
    ],
)
def test_the_record_is_never_changed(store: PostgresStore, sql: Sql, attack: str, replays: bool) -> None:
    """Not even by a superuser's session that replays changes, where ordinary triggers do not fire."""
    store.append(batch([draft(turn=1)], blobs={"ab": b"content"}))
    before = list(store.read(LEDGER, Selection()))
    if replays:
        sql.execute("SET session_replication_role = replica")
    with pytest.raises(psycopg.errors.RestrictViolation, match="append-only"):
        sql.execute(attack.encode())
    assert list(store.read(LEDGER, Selection())) == before


def test_an_event_is_not_stored_twice(store: PostgresStore, sql: Sql) -> None:
    store.append(batch([draft()]))
    with pytest.raises(psycopg.errors.UniqueViolation):
        sql.execute("INSERT INTO context_ledger.events SELECT * FROM context_ledger.events")


def test_exactly_one_of_many_wins(url: str, store: PostgresStore) -> None:
    """Every one of them saw the same version, on a connection of its own, twenty times over."""
    racers = [open_postgres(url) for _ in range(8)]
    for version in range(20):
        start = threading.Barrier(8)
        won: list[int] = []
        lost: list[int] = []

        def race(racer: PostgresStore, expected: int, start: threading.Barrier, won: list[int], lost: list[int]) -> None:
            start.wait()
            try:
                racer.append(batch([draft()], expected=expected))
                won.append(expected)
            except VersionConflict as conflict:
                lost.append(conflict.actual)

        threads = [threading.Thread(target=race, args=(racer, version, start, won, lost)) for racer in racers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (won, lost) == ([version], [version + 1] * 7)
    for racer in racers:
        racer.close()


def test_durable_whatever_the_database_says(url: str, sql: Sql) -> None:
    """A setting of the database would let an append return before it is on disk."""
    database = sql.info.dbname
    sql.execute(f'ALTER DATABASE "{database}" SET synchronous_commit = off'.encode())
    with psycopg.connect(url, autocommit=True) as other:
        assert other.execute("SHOW synchronous_commit").fetchone() == ("off",)
    careless, flushed = open_postgres(url), 0
    for version in range(50):
        careless.append(batch([draft()], expected=version))
        row = sql.execute("SELECT pg_current_wal_insert_lsn() <= pg_current_wal_flush_lsn()").fetchone()
        flushed += row == (True,)
    assert flushed > 25  # not always, as the server writes something of its own now and then; else next to never
    careless.close()


def restore_into_new_cluster(sql: Sql) -> None:
    """What a restore does to us: the stored positions are far above the numbers that transactions have."""
    sql.execute(
        "INSERT INTO context_ledger.events "
        "SELECT 5000000000::bigint << 20, format, ledger, version + 1, command, ordinal + 1, type, "
        "type_version, turn, recorded_at, actor, cause, commitment FROM context_ledger.events"
    )
    sql.execute(
        "INSERT INTO context_ledger.payloads SELECT ledger, version + 1, salt, compression, payload "
        "FROM context_ledger.payloads"
    )


def test_after_a_restore_nothing_is_appended_below_what_is_stored(store: PostgresStore, sql: Sql) -> None:
    store.append(batch([draft()]))
    restore_into_new_cluster(sql)
    for made in (batch([draft()], expected=2), batch([draft()], name="new", ledger=b"N" * 16)):
        with pytest.raises(StoreError, match="context-ledger init --raise-epoch"):
            store.append(made)
    assert store.raise_epoch() > 0
    (envelope,) = store.append(batch([draft()], expected=2))
    assert envelope.position > 5_000_000_000 << 20
    assert [stored.envelope.version for stored in store.feed(after=0, limit=10)] == [1, 2, 3]


def test_the_epoch_is_raised_only_where_it_must(store: PostgresStore) -> None:
    store.append(batch([draft()]))
    assert store.raise_epoch() == 0


def test_raising_the_epoch_waits_for_writers(url: str, store: PostgresStore, sql: Sql) -> None:
    """Else an event could get a position that followers have passed."""
    store.append(batch([draft()]))
    restore_into_new_cluster(sql)
    raised = threading.Event()

    def raise_epoch() -> None:
        store.raise_epoch()
        raised.set()

    with psycopg.connect(url) as writer:
        writer.execute("LOCK TABLE context_ledger.events IN ROW EXCLUSIVE MODE")
        thread = threading.Thread(target=raise_epoch)
        thread.start()
        assert not raised.wait(0.2)
    thread.join()
    assert raised.is_set()
