"""Connections that break, hang, are forked or come from a pooler; addresses as libpq reads them."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from ledger.connect import connect
from ledger.errors import InvalidInput, StoreError
from ledger.postgres import PostgresStore, open_postgres
from ledger.postgres_connections import parse
from ledger.store import Selection
from tests.contract.batches import LEDGER, batch, draft

Sql = psycopg.Connection[tuple[object, ...]]
CHILDREN = 16


def kill_all(sql: Sql) -> None:
    """End every connection to this database but our own."""
    sql.execute(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )


def in_threads(count: int, work: Callable[[int], object]) -> None:
    """Run ``work`` in so many threads at once."""
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_connections_that_the_server_closed_are_replaced(store: PostgresStore, sql: Sql) -> None:
    """All of the pool's at once, as a server does that closes idle connections."""
    start = threading.Barrier(4)
    in_threads(4, lambda _: (start.wait(), store.heads()))
    for version in range(3):
        kill_all(sql)
        store.append(batch([draft()], expected=version))
        kill_all(sql)
        assert len(store.feed(after=0, limit=10)) == version + 1


def test_a_pool_of_two_serves_sixteen_threads(url: str) -> None:
    with connect(f"{url}&pool=2") as ledgers:
        in_threads(16, lambda number: ledgers.ledger(f"case {number}").record_turn("user", "hello"))
        assert [head.version for head in ledgers.heads()] == [1] * 16


def test_threads_share_one_handle(url: str) -> None:
    with connect(url) as ledgers:
        ledger = ledgers.ledger("case")
        in_threads(16, lambda number: ledger.record_turn("user", f"hello {number}"))
        assert [event.turn for event in ledger.events()] == list(range(1, 17))


def test_a_handle_follows_into_forked_children(url: str) -> None:
    """Sixteen of them write to one ledger; the parent's connection still works afterwards."""
    with connect(url) as ledgers:
        ledger = ledgers.ledger("case")
        ledger.record_turn("user", "before")

        def child(number: int) -> None:
            for turn in range(5):
                ledger.record_turn("user", f"{number}: {turn}")

        context = multiprocessing.get_context("fork")
        children = [context.Process(target=child, args=(number,)) for number in range(CHILDREN)]
        for process in children:
            process.start()
        for process in children:
            process.join()
        assert [process.exitcode for process in children] == [0] * CHILDREN
        ledger.record_turn("user", "after")
        assert [event.turn for event in ledger.events()] == list(range(1, 5 * CHILDREN + 3))


def swap_session(store: PostgresStore) -> None:
    """What a pooler in transaction mode does: the next statement meets a session that prepared nothing."""
    store._connections.run(lambda connection, _: connection.pgconn.exec_(b"DEALLOCATE ALL"))


@pytest.mark.parametrize("prepare", ["on", "off"])
def test_behind_a_pooler(url: str, prepare: str) -> None:
    store = open_postgres(f"{url}&prepare={prepare}")
    for version in range(5):
        store.append(batch([draft()], expected=version))
    swap_session(store)
    if prepare == "on":
        with pytest.raises(StoreError, match="prepare=off"):
            store.append(batch([draft()], expected=5))
    else:
        store.append(batch([draft()], expected=5))
    store.close()


@pytest.mark.parametrize(("prepare", "says"), [("on", "pg_stat_activity"), ("off", "did not answer in time")])
def test_an_append_that_cannot_go_on_ends_at_its_deadline(url: str, prepare: str, says: str) -> None:
    """By the server where it may be told, by ourselves behind a pooler; the store can be used afterwards."""
    store = open_postgres(f"{url}&prepare={prepare}&deadline=1")
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE context_ledger.payloads IN EXCLUSIVE MODE")
        with pytest.raises(StoreError, match=says):
            store.append(batch([draft()]))
    store.append(batch([draft()]))
    assert [stored.envelope.version for stored in store.read(LEDGER, Selection())] == [1]
    store.close()


def test_a_busy_pool_is_told_apart_from_a_server_that_is_gone(url: str) -> None:
    store = open_postgres(f"{url}&pool=1&deadline=1")
    taken, done = threading.Event(), threading.Event()

    def take(_connection: object, _attempt: int) -> None:
        taken.set()
        done.wait()

    thread = threading.Thread(target=store._connections.run, args=(take,))
    thread.start()
    taken.wait()
    with pytest.raises(StoreError, match="raise pool="):
        store.heads()
    done.set()
    thread.join()
    store.close()


def test_a_closed_store_says_so(url: str) -> None:
    store = open_postgres(url)
    store.heads()
    store.close()
    store.close()
    with pytest.raises(StoreError, match="connect again"):
        store.heads()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("ledger_test", "no_such"), r'database "no_such.*" does not exist\. '),
        (("user=ledger", "user=nobody&password=geheim"), 'role "nobody" does not exist'),
        (("host=", "host=/nowhere"), r"Is the server running[^?]*\? Check that"),
    ],
)
def test_what_cannot_be_reached_is_told_at_once(url: str, change: tuple[str, str], says: str) -> None:
    with pytest.raises(StoreError, match=says) as caught:
        connect(url.replace(*change))
    assert "geheim" not in str(caught.value)


def test_text_that_the_database_cannot_hold_is_refused(store: PostgresStore) -> None:
    made = batch([draft()], name="nul\0")
    with pytest.raises(StoreError, match=r"U\+0000"):
        store.append(made)
    assert store.heads() == []


def test_an_address_keeps_what_is_not_ours() -> None:
    address = parse("postgresql://someone:pass%20word@db.example:5433/record?sslmode=verify-full&prepare=off&pool=3&deadline=7")
    given = psycopg.conninfo.conninfo_to_dict(address.conninfo)
    expected = {"user": "someone", "password": "pass word", "host": "db.example", "port": "5433", "dbname": "record"}
    assert {name: given[name] for name in expected} == expected
    assert given["sslmode"] == "verify-full"
    assert given["connect_timeout"] == "10"
    assert (address.prepare, address.pool_size, address.deadline_seconds) == (False, 3, 7.0)
    assert address.shown == "db.example/record"
    assert "pass" not in repr(address)


def test_an_open_store_says_where_it_is_and_no_password(url: str) -> None:
    with connect(f"{url}&password=geheim") as ledgers:
        shown = repr(ledgers)
        assert shown == f"<ledgers of <PostgreSQL store '{parse(url).shown}'>>"
    assert "geheim" not in shown


@pytest.mark.parametrize("url", ["postgresql://", "postgres:///", "postgresql:///record?connect_timeout=3", "postgres://db"])
def test_short_addresses(url: str) -> None:
    address = parse(url)
    given = psycopg.conninfo.conninfo_to_dict(address.conninfo)
    assert given["connect_timeout"] == ("3" if "=3" in url else "10")
    assert given.get("host") == ("db" if url.endswith("db") else None)


@pytest.mark.parametrize("wrong", ["prepare=maybe", "pool=0", "pool=many", "deadline=-1", "deadline=", "no_such_parameter=1"])
def test_a_wrong_parameter_is_named(wrong: str) -> None:
    with pytest.raises(InvalidInput, match=wrong.partition("=")[0]):
        parse(f"postgresql://db/record?{wrong}")


def test_a_service_file_is_read(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its settings win over our defaults."""
    given = psycopg.conninfo.conninfo_to_dict(url)
    lines = [f"{name}={value}" for name, value in given.items()]
    service = tmp_path / "services"
    service.write_text("\n".join(["[record]", *lines, "application_name=served"]), encoding="utf-8")
    monkeypatch.setenv("PGSERVICEFILE", str(service))
    store = open_postgres("postgresql://?service=record")
    name = store._connections.run(lambda connection, _: connection.execute("SHOW application_name").fetchone())
    assert name == ("served",)
    store.close()


def test_both_schemes_open_the_same_store(url: str) -> None:
    with connect(url) as first, connect(url.replace("postgresql:", "postgres:")) as second:
        first.ledger("case").record_turn("user", "hello")
        assert [head.name for head in second.heads()] == ["case"]
