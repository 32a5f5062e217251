"""Connections to one SQLite database: one a thread, none across a fork, one for all threads where the database is in memory."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal

from ledger.errors import StoreError, sentence

MEMORY: Final = ":memory:"

Journal = Literal["wal", "delete"]
"""How a transaction is made safe: in a log that is written ahead, or in a rollback journal, deleted at the commit."""

# A deleted rollback journal that comes back after a power failure undoes its commit: EXTRA waits for its folder too.
_SYNCHRONOUS: Final[dict[Journal, str]] = {"wal": "FULL", "delete": "EXTRA"}

BUSY_TIMEOUT_SECONDS: Final = 30.0

_MOST_FOUND: Final = 256
"""So much is remembered of what was found."""

_inherited: Final[list[Connection]] = []
"""A child process keeps its parent's connections here, untouched: closing them would harm the parent."""


class Connection(sqlite3.Connection):
    """A connection that remembers what it found until anything is written, by itself or by anybody else.

    ``reads``: how many are going on; while there are any, no other thread may close it.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.reads = 0
        self._found_at = 0, 0
        self._found: dict[Hashable, Any] = {}

    def found(self) -> dict[Hashable, Any]:
        """What was put here since anything was written last: it would be found again."""
        if self.in_transaction:  # it may be taken back
            return {}
        (version,) = self.execute("PRAGMA data_version").fetchone()  # another one once others wrote, but not for what we do
        at = version, self.total_changes
        if at != self._found_at or len(self._found) >= _MOST_FOUND:
            self._found_at, self._found = at, {}
        return self._found

    @contextmanager
    def beside(self) -> Iterator[None]:
        """While rows are written on which nothing that was found depends: it stays so."""
        before = self.total_changes
        yield
        version, changes = self._found_at
        if changes == before:
            self._found_at = version, self.total_changes


class _OfThread:
    """The connection of one thread, among all ``open_ones``: closed when the thread ends, since nobody else has it."""

    __slots__ = ("_open_ones", "_pid", "connection")

    def __init__(self, connection: Connection, open_ones: dict[int, Connection]) -> None:
        self.connection = connection
        self._open_ones = open_ones
        self._pid = os.getpid()
        open_ones[id(connection)] = connection

    def __del__(self) -> None:
        if self._pid != os.getpid():
            _inherited.append(self.connection)
            return
        self._open_ones.pop(id(self.connection), None)
        self.connection.close()


class _Reading:
    """A read. Not a ``contextmanager``, since every question has several of them, and a generator for each takes longer."""

    __slots__ = ("_connection", "_of")

    def __init__(self, of: Connections) -> None:
        self._of = of

    def __enter__(self) -> Connection:
        self._connection = self._of.begin_reading()
        return self._connection

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._of.end_reading(self._connection, error)


class Connections:
    """Hands out the connection of the calling thread; ``writing`` lets one thread of the process write at a time."""

    def __init__(self, path: str, journal: Journal = "wal") -> None:
        self.path = path
        self.journal = journal
        self._pid = os.getpid()
        self._mine = threading.local()
        self._open_ones: dict[int, Connection] = {}
        self._lock = threading.RLock()
        self._closed = False
        self._shared = self._open() if path == MEMORY else None

    def reading(self) -> _Reading:
        """A connection for a short read; whatever it raises comes out as ``StoreError``."""
        return _Reading(self)

    def begin_reading(self) -> Connection:
        """The connection to read with, up to ``end_reading``."""
        self._guard()
        if self._shared is not None:
            self._lock.acquire()
            return self._shared
        connection = self._own()
        connection.reads += 1
        if self._closed:  # asked only now: ``close`` says so first, and looks at the reads then
            self.end_reading(connection, None)
            self._guard()
        return connection

    def end_reading(self, connection: Connection, error: BaseException | None) -> None:
        """Give it back; what was raised meanwhile comes out as ``StoreError``."""
        if self._shared is not None:
            self._lock.release()
        else:
            connection.reads -= 1
            if self._closed and not connection.reads:
                connection.close()
        if isinstance(error, sqlite3.Error):
            raise _translated(error, self.path) from error

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection inside a transaction that is committed at the end, or rolled back if anything is raised.

        The transaction takes the write lock at once: one that reads first and then writes would fail under another writer,
        whatever the timeout. Threads of this process queue at a lock of ours, which is fair where SQLite's busy wait is not.
        """
        self._guard()
        with self._lock:
            self._guard()  # it may have been closed while others wrote
            connection = self._shared or self._own()
            try:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
            except sqlite3.Error as error:
                raise _translated(error, self.path) from error

    @contextmanager
    def alone(self) -> Iterator[Connection]:
        """A connection outside of a transaction, while no other thread of this process writes."""
        with self._lock, self.reading() as connection:
            yield connection

    def close(self) -> None:
        """Close every connection that this process opened; one that a thread reads with goes with the end of that read."""
        self._closed = True
        if self._pid != os.getpid():
            return
        with self._lock:
            for connection in [*self._open_ones.values(), *([self._shared] if self._shared else [])]:
                if not connection.reads:  # SQLite does not bear to be closed under a statement
                    connection.close()
            self._open_ones.clear()

    def _guard(self) -> None:
        if self._closed:
            raise StoreError(f"the store {self.path} was closed: connect again", path=self.path)
        if self._pid == os.getpid():
            return
        if self._shared is not None:
            raise StoreError(
                "an in-memory store does not follow into a child process: connect to a file instead", path=self.path
            )
        _inherited.extend(self._open_ones.values())
        self._mine, self._open_ones, self._lock = threading.local(), {}, threading.RLock()
        self._pid = os.getpid()

    def _own(self) -> Connection:
        mine: _OfThread | None = getattr(self._mine, "connection", None)
        if mine is None:
            mine = self._mine.connection = _OfThread(self._open(), self._open_ones)
        return mine.connection

    def _open(self) -> Connection:
        try:
            connection = sqlite3.connect(
                self.path,
                isolation_level=None,
                check_same_thread=False,
                timeout=BUSY_TIMEOUT_SECONDS,
                cached_statements=64,
                factory=Connection,
            )
        except sqlite3.Error as error:
            raise _translated(error, self.path) from error
        try:
            connection.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[self.journal]}")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA trusted_schema = OFF")
        except sqlite3.Error as error:
            connection.close()
            raise _translated(error, self.path) from error
        return connection


def _translated(error: sqlite3.Error, path: str) -> StoreError:
    """What SQLite says, and what to do about it."""
    return StoreError(f"SQLite store {path}: {sentence(str(error))} {_way_out(error)}", path=path)


def _way_out(error: sqlite3.Error) -> str:
    text = str(error)
    if "locked" in text or "busy" in text:
        return f"Another process wrote for {BUSY_TIMEOUT_SECONDS:.0f} s: try again, or use PostgreSQL for many writers."
    if "unable to open" in text:
        return "Check that the folder exists and may be written to."
    if "not a database" in text or "malformed" in text:
        return "The file is not a store or is damaged: restore it from a backup."
    if "full" in text:
        return "Nothing was written: free some space and try again."
    if "readonly" in text:
        return "The file may not be written to: check its permissions."
    return "Nothing was written."
