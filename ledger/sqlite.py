"""The embedded store: one SQLite file, durable before an append returns.

It is in WAL mode on a local disk, and has a rollback journal elsewhere or where one is asked for.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from ledger.codec import pack
from ledger.errors import NotAStore, StoreError, VersionConflict
from ledger.marks import forgotten_name
from ledger.record import FORMAT, Envelope
from ledger.rows import Row, feed_page, in_a_row, leading, read_in_pages, read_in_parts
from ledger.sqlite_connections import MEMORY, Connections, Journal
from ledger.sqlite_deriving import SqliteDeriving
from ledger.sqlite_erasing import SqliteErasing, check_fences, put_tags
from ledger.sqlite_places import check_place, journal_for
from ledger.sqlite_schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION
from ledger.store import GOVERNING_TYPES, Batch, Head, Lag, Selection, Stored
from ledger.window_events import UNDECIDING

_ENVELOPE: Final = (
    "e.position, e.format, e.ledger, e.version, e.command, e.ordinal, e.type, e.type_version, e.turn, e.recorded_at, e.actor, "
    "e.cause, e.commitment"
)
_STORED: Final = (
    f"SELECT {_ENVELOPE}, p.salt, p.compression, p.payload FROM events e "  # noqa: S608 — our own column names, no value
    "LEFT JOIN payloads p ON p.position = e.position"  # outer, so that an event without its payload is found and told
)
_ENVELOPES: Final = f"SELECT {_ENVELOPE} FROM events e"  # noqa: S608 — our own column names, no value
_BEFORE_APPEND: Final = (
    "SELECT c.position, l.ledger, coalesce(e.version, 0), coalesce(e.recorded_at, 0), "
    "EXISTS (SELECT 1 FROM events WHERE ledger = ? AND command = ?) FROM counter c LEFT JOIN ledgers l ON l.name IN (?, ?) "
    "LEFT JOIN "
    "events e ON e.ledger = l.ledger AND e.version = (SELECT max(version) FROM events WHERE ledger = l.ledger)"
)
_JOURNAL_SECONDS: Final = 2.0
_JOURNAL_PAUSE_SECONDS: Final = 0.02
_KINDS: Final = {
    "all": "",
    "turns": " AND e.type IN ('turn.recorded', 'tool.returned')",
    "others": " AND e.type NOT IN ('turn.recorded', 'tool.returned')",
    "governing": f" AND e.type IN ({', '.join(map(repr, GOVERNING_TYPES))})",
    "numbered": " AND e.type = 'turn.recorded' AND e.turn IS NOT NULL",
    # In two parts, since an index of events that are no turns is known by the words of its condition.
    "deciding": f" AND e.type NOT IN ('turn.recorded', 'tool.returned') AND e.type NOT IN ({', '.join(map(repr, UNDECIDING))})",
}

_HEAD: Final = (
    "SELECT l.name, l.ledger, coalesce(e.version, 0), coalesce(e.recorded_at, 0), l.erasures, "  # noqa: S608 — our own names
    f"coalesce((SELECT max(e.version) FROM events e WHERE e.ledger = l.ledger{_KINDS['governing']}), 0) FROM ledgers l "
    "LEFT JOIN events e ON e.ledger = l.ledger AND e.version = (SELECT max(version) FROM events WHERE ledger = l.ledger)"
)
_HEAD_BY_NAME: Final = f"{_HEAD} WHERE l.name = ?"
_HEAD_BY_ID: Final = f"{_HEAD} WHERE l.ledger = ?"
_NO_END: Final = 2**63 - 1
_OF_THESE: Final = " AND e.version IN (SELECT value FROM json_each(?))"


class SqliteStore(SqliteErasing, SqliteDeriving):
    """A store in one SQLite file, or in memory. Safe for threads; each process that uses it opens connections of its own."""

    def __init__(self, path: str, journal: Journal = "wal") -> None:
        super().__init__(Connections(path, journal))
        try:
            self._secret = self._prepare()
        except BaseException:
            self._connections.close()
            raise

    def __repr__(self) -> str:
        return f"<SQLite store {self._connections.path!r}>"

    @property
    def secret(self) -> bytes:
        """The store's own random key for commands."""
        return self._secret

    def append(self, batch: Batch) -> list[Envelope]:
        """Store a batch in one transaction; ``VersionConflict`` if the ledger is elsewhere or the command is stored."""
        with self._connections.writing() as connection:
            check_fences(connection, batch)
            envelopes = _numbered(batch, *_expect(connection, batch, forgotten_name(self._secret, batch.name)))
            if batch.expected == 0:
                connection.execute("INSERT INTO ledgers (ledger, name) VALUES (?, ?)", (batch.ledger, batch.name))
            connection.executemany("INSERT INTO events VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", map(_columns, envelopes))
            connection.executemany(
                "INSERT INTO payloads VALUES (?,?,?,?)",
                [
                    (envelope.position, draft.salt, *pack(draft.payload))
                    for envelope, draft in zip(envelopes, batch.drafts, strict=True)
                ],
            )
            put_tags(connection, batch, envelopes)
            for sha256, content in batch.blobs.items():
                _put_blob(connection, batch.ledger, sha256, content, version=envelopes[-1].version)
        return envelopes

    def head(self, name: str) -> Head | None:
        """Where a ledger is; None if nothing was ever appended to it. A forgotten one is found by the name that it had."""
        return self._head(_HEAD_BY_NAME, name) or self._head(_HEAD_BY_NAME, forgotten_name(self._secret, name))

    def head_of(self, ledger: bytes) -> Head | None:
        """Where the ledger of an id is."""
        return self._head(_HEAD_BY_ID, ledger)

    def _head(self, query: str, place: str | bytes) -> Head | None:
        with self._connections.reading() as connection:
            found = connection.found()
            if place not in found:
                row = connection.execute(query, (place,)).fetchone()
                head = found[place] = None if row is None else Head(*row)
                if head is not None:
                    found[head.name] = found[head.ledger] = head
            known: Head | None = found[place]
        return known

    def heads(self) -> list[Head]:
        """All ledgers, in the order in which they were made."""
        with self._connections.reading() as connection:
            return [Head(*row) for row in connection.execute(f"{_HEAD} ORDER BY l.number")]

    def read(self, ledger: bytes, selection: Selection) -> Iterator[Stored]:
        """The selected events, fetched in pages, so that no read stays open between them."""

        def read_part(part: Selection) -> Iterator[Stored]:
            query, values = _query(ledger, part)

            def fetch(after: int, upto: int | None, rows: int) -> list[Row]:
                with self._connections.reading() as connection, closing(connection.cursor()) as cursor:
                    return leading(cursor.execute(query, (*values, after, upto, rows)))

            return read_in_pages(part, fetch)

        return read_in_parts(in_a_row(selection), read_part)  # a range is found faster than each of its versions

    def envelope(self, ledger: bytes, selection: Selection) -> Envelope | None:
        """The envelope of the first selected event."""
        query, values = _query(ledger, selection, _ENVELOPES)
        with self._connections.reading() as connection:
            row = connection.execute(query, (*values, selection.after, selection.upto, 1)).fetchone()
        return None if row is None else Envelope(*row)

    def feed(self, *, after: int, limit: int) -> list[Stored]:
        """Events of all ledgers above a position, in the order of the feed."""
        with self._connections.reading() as connection:
            rows = connection.execute(f"{_STORED} WHERE e.position > ? ORDER BY e.position LIMIT ?", (after, limit)).fetchall()
        return feed_page(rows)

    def last_position(self) -> int:
        """The position of the last event; 0 if there is none."""
        with self._connections.reading() as connection:
            return int(connection.execute("SELECT coalesce(max(position), 0) FROM events").fetchone()[0])

    def lag(self, *, after: int) -> Lag:
        """How many events are stored above a position; none of them is ever held back."""
        with self._connections.reading() as connection:
            (events,) = connection.execute("SELECT count(*) FROM events WHERE position > ?", (after,)).fetchone()
        return Lag(events, 0)

    def blob(self, ledger: bytes, sha256: str) -> bytes | None:
        """The bytes of an artifact of this ledger."""
        with self._connections.reading() as connection:
            row = connection.execute("SELECT content FROM blobs WHERE ledger = ? AND sha256 = ?", (ledger, sha256)).fetchone()
        return None if row is None else row[0]

    def close(self) -> None:
        """Close the connections of this process."""
        self._connections.close()

    def _prepare(self) -> bytes:
        """Make the tables where there are none and return the secret; a database that is not ours is left as it is."""
        with self._connections.reading() as connection:
            schema = _schema_of(connection, self._connections.path)
            _set_journal(connection, self._connections)
            if schema == SCHEMA_VERSION:
                return _secret(connection)
        with self._connections.writing() as connection:
            _migrate(connection, _schema_of(connection, self._connections.path))
            return _secret(connection)


def open_sqlite(path: str, journal: Journal | None = None) -> SqliteStore:
    """Open or make a store; the folder of ``path`` must exist. A relative path is one of the folder that is current now.

    Without a journal named, a store keeps the one it has, and a new one gets WAL, or a rollback journal and a warning on a file
    system that is shared or virtual. ``NotAStore`` where something else lies.
    """
    if path == MEMORY:
        return SqliteStore(path)
    check_place(path)
    chosen = journal_for(path, journal)
    return SqliteStore(str(Path(path).absolute()), chosen)


def _set_journal(connection: sqlite3.Connection, wanted: Connections) -> None:
    """Change the journal if it is another one, which is possible while nobody else has the store open.

    Where several processes make a store at once, each has it open for a moment: so it is tried again for a while.
    """
    until = time.monotonic() + _JOURNAL_SECONDS
    while True:
        (found,) = connection.execute("PRAGMA journal_mode").fetchone()
        if found in (wanted.journal, "memory"):
            return
        try:
            (found,) = connection.execute(f"PRAGMA journal_mode = {wanted.journal}").fetchone()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
        if found == wanted.journal:
            return
        if time.monotonic() > until:
            raise StoreError(
                f"the store {wanted.path} is in use with journal={found}: close it everywhere, or open it likewise",
                path=wanted.path,
            )
        time.sleep(_JOURNAL_PAUSE_SECONDS)


def _schema_of(connection: sqlite3.Connection, path: str) -> int:
    """The schema of a store, 0 for a database that holds nothing yet; an error if it is not ours to read."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        if application or version or connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None:
            raise NotAStore(f"{path} is a SQLite database of something else: name another file", path=path)
        return 0
    if version > SCHEMA_VERSION:
        raise StoreError(f"the store has schema {version}, this release knows {SCHEMA_VERSION}: upgrade context-ledger")
    return int(version)


def _secret(connection: sqlite3.Connection) -> bytes:
    return bytes(connection.execute("SELECT value FROM settings WHERE name = 'secret'").fetchone()[0])


def _migrate(connection: sqlite3.Connection, found: int) -> None:
    for statements in MIGRATIONS[found:]:
        _execute(connection, statements)
    if found == 0:
        connection.execute("INSERT INTO settings VALUES ('secret', ?)", (os.urandom(32),))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _execute(connection: sqlite3.Connection, statements: str) -> None:
    statement = ""
    for line in statements.splitlines():  # executescript would commit the transaction that makes this safe against others
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


def _put_blob(connection: sqlite3.Connection, ledger: bytes, sha256: str, content: bytes, *, version: int) -> None:
    known = connection.execute("UPDATE blobs SET version = ? WHERE ledger = ? AND sha256 = ?", (version, ledger, sha256))
    if known.rowcount == 0:
        connection.execute("INSERT INTO blobs VALUES (?, ?, ?, ?)", (ledger, sha256, content, version))


def _expect(connection: sqlite3.Connection, batch: Batch, forgotten: str) -> tuple[int, int]:
    """The first position and the time of a batch, if the ledger is where it expects it and does not hold the command.

    A ledger whose name is the ``forgotten`` one has the batch's name taken, too.
    """
    values = (batch.ledger, batch.command, batch.name, forgotten)
    last, ledger, version, recorded_at, taken = connection.execute(_BEFORE_APPEND, values).fetchone()
    if version != batch.expected or (ledger != batch.ledger and ledger is not None) or taken:
        found = "holds this command already" if taken else f"is at version {version}, not {batch.expected}"
        raise VersionConflict(f"ledger {batch.name!r} {found}", ledger=batch.name, expected=batch.expected, actual=version)
    return last + 1, max(batch.recorded_at, recorded_at)


def _numbered(batch: Batch, first: int, recorded_at: int) -> list[Envelope]:
    """The envelopes of a batch that begins at a position."""
    return [
        Envelope(
            first + ordinal,
            FORMAT,
            batch.ledger,
            batch.expected + 1 + ordinal,
            batch.command,
            ordinal,
            draft.type,
            draft.type_version,
            draft.turn,
            recorded_at,
            batch.actor,
            batch.cause,
            draft.commitment,
        )
        for ordinal, draft in enumerate(batch.drafts)
    ]


_columns: Final[Callable[[Envelope], tuple[Any, ...]]] = attrgetter(*Envelope.__slots__)


def _query(ledger: bytes, selection: Selection, what: str = _STORED) -> tuple[str, list[Any]]:
    """The page query of a selection; its last three places are after, upto and the page's size."""
    query = f"{what} WHERE e.ledger = ?{_KINDS[selection.kind]}"
    values: list[Any] = [ledger]
    if selection.versions is not None:
        query, values = query + _OF_THESE, [ledger, json.dumps(selection.versions)]
    wanted: list[tuple[str, Any]] = [("turn", selection.turn), ("command", selection.command)]
    for column, value in wanted:
        if value is not None:
            query, values = f"{query} AND e.{column} = ?", [*values, value]
    order = "DESC" if selection.newest_first else "ASC"
    # A plus keeps SQLite from going through all versions after one, where some are named that it can look up.
    version = "e.version" if selection.versions is None else "+e.version"
    return f"{query} AND {version} > ? AND {version} <= ifnull(?, {_NO_END}) ORDER BY e.version {order} LIMIT ?", values
