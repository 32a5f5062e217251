"""The tables are made on first use, once, and only where they may be."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import psycopg
import pytest
from psycopg import sql as text

from ledger.erasing import Sweep
from ledger.errors import NotAStore, StoreError
from ledger.postgres import PostgresStore, open_postgres
from ledger.postgres_append import append_of
from ledger.postgres_schema import MIGRATIONS, SCHEMA_VERSION
from ledger.store import Selection
from tests.contract.batches import LEDGER, batch, draft

Sql = psycopg.Connection[tuple[object, ...]]


def test_many_open_a_new_store_at_once(url: str) -> None:
    """Each sees the same tables and the same secret."""
    start, secrets = threading.Barrier(8), []

    def open_one() -> None:
        start.wait()
        opened = open_postgres(url)
        secrets.append(opened.secret)
        opened.close()

    threads = [threading.Thread(target=open_one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(secrets) == 8
    assert len(set(secrets)) == 1


def test_a_newer_schema_is_refused(url: str, sql: Sql) -> None:
    sql.execute("UPDATE context_ledger.store SET schema = %s", (SCHEMA_VERSION + 1,))
    with pytest.raises(StoreError, match="upgrade context-ledger"):
        open_postgres(url)


def test_a_store_of_the_first_schema_is_brought_up_to_this_one(url: str) -> None:
    secret, sha256 = b"s" * 32, "ab" * 32
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA context_ledger")
        connection.execute(MIGRATIONS[0].encode())
        connection.execute("INSERT INTO context_ledger.store (schema, epoch, secret) VALUES (1, 0, %s)", (secret,))
        connection.execute("INSERT INTO context_ledger.blobs VALUES (%s, %s, %s)", (LEDGER, sha256, b"a page" * 9000))
        opened = open_postgres(url)
        try:
            assert opened.secret == secret
            assert opened.blob(LEDGER, sha256) == b"a page" * 9000
            opened.append(batch([draft()], blobs={"cd" * 32: b"another" * 9000}))
            assert opened.blob(LEDGER, "cd" * 32) == b"another" * 9000
        finally:
            opened.close()
        assert connection.execute("SELECT schema FROM context_ledger.store").fetchone() == (SCHEMA_VERSION,)
        lengths = "SELECT pg_column_size(content) FROM context_ledger.blobs ORDER BY sha256"
        [(packed,), (plain,)] = connection.execute(lengths).fetchall()
    assert packed < 54_000, "what was stored stays as it is"
    assert plain == 63_000, "what is stored from now on is not compressed"


def make_second_schema(connection: Sql) -> None:
    """A store as the release before forgetting made it."""
    connection.execute("CREATE SCHEMA context_ledger")
    for migration in MIGRATIONS[:2]:
        connection.execute(migration.encode())
    connection.execute("INSERT INTO context_ledger.store (schema, epoch, secret) VALUES (2, 0, %s)", (b"s" * 32,))


BLOB_OF_THE_SECOND: Final = (
    "INSERT INTO context_ledger.blobs SELECT %s::bytea, %s::text, %s::bytea ON CONFLICT DO NOTHING"  # as that release says it
)


def test_a_store_of_the_second_schema_keeps_what_it_has_and_can_forget_it(url: str) -> None:
    drafts = [draft(os.urandom(20_000)), draft(), draft(kind="ledger.closed")]
    with psycopg.connect(url, autocommit=True) as connection:
        make_second_schema(connection)
        connection.execute(*append_of(batch(drafts)))
        for sha256 in ("ab", "cd"):
            connection.execute(BLOB_OF_THE_SECOND, (LEDGER, sha256, b"page"))
        opened = open_postgres(url)
        try:
            assert [row.payload for row in opened.read(LEDGER, Selection())] == [made.payload for made in drafts]
            assert [row.envelope.version for row in opened.read(LEDGER, Selection(kind="governing"))] == [3]
            connection.execute(BLOB_OF_THE_SECOND, (LEDGER, "ab", b"page"))
            opened.append(batch([draft()], expected=3, blobs={"cd": b"page"}))
            assert opened.holdings(LEDGER).blobs == ("ab", "cd")
            swept = opened.sweep(Sweep(LEDGER, fence=4, versions=[1], blobs=["ab", "cd"]))
            assert (swept.payloads, swept.blobs) == (1, 1)
            assert opened.holdings(LEDGER).blobs == ("cd",)
        finally:
            opened.close()


def test_appends_go_on_while_the_tables_are_brought_up(url: str) -> None:
    """They wait for it, or it for them, but never each for the other."""
    stopped = threading.Event()

    def append(who: int) -> int:
        with psycopg.connect(url, autocommit=True) as connection:
            version = 0
            while not stopped.is_set():
                name, ledger = (f"{who}", bytes([who]) * 16) if who % 2 else (f"{who}-{version}", os.urandom(16))
                made = batch([draft()], name=name, ledger=ledger, expected=version if who % 2 else 0)
                assert connection.execute(*append_of(made)).fetchone() is not None
                version += 1
        return version

    with psycopg.connect(url, autocommit=True) as connection:
        make_second_schema(connection)
    with ThreadPoolExecutor(6) as pool:
        appending = [pool.submit(append, who) for who in range(1, 7)]
        try:
            time.sleep(0.3)
            opened = open_postgres(url)
            time.sleep(0.3)
        finally:
            stopped.set()
        assert sum(future.result() for future in appending) == len(opened.feed(after=0, limit=1_000_000))
    opened.close()


def test_a_schema_of_something_else_is_left_alone(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA context_ledger")
        with pytest.raises(NotAStore, match="context_ledger"):
            open_postgres(url)
        assert connection.execute("SELECT count(*) FROM pg_class WHERE relname = 'ledgers'").fetchone() == (0,)


@pytest.mark.parametrize(
    "content",
    [
        "TABLE context_ledger.store (schema text); INSERT INTO context_ledger.store VALUES ('first')",
        "TABLE context_ledger.store (a integer)",
        "TABLE context_ledger.store ()",
        "VIEW context_ledger.store AS SELECT true AS one, 2 AS schema, 0::bigint AS epoch, ''::bytea AS secret",
        "TABLE context_ledger.store AS SELECT true AS one, 2 AS schema, 0::bigint AS epoch",
        "TABLE context_ledger.store (one boolean, schema integer, epoch bigint, secret bytea)",
        "TABLE context_ledger.store AS SELECT true AS one, -1 AS schema, 0::bigint AS epoch, ''::bytea AS secret",
        "TABLE context_ledger.store AS SELECT true AS one, 2 AS schema, 0::bigint AS epoch, NULL::bytea AS secret",
        "SEQUENCE context_ledger.store",
    ],
)
def test_a_store_of_something_else_is_left_alone(url: str, content: str) -> None:
    """Something by the name of our own table."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA context_ledger; CREATE {content}".encode())
        with pytest.raises(NotAStore, match="use another database"):
            open_postgres(url)
        assert connection.execute("SELECT count(*) FROM pg_class WHERE relname = 'ledgers'").fetchone() == (0,)


def test_another_encoding_is_refused(url: str) -> None:
    name = text.Identifier(f"{psycopg.conninfo.conninfo_to_dict(url)['dbname']}_latin1")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            text.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'").format(name)
        )
        try:
            with pytest.raises(NotAStore, match="createdb --template=template0 --encoding=UTF8"):
                open_postgres(url.replace("?", "_latin1?", 1))
        finally:
            connection.execute(text.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


def test_a_role_that_may_only_read_and_append(url: str, store: PostgresStore, sql: Sql) -> None:
    """The tables are there, so nothing else is needed; what the role lacks is told."""
    role = text.Identifier(sql.info.dbname + "_app")
    sql.execute(text.SQL("CREATE ROLE {} LOGIN").format(role))
    try:
        for grant in (
            "GRANT USAGE ON SCHEMA context_ledger TO {}",
            "GRANT SELECT ON ALL TABLES IN SCHEMA context_ledger TO {}",
            "GRANT INSERT ON context_ledger.ledgers, context_ledger.events, context_ledger.payloads TO {}",
        ):
            sql.execute(text.SQL(grant).format(role))
        app = open_postgres(url.replace("user=ledger", f"user={sql.info.dbname}_app"))
        app.append(batch([draft()]))
        assert len(app.feed(after=0, limit=10)) == 1
        with pytest.raises(StoreError, match="GRANT"):
            app.append(batch([draft()], expected=1, blobs={"ab": b"content"}))
        app.close()
    finally:
        sql.execute(text.SQL("DROP OWNED BY {}").format(role))
        sql.execute(text.SQL("DROP ROLE {}").format(role))
