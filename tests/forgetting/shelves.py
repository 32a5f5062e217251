"""Stores whose every byte can be read: the files of SQLite, the data directory of PostgreSQL, and what their rows hold."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final, Protocol

import psycopg
import pytest
from psycopg import sql

from ledger.connect import Ledgers
from tests.contract.stores import AtAddress, InDatabase

Contents = Iterator[tuple[str, bytes]]
"""A place in a store and the bytes that stand there."""


class Shelf(Protocol):
    """A store, opened anew at every call, and everything that it has written."""

    @property
    def address(self) -> str: ...

    def __call__(self) -> Ledgers: ...

    def contents(self) -> Contents:
        """Every file of the store, and every row as plain SQL shows it, whether or not the store is open."""
        ...

    def close(self) -> None: ...


class SqliteShelf(AtAddress):
    """A file, and what SQLite keeps beside it."""

    def __init__(self, folder: Path, journal: str) -> None:
        self.folder = folder / journal
        self.folder.mkdir()
        super().__init__(f"sqlite:///{self.folder}/record.db?journal={journal}")

    def contents(self) -> Contents:
        """The file, its log or journal, and its rows."""
        yield from ((path.name, path.read_bytes()) for path in sorted(self.folder.iterdir()))
        # Reading through SQLite, even once, may write what it recovers: the files are read before.
        with closing(sqlite3.connect(f"file:{self.folder}/record.db?mode=ro", uri=True)) as connection:
            tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in tables:
                yield f"rows of {table}", _joined(connection.execute(f'SELECT * FROM "{table}"'))


class PostgresShelf(InDatabase):
    """A database, of which the files are those that were written since the shelf was made."""

    def __init__(self) -> None:
        super().__init__()
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute("CHECKPOINT")
            (directory,) = _one(connection, "SHOW data_directory")
        self._directory = Path(directory)
        if not self._directory.exists():
            self.close()
            pytest.skip(f"the data directory {directory} of the given server is not on this machine")
        self._before = {path: _stamp(path) for path in self._files()}

    def contents(self) -> Contents:
        """What was written to the data directory, save to ``pg_wal``, and the rows of every table of the store."""
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute("CHECKPOINT")
            tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'context_ledger'").fetchall()
            for (table,) in tables:
                rows = connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier("context_ledger", table)))
                yield f"rows of {table}", _joined(rows)
            kept = connection.execute("SELECT * FROM pg_stats WHERE schemaname = 'context_ledger'")
            yield "statistics", _joined(kept)
        for path in self._files():
            if _stamp(path) != self._before.get(path):
                yield str(path.relative_to(self._directory)), _content(path)

    def _files(self) -> list[Path]:
        files = (path for path in self._directory.rglob("*") if path.is_file())
        return sorted(path for path in files if path.relative_to(self._directory).parts[0] != "pg_wal")


def _stamp(path: Path) -> tuple[int, int]:
    """By which a file that was written to is told; the server removes files at any time."""
    try:
        known = path.stat()
    except FileNotFoundError:
        return 0, 0
    return known.st_size, known.st_mtime_ns


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _one(connection: psycopg.Connection[tuple[Any, ...]], query: str) -> tuple[Any, ...]:
    row = connection.execute(sql.SQL(query)).fetchone()
    assert row is not None, query
    return row


def _joined(rows: Any) -> bytes:
    """All values of all rows; a byte that stands in no text lies between them."""
    return b"\xff".join(value if isinstance(value, bytes) else str(value).encode() for row in rows for value in row)


CATALOGUE: Final[dict[str, Callable[[Path], Shelf]]] = {
    "sqlite-wal": lambda folder: SqliteShelf(folder, "wal"),
    "sqlite-delete": lambda folder: SqliteShelf(folder, "delete"),
    "postgres": lambda _: PostgresShelf(),
}
