"""What was deleted is in no file of the database any more, but for its log."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg import sql as text

from ledger.erasing import StoredJob, Sweep
from ledger.errors import StoreError
from ledger.marks import forgotten_name
from ledger.postgres import PostgresStore, open_postgres
from ledger.postgres_schema import STATISTICS_MARK
from ledger.store import Selection
from tests.contract.batches import LEDGER, batch, draft
from tests.postgres.server import FAST, Databases, running
from tests.postgres.test_schema import make_second_schema

Sql = psycopg.Connection[tuple[object, ...]]
SHA256 = os.urandom(32).hex()
NAME, SUBJECT = os.urandom(16).hex(), os.urandom(16)


@pytest.fixture(scope="module")
def own_server() -> Iterator[Databases]:
    """A server whose files can be read."""
    with running(FAST) as dsn:
        yield Databases(dsn)


@pytest.fixture
def url(own_server: Databases) -> str:
    """The address of a new database there."""
    return own_server.new()


def in_files(needles: dict[str, bytes], sql: Sql) -> set[str]:
    """Which of the needles are in a file of the server, its log (the WAL) excepted."""
    sql.execute("CHECKPOINT")
    (folder,) = sql.execute("SHOW data_directory").fetchone() or ("",)
    found: set[str] = set()
    for path in Path(str(folder)).rglob("*"):
        if path.is_file() and "pg_wal" not in path.parts:
            content = path.read_bytes()
            found |= {what for what, needle in needles.items() if needle in content}
    return found


def filled(store: PostgresStore, sql: Sql) -> dict[str, bytes]:
    """A ledger with content of every kind, and what to look for."""
    drafts = [draft(os.urandom(600)), *(draft(os.urandom(300_000)) for _ in range(2)), *(draft() for _ in range(50))]
    blob, derived, state = os.urandom(300_000), os.urandom(900), os.urandom(100)
    made = batch(drafts, name=NAME, blobs={SHA256: blob, "small": blob[1_000:1_300]})
    store.append(replace(made, subjects=[SUBJECT]))
    store.derived_put(LEDGER, "segment", "key of what was derived", derived, erasures=0)
    store.job_put(StoredJob("job", state, finished=False))
    store.place_put("a place of which nobody must know")
    store.fence(SUBJECT, "job")
    sql.execute("ANALYZE")
    stored = sql.execute("SELECT salt, payload FROM context_ledger.payloads ORDER BY version LIMIT 3").fetchall()
    salts, payloads = zip(*stored, strict=True)
    return {
        "small payload": payloads[0][100:140],
        "large payload": payloads[1][100:140],
        "salt": salts[2],
        "blob": blob[100:140],
        "small blob": blob[1_100:1_140],
        "hash of a blob": SHA256.encode(),
        "derived": derived[100:140],
        "key": b"key of what was derived",
        "name": NAME.encode(),
        "subject": SUBJECT,
        "state": state,
        "place": b"a place of which nobody must know",
    }


def forget(store: PostgresStore) -> None:
    """All of it, but for the bytes in the files."""
    name = forgotten_name(store.secret, NAME)
    store.sweep(Sweep(LEDGER, fence=54, versions=range(1, 54), blobs=[SHA256, "small"], name=name))
    store.unfence(SUBJECT)
    store.job_put(StoredJob("job", b"", finished=True))
    store.place_drop("a place of which nobody must know")


def test_nothing_that_was_forgotten_stays_in_the_files(store: PostgresStore, sql: Sql) -> None:
    needles = filled(store, sql)
    assert in_files(needles, sql) == set(needles)
    kept = draft(os.urandom(300_000))
    store.append(batch([kept], expected=53, name=NAME))
    forget(store)
    assert in_files(needles, sql) == set(needles), "deleting alone does not do it"
    store.scrub()
    assert in_files(needles, sql) == set()
    assert [row.payload for row in store.read(LEDGER, Selection(after=53))] == [kept.payload]
    store.scrub()


def test_who_may_still_see_it_is_named(url: str, store: PostgresStore, sql: Sql) -> None:
    """Rows that somebody may see are written anew with the others, so there would be no use in it."""
    needles = filled(store, sql)
    hurried = open_postgres(f"{url}&deadline=1")
    with psycopg.connect(url, application_name="a long report") as reader:
        reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        reader.execute("SELECT count(*) FROM context_ledger.payloads")
        forget(store)
        with pytest.raises(StoreError, match=r"\(a long report\) began before content was deleted") as caught:
            hurried.scrub()
        assert str(reader.info.backend_pid) in caught.value.holders[0]
    hurried.scrub()
    assert in_files(needles, sql) == set()
    hurried.close()


def test_a_writer_of_another_database_holds_it_too(url: str, own_server: Databases, store: PostgresStore, sql: Sql) -> None:
    """While it runs, every snapshot is as old as its transaction."""
    needles = filled(store, sql)
    hurried = open_postgres(f"{url}&deadline=1")
    with psycopg.connect(own_server.dsn) as neighbour:
        neighbour.execute("SELECT pg_current_xact_id()")
        forget(store)
        with pytest.raises(StoreError, match=f"process {neighbour.info.backend_pid} began before"):
            hurried.scrub()
    hurried.scrub()
    assert in_files(needles, sql) == set()
    hurried.close()


def test_only_the_owner_can_scrub(url: str, store: PostgresStore, sql: Sql) -> None:
    """A role with all rights on rows is told whom to ask."""
    role = text.Identifier(f"{sql.info.dbname}_rows")
    for statement in (
        "CREATE ROLE {} LOGIN",
        "GRANT USAGE ON SCHEMA context_ledger TO {}",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA context_ledger TO {}",
    ):
        sql.execute(text.SQL(statement).format(role))
    try:
        needles = filled(store, sql)
        app = open_postgres(url.replace("user=ledger", f"user={sql.info.dbname}_rows"))
        forget(app)
        with pytest.raises(StoreError, match=r"files of table context_ledger\.payloads: only its owner"):
            app.scrub()
        app.close()
        store.scrub()
        assert in_files(needles, sql) == set()
    finally:
        sql.execute(text.SQL("DROP OWNED BY {}").format(role))
        sql.execute(text.SQL("DROP ROLE {}").format(role))


def test_what_analyze_kept_of_content_before_the_upgrade_goes_too(url: str) -> None:
    """The planner's statistics of older schemas hold values."""
    needle = os.urandom(200)
    with psycopg.connect(url, autocommit=True) as sql:
        make_second_schema(sql)
        sql.execute("INSERT INTO context_ledger.ledgers VALUES (%s, 'case', 1)", (LEDGER,))
        sql.execute(
            "INSERT INTO context_ledger.payloads SELECT %s, n, decode(repeat('ab', 32), 'hex'), 0, %s::bytea || n::text::bytea "
            "FROM generate_series(1, 50) n",
            (LEDGER, needle),
        )
        sql.execute("ANALYZE")
        store = open_postgres(url)
        marked = "SELECT obj_description('context_ledger.store'::regclass, 'pg_class')"
        assert sql.execute(marked).fetchone() == (STATISTICS_MARK,)
        sql.execute("ANALYZE")
        store.sweep(Sweep(LEDGER, fence=51, versions=range(1, 51)))
        store.scrub()
        store.scrub()
        assert sql.execute(marked).fetchone() == (None,)
        assert in_files({"payload": needle}, sql) == set()
        store.close()
