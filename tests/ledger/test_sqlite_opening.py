"""Opening a SQLite store: what is not ours is refused unharmed, and every failure says the way out."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ledger import connect
from ledger.errors import InvalidInput, NotAStore, StoreError
from ledger.sqlite_schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION
from ledger.verify import verify_store
from tests.contract.test_processes import in_a_fork


def foreign(path: Path, *statements: str) -> bytes:
    """A SQLite database of another program, closed; its bytes."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path.read_bytes()


@pytest.mark.parametrize(
    "statements",
    [
        ("CREATE TABLE notes (id INTEGER)",),
        ("CREATE TABLE notes (id INTEGER)", f"PRAGMA user_version = {SCHEMA_VERSION}"),
        ("CREATE TABLE notes (id INTEGER)", "PRAGMA user_version = 99"),
        ("CREATE TABLE settings (name TEXT, value TEXT)", f"PRAGMA user_version = {SCHEMA_VERSION}"),
        ("CREATE TABLE notes (id INTEGER)", "PRAGMA application_id = 1234"),
        ("PRAGMA user_version = 7",),
    ],
)
def test_a_database_of_something_else_is_refused_and_left_as_it_was(tmp_path: Path, statements: tuple[str, ...]) -> None:
    path = tmp_path / "other.db"
    before = foreign(path, *statements)
    with pytest.raises(NotAStore, match="something else: name another file"):
        connect(str(path))
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["other.db"]


def test_a_store_of_a_later_release_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    connect(str(path)).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="upgrade context-ledger"):
        connect(str(path))
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"this is a text file, and a long one at that\n" * 100, b"x", b"SQLite format 4\0" * 9])
def test_a_file_that_is_no_database_is_refused_and_left_as_it_was(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(NotAStore, match="not a store, nor a SQLite database at all: name another file"):
        connect(str(path))
    assert path.read_bytes() == content


def test_a_database_that_is_damaged_is_a_fault_and_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    path.write_bytes(content := b"SQLite format 3\0" + b"x" * 5000)
    with pytest.raises(StoreError, match=r"not a database\. The file is not a store or is damaged") as refused:
        connect(str(path))
    assert not isinstance(refused.value, NotAStore)
    assert path.read_bytes() == content


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    path.touch()
    with connect(str(path)) as ledgers:
        assert ledgers.ledger("case").record_turn("user", "x") == 1


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="make it first"):
        connect(str(tmp_path / "nowhere" / "record.db"))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_place_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(NotAStore, match="is a folder: name a file in it"):
        connect(str(tmp_path))


def test_what_is_neither_a_file_nor_a_folder(tmp_path: Path) -> None:
    """It is not even opened: reading a pipe would wait for ever."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotAStore, match="is not a file"):
        connect(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("where", "way_out"),
    [
        ("", "give a file name, or :memory:"),
        ("  ", "give a file name, or :memory:"),
        (None, "None is not the place of a store: give a path, :memory: or a URL"),
        (7, "7 is not the place of a store: give a path"),
        (b"record.db", "give a path"),
        ("sqlite:///", "write sqlite:///file.db"),
        ("sqlite:///?journal=delete", "write sqlite:///file.db"),
        ("sqlite://file.db", "write sqlite:///file.db"),
        ("sqlite:foo.db", r"write sqlite:///file.db.*\./sqlite:foo.db"),
        ("SQLite:/foo.db", "write sqlite:///file.db"),
        ("postgresql:foo", "write postgresql://host/database"),
        ("postgres:foo", "write postgresql://host/database"),
        ("redis://localhost/1", "one of sqlite://"),
        ("a\0b", "leave out the NUL"),
    ],
)
def test_addresses_that_name_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: Any, way_out: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match=way_out):
        connect(where)
    assert list(tmp_path.iterdir()) == []


def test_a_path_may_be_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    places: list[str | Path] = [tmp_path / "sqlite:foo.db", "./sqlite:foo.db"]
    for version, place in enumerate(places, 1):
        with connect(place) as ledgers:
            assert ledgers.ledger("case").record_turn("user", "x") == version


def test_a_path_and_a_url_name_the_same_store(tmp_path: Path) -> None:
    path = tmp_path / "it's 100% sure?.db"
    for where in (str(path), f"sqlite:///{path}"):
        with connect(where) as ledgers:
            ledgers.ledger("case").record_turn("user", "x")
    with connect(str(path)) as ledgers:
        assert ledgers.ledger("case").version == 2
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_relative_path_means_the_folder_in_which_it_was_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although connections are opened later, by every thread for itself."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with connect("record.db") as ledgers:
        handle = ledgers.ledger("case")
        handle.record_turn("user", "x")
        monkeypatch.chdir(tmp_path / "elsewhere")
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(handle.record_turn, "user", "y").result() == 2
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that other users of the machine may enter but not change."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def refused_to_somebody_else(path: Path, message: str) -> None:
    """An append by a process without the rights of a superuser, whom no permission stops, must fail with this message."""

    def append() -> None:
        if os.geteuid() == 0:
            os.setuid(65534)
        with pytest.raises(StoreError, match=message), connect(str(path)) as ledgers:
            ledgers.ledger("case").record_turn("user", "x")

    assert in_a_fork(append) == 0


def test_a_file_that_may_not_be_written(public_folder: Path) -> None:
    path = public_folder / "record.db"
    connect(str(path)).close()
    path.chmod(0o444)
    refused_to_somebody_else(path, "Check that the folder|check its permissions")


def test_a_folder_that_may_not_be_written(public_folder: Path) -> None:
    refused_to_somebody_else(public_folder / "record.db", "Check that the folder")


def test_a_store_in_memory_does_not_follow_into_a_child() -> None:
    with connect(":memory:") as ledgers:
        handle = ledgers.ledger("case")
        handle.record_turn("user", "x")

        def in_child() -> None:
            for attempt in cases:
                with pytest.raises(StoreError, match="connect to a file"):
                    attempt()

        cases: list[Callable[[], object]] = [lambda: handle.record_turn("user", "y"), ledgers.heads]
        assert in_a_fork(in_child) == 0
        assert handle.record_turn("user", "y") == 2


def test_two_stores_in_memory_are_two() -> None:
    with connect(":memory:") as one, connect(":memory:") as two:
        one.ledger("case").record_turn("user", "x")
        assert two.heads() == []


def earlier(path: Path) -> list[tuple[object, ...]]:
    """Make of a store one as the first release kept it, without what forgetting needs; what it holds."""
    with connect(str(path)) as ledgers:
        handle = ledgers.ledger("case", task="refund")
        handle.record_turn("user", "I was charged 4,050 INR twice")
        page = handle.store_artifact(b"29 EUR a month")
        handle.record_evidence("29", quote="29", artifact=page)
        ledgers.store.derived_put(ledgers.head("case").ledger, "segment", "1", b"counts", erasures=0)
    old = path.with_name("old.db")
    with closing(sqlite3.connect(old, isolation_level=None)) as connection:
        connection.executescript(MIGRATIONS[0])
        connection.execute("ATTACH ? AS new", (str(path),))
        connection.execute("INSERT INTO settings SELECT * FROM new.settings")
        for table in ("ledgers", "payloads", "derived"):
            connection.execute(f"INSERT INTO {table} SELECT * FROM new.{table}")
        connection.execute("INSERT INTO events SELECT * FROM new.events ORDER BY position")
        connection.execute("INSERT INTO blobs SELECT ledger, sha256, content FROM new.blobs")
        connection.execute("DETACH new")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
    path.unlink()
    old.rename(path)
    return held(path)


def held(path: Path) -> list[tuple[object, ...]]:
    tables = ("settings", "counter", "ledgers", "events", "payloads", "derived")
    with closing(sqlite3.connect(path)) as connection:
        rows = [row for table in tables for row in connection.execute(f"SELECT * FROM {table} ORDER BY 1")]
        return [*rows, *connection.execute("SELECT ledger, sha256, content FROM blobs")]


def test_a_store_of_the_first_release_keeps_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    before = earlier(path)
    with connect(str(path)) as ledgers:
        assert held(path) == before
        assert verify_store(ledgers).problems == ()
        assert verify_store(ledgers).events == 4
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)


def test_a_store_of_the_first_release_forgets(tmp_path: Path) -> None:
    """Its blobs were stored before versions of them were noted."""
    path = tmp_path / "record.db"
    earlier(path)
    with connect(str(path)) as ledgers:
        page = ledgers.store.holdings(ledgers.head("case").ledger).blobs[0]
        done = ledgers.ledger("case").forget(artifacts=[page], reason="asked for")
        assert (done.state, done.ledgers[0].artifact_count, done.count) == ("complete", 1, 2)
        assert ledgers.store.blob(ledgers.head("case").ledger, page) is None
        assert verify_store(ledgers).ok


def test_a_store_of_the_first_release_is_opened_by_many_at_once(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    before = earlier(path)
    with ThreadPoolExecutor(8) as pool:
        for ledgers in pool.map(connect, [str(path)] * 8):
            ledgers.close()
    assert held(path) == before


@pytest.mark.parametrize("address", ["case.db", "sqlite:///case.db", "sqlite:///case.db?journal=delete"])
def test_an_open_store_says_where_it_is(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with connect(address) as ledgers:
        assert repr(ledgers) == f"<ledgers of <SQLite store '{tmp_path / 'case.db'}'>>"
