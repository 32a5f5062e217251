"""Opening a SQLite store: what is not ours is refused unharmed, and every failure says the way out."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from ledger import connect
from ledger.errors import InvalidInput, LedgerError, StoreError
from ledger.sqlite_schema import SCHEMA_VERSION
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
    with pytest.raises(StoreError, match="something else: name another file"):
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


@pytest.mark.parametrize(
    "content", [b"this is a text file, and a long one at that\n" * 100, b"SQLite format 3\0" + b"x" * 5000]
)
def test_a_file_that_is_no_database_is_refused_and_left_as_it_was(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="not a store or is damaged"):
        connect(str(path))
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
    with pytest.raises(StoreError, match="Check that"):
        connect(str(tmp_path))


@pytest.mark.parametrize("where", ["", "sqlite:///", "redis://localhost/1", "a\0b"])
def test_addresses_that_name_no_store(where: str) -> None:
    with pytest.raises(LedgerError) as caught:
        connect(where)
    assert isinstance(caught.value, InvalidInput)


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
