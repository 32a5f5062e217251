"""Forgetting on PostgreSQL: what waits for what, and what may be done to the tables."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import psycopg
import pytest

from ledger.erasing import Sweep
from ledger.errors import StoreError, SubjectForgotten
from ledger.postgres import PostgresStore, open_postgres
from ledger.postgres_append import append_of
from ledger.postgres_statements import DERIVED_PUT, read_page
from ledger.store import GOVERNING_TYPES, Selection
from tests.contract.batches import LEDGER, batch, draft

Sql = psycopg.Connection[tuple[object, ...]]
MARY = b"M" * 16
TAGGED = replace(batch([draft()], name="mary's", ledger=b"A" * 16), subjects=[MARY])


def waiting(work: Callable[[], object]) -> tuple[threading.Thread, threading.Event]:
    """Work in a thread that has begun to wait, and whether it is done."""
    done = threading.Event()

    def run() -> None:
        work()
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert not done.wait(0.3)
    return thread, done


def test_a_fence_waits_for_an_append_under_way(url: str, store: PostgresStore) -> None:
    """It may not have seen the fence: once the fence stands, what it wrote is found, and the next one is refused."""
    with psycopg.connect(url) as late:
        late.execute(*append_of(TAGGED))
        thread, done = waiting(lambda: store.fence(MARY, "job"))
        assert store.fenced(MARY) is None
        assert store.tagged(MARY) == []
        late.commit()
    thread.join()
    assert done.is_set()
    assert store.tagged(MARY) == [(b"A" * 16, 1)]
    with pytest.raises(SubjectForgotten):
        store.append(replace(TAGGED, expected=1, command=b"n" * 16))


def test_an_append_that_comes_while_a_fence_waits_is_refused(url: str, store: PostgresStore) -> None:
    """It gets its turn after the fence, and then looks again."""
    refused: list[SubjectForgotten] = []

    def append() -> None:
        try:
            store.append(replace(TAGGED, name="other", ledger=b"B" * 16, command=b"n" * 16))
        except SubjectForgotten as error:
            refused.append(error)

    with psycopg.connect(url) as late:
        late.execute(*append_of(TAGGED))
        fencing, _ = waiting(lambda: store.fence(MARY, "job"))
        appending, _ = waiting(append)
        late.commit()
    fencing.join()
    appending.join()
    assert [error.job for error in refused] == ["job"]
    assert store.tagged(MARY) == [(b"A" * 16, 1)]


def test_a_fence_does_not_wait_for_others(url: str, store: PostgresStore) -> None:
    with psycopg.connect(url) as late:
        late.execute(*append_of(batch([draft()], blobs={"ab": b"page"})))
        store.fence(MARY, "job")
        assert store.fenced(MARY) == "job"


def test_a_fence_that_cannot_be_set_in_time_says_so(url: str) -> None:
    hurried = open_postgres(f"{url}&deadline=1")
    with psycopg.connect(url) as late:
        late.execute(*append_of(TAGGED))
        with pytest.raises(StoreError, match="Nothing was written: find who holds it in pg_stat_activity"):
            hurried.fence(MARY, "job")
        assert hurried.fenced(MARY) is None
    hurried.close()


def test_a_fence_is_seen_whatever_isolation_the_database_has(url: str, sql: Sql) -> None:
    """A snapshot from before the lock would not show it. Behind a pooler nothing can be set, so such appends are refused."""
    sql.execute(f"ALTER DATABASE \"{sql.info.dbname}\" SET default_transaction_isolation = 'repeatable read'".encode())
    direct, pooled = open_postgres(url), open_postgres(f"{url}&prepare=off")
    with pytest.raises(StoreError, match="default_transaction_isolation"):
        pooled.append(TAGGED)
    pooled.append(batch([draft()]))
    direct.append(TAGGED)
    pooled.fence(MARY, "job")
    with pytest.raises(SubjectForgotten):
        direct.append(replace(TAGGED, expected=1, command=b"n" * 16))
    assert pooled.sweep(Sweep(b"A" * 16, fence=2, versions=[1])).payloads == 1
    direct.close()
    pooled.close()


def test_a_sweep_waits_for_what_is_just_being_derived(url: str, store: PostgresStore) -> None:
    """And then purges it."""
    store.append(batch([draft()]))
    with psycopg.connect(url) as late:
        assert late.execute(DERIVED_PUT, (LEDGER, 0, "segment", "1", b"old")).fetchone() is not None
        thread, done = waiting(lambda: store.sweep(Sweep(LEDGER, fence=2, versions=[1])))
        late.commit()
    thread.join()
    assert done.is_set()
    assert store.holdings(LEDGER).derived == {}


def test_a_sweep_keeps_a_blob_that_is_just_being_stored_again(url: str, store: PostgresStore) -> None:
    store.append(batch([draft()], blobs={"ab": b"page"}))
    store.append(batch([draft(kind="content.forgotten")], expected=1))
    with psycopg.connect(url) as late:
        late.execute(*append_of(batch([draft()], expected=2, blobs={"ab": b"page"})))
        thread, done = waiting(lambda: store.sweep(Sweep(LEDGER, fence=2, versions=[1], blobs=["ab"])))
        late.commit()
    thread.join()
    assert done.is_set()
    assert store.blob(LEDGER, "ab") == b"page"


def test_a_sweep_takes_the_time_that_it_needs(url: str, store: PostgresStore, sql: Sql) -> None:
    """The limit of the database for a statement is not one for a sweep."""
    store.append(batch([draft()] * 20_000))
    sql.execute(f"ALTER DATABASE \"{sql.info.dbname}\" SET statement_timeout = '15ms'".encode())
    limited = open_postgres(f"{url}&prepare=off")
    assert limited.sweep(Sweep(LEDGER, fence=20_001, versions=range(1, 20_001))).payloads == 20_000
    limited.close()


def test_a_name_that_another_ledger_has_is_not_given(store: PostgresStore) -> None:
    store.append(batch([draft()]))
    store.append(TAGGED)
    with pytest.raises(StoreError, match="another ledger is called 'case'"):
        store.rename(b"A" * 16, "case")


@pytest.mark.parametrize("replays", [False, True])
@pytest.mark.parametrize(
    "attack", ["content = ''", "version = 0", "version = 9, content = ''", "version = 9, sha256 = 'cd'", "ledger = ''"]
)
def test_of_a_blob_only_the_version_rises(store: PostgresStore, sql: Sql, attack: str, replays: bool) -> None:
    store.append(batch([draft()], blobs={"ab": b"content"}))
    if replays:
        sql.execute("SET session_replication_role = replica")
    with pytest.raises(psycopg.errors.RestrictViolation, match="append-only"):
        sql.execute(f"UPDATE context_ledger.blobs SET {attack}".encode())
    sql.execute("UPDATE context_ledger.blobs SET version = 9, content = content")
    assert sql.execute("SELECT version, content FROM context_ledger.blobs").fetchall() == [(9, b"content")]


def test_what_governs_a_ledger_is_found_by_an_index(store: PostgresStore, sql: Sql) -> None:
    store.append(batch([draft(kind=GOVERNING_TYPES[0]), *[draft(kind="fact.set")] * 5_000]))
    sql.execute("ANALYZE context_ledger.events")
    query, values = read_page(LEDGER, Selection(kind="governing"), after=0, upto=None, rows=1_000)
    plan = "\n".join(str(row[0]) for row in sql.execute(f"EXPLAIN {query}".encode(), values))
    assert "events_governing" in plan
