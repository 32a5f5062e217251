"""The store for many writers: PostgreSQL, where one append is one statement, one transaction and one ledger.

The position of an event is ``((xid + epoch) << 20) + ordinal``, with the number of its transaction. PostgreSQL takes a
statement's snapshot before it numbers the statement's transaction, so a writer that sees version n was numbered after
the one that wrote it: positions rise inside a ledger. Readers of the feed stop below the oldest transaction that still
runs, so nothing appears behind them. Therefore nothing may be written before the append in its transaction.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from psycopg import errors
from psycopg.types.numeric import Int8

from ledger.errors import LedgerError, NotAStore, StoreError, VersionConflict
from ledger.marks import forgotten_name
from ledger.postgres_append import append_of
from ledger.postgres_connections import Address, Connection, Connections, parse
from ledger.postgres_deriving import PostgresDeriving
from ledger.postgres_erasing import PostgresErasing, fence_error
from ledger.postgres_schema import ADVISORY_LOCK, MIGRATIONS, SCHEMA_VERSION, schema_version
from ledger.postgres_statements import (
    FEED,
    GUARD,
    HALT,
    HEAD,
    HEAD_BY_NAME,
    LAG,
    LAST_POSITION,
    RAISE_EPOCH,
    STORED_COMMAND,
    first_envelope,
    read_page,
)
from ledger.record import FORMAT, Envelope
from ledger.rows import Row, feed_page, read_in_pages, read_in_parts
from ledger.store import Batch, Head, Lag, Selection, Stored

_OLDEST_SERVER: Final = 130_000


class PostgresStore(PostgresErasing, PostgresDeriving):
    """A store in the schema ``context_ledger`` of a database. Safe for threads; a forked child connects anew."""

    def __init__(self, address: Address) -> None:
        super().__init__(Connections(address))
        secret = self._connections.run_alone(lambda connection, _: _secret_of(connection, address.shown))
        self._secret = secret or self._connections.run_at_length(lambda connection: _prepare(connection, address.shown))

    def __repr__(self) -> str:
        return f"<PostgreSQL store {self._connections.address.shown!r}>"

    @property
    def secret(self) -> bytes:
        """The store's own random key for commands."""
        return self._secret

    def append(self, batch: Batch) -> list[Envelope]:
        """Store a batch in one statement; ``VersionConflict`` if the ledger is elsewhere or the command is stored.

        Where the connection breaks, the command is looked up, and appended again if it is not there.
        """
        try:
            return self._append(batch)
        except VersionConflict as conflict:
            if conflict.actual != batch.expected or batch.expected == 0:
                raise
            head = self.head(batch.name)
            if head is None or head.name == batch.name:
                raise
            return self._append(replace(batch, name=head.name))  # it was forgotten meanwhile, and has another name

    def _append(self, batch: Batch) -> list[Envelope]:
        forgotten = "" if batch.expected else forgotten_name(self._secret, batch.name)
        statement, values = append_of(batch, forgotten)

        def work(connection: Connection, attempt: int) -> list[Envelope]:
            found = _this_batch(connection, batch) if attempt else None
            if found is not None:
                return found
            row, taken = None, False
            try:
                row = connection.execute(statement, values, binary=True).fetchone()
            except errors.UniqueViolation as error:
                taken = "command" in (error.diag.constraint_name or "")
            if row is not None:
                return [_envelope(batch, row[0], ordinal, row[1]) for ordinal in range(len(batch.drafts))]
            # The lost connection's statement may have been under way when it was looked for.
            found = _this_batch(connection, batch) if attempt else None
            if found is not None:
                return found
            raise _refusal(connection, batch, forgotten_name(self._secret, batch.name), taken=taken)

        return self._connections.run(work, appends=True)

    def head(self, name: str) -> Head | None:
        """Where a ledger is; None if nothing was ever appended to it. A forgotten one is found by the name that it had."""
        row = self._connections.row(HEAD_BY_NAME, (name, forgotten_name(self._secret, name)))
        return None if row is None else Head(*row)

    def head_of(self, ledger: bytes) -> Head | None:
        """Where the ledger of an id is."""
        row = self._connections.row(f"{HEAD} WHERE l.ledger = %s", (ledger,))
        return None if row is None else Head(*row)

    def heads(self) -> list[Head]:
        """All ledgers, in the order in which they were made."""
        return [Head(*row) for row in self._connections.rows(f"{HEAD} ORDER BY l.position", ())]

    def read(self, ledger: bytes, selection: Selection) -> Iterator[Stored]:
        """The selected events, fetched in pages, so that no read stays open between them."""

        def read_part(part: Selection) -> Iterator[Stored]:
            def fetch(after: int, upto: int | None, rows: int) -> list[Row]:
                return list(self._connections.rows(*read_page(ledger, part, after=after, upto=upto, rows=rows)))

            return read_in_pages(part, fetch)

        return read_in_parts(selection, read_part)

    def envelope(self, ledger: bytes, selection: Selection) -> Envelope | None:
        """The envelope of the first selected event."""
        row = self._connections.row(*first_envelope(ledger, selection))
        return None if row is None else Envelope(*row)

    def feed(self, *, after: int, limit: int) -> list[Stored]:
        """Events of all ledgers above a position and below every transaction that still runs, in order."""
        return feed_page(self._connections.rows(FEED, (Int8(after), Int8(limit))))

    def last_position(self) -> int:
        """The position of the last event below every transaction that still runs; 0 if there is none."""
        row = self._connections.row(LAST_POSITION, ())
        return 0 if row is None else int(row[0])

    def lag(self, *, after: int) -> Lag:
        """How many events are stored above a position; some may be held back by an older transaction."""
        row = self._connections.row(LAG, (Int8(after),))
        assert row is not None, "an aggregate has one row"
        return Lag(*row)

    def blob(self, ledger: bytes, sha256: str) -> bytes | None:
        """The bytes of an artifact of this ledger."""
        row = self._connections.row(
            "SELECT content FROM context_ledger.blobs WHERE ledger = %s AND sha256 = %s", (ledger, sha256)
        )
        return None if row is None else row[0]

    def raise_epoch(self) -> int:
        """After a restore into another cluster: let positions go on above the stored ones. Returns the epoch.

        Changes nothing where it is not needed. Until it is done, appends to such a store are refused.
        """
        return self._connections.run_alone(lambda connection, _: _raise_epoch(connection))

    def close(self) -> None:
        """Close the connections of this process."""
        self._connections.close()


def open_postgres(url: str) -> PostgresStore:
    """Open a store by its ``postgresql://`` address, making its tables in the database if there are none.

    The address is libpq's, with service files, TLS and passwords from the usual places; three parameters are ours:
    ``prepare=off`` behind a pooler in transaction mode, ``pool`` (connections a process) and ``deadline`` (seconds).
    """
    return PostgresStore(parse(url))


def _raise_epoch(connection: Connection) -> int:
    with connection.transaction():
        connection.execute(HALT)
        row = connection.execute(RAISE_EPOCH).fetchone()
    assert row is not None, "the store has its row"
    return int(row[0])


def _secret_of(connection: Connection, place: str) -> bytes | None:
    """The secret of a store whose tables are those of this release; None if there are none yet, or older ones."""
    if connection.info.server_version < _OLDEST_SERVER:
        raise StoreError(f"PostgreSQL store {place}: the server is older than version 13: use a newer one")
    found = schema_version(connection, place)
    if found > SCHEMA_VERSION:
        raise StoreError(
            f"PostgreSQL store {place}: it has schema {found}, this release knows {SCHEMA_VERSION}: upgrade context-ledger"
        )
    if found < SCHEMA_VERSION:
        return None
    row = connection.execute("SELECT secret FROM context_ledger.store").fetchone()
    assert row is not None, "a migrated store has its row"
    return bytes(row[0])


def _prepare(connection: Connection, place: str) -> bytes:
    """Bring the tables up to this release, and return the secret."""
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (ADVISORY_LOCK,))
    found = schema_version(connection, place)
    if found < SCHEMA_VERSION:
        _migrate(connection, found, place)
    secret = _secret_of(connection, place)
    assert secret is not None, "the tables were brought up to this release"
    return secret


def _migrate(connection: Connection, found: int, place: str) -> None:
    if found == 0:
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise NotAStore(
                f"PostgreSQL store {place}: the database is encoded in {encoding}: make one with "
                "createdb --template=template0 --encoding=UTF8"
            )
        connection.execute("CREATE SCHEMA context_ledger")
    for statements in MIGRATIONS[found:]:
        connection.execute(statements)
    if found == 0:
        connection.execute("INSERT INTO context_ledger.store (schema, epoch, secret) VALUES (0, 0, %s)", (os.urandom(32),))
    connection.execute("UPDATE context_ledger.store SET schema = %s", (SCHEMA_VERSION,))


def _this_batch(connection: Connection, batch: Batch) -> list[Envelope] | None:
    """The envelopes of this very batch if it is stored; its commitments are salted, so no other has them."""
    rows = connection.execute(STORED_COMMAND, (batch.ledger, batch.command), binary=True).fetchall()
    if [row[12] for row in rows] != [draft.commitment for draft in batch.drafts]:
        return None
    return [Envelope(*row) for row in rows]


def _refusal(connection: Connection, batch: Batch, forgotten: str, *, taken: bool) -> LedgerError:
    """Why nothing was appended."""
    fenced = fence_error(connection, batch.subjects) if batch.subjects else None
    if fenced is not None:
        return fenced
    row = connection.execute(GUARD).fetchone()
    if row is not None and row[0]:
        return StoreError(
            "the stored positions are above those that this server gives, as after a restore into a new cluster: "
            "run context-ledger init --raise-epoch once (or raise_epoch() of the store), then append again"
        )
    row = connection.execute(HEAD_BY_NAME, (batch.name, forgotten), binary=True).fetchone()
    actual = 0 if row is None else Head(*row).version
    said = "holds this command already" if taken else f"is at version {actual}, not {batch.expected}"
    return VersionConflict(f"ledger {batch.name!r} {said}", ledger=batch.name, expected=batch.expected, actual=actual)


def _envelope(batch: Batch, first: int, ordinal: int, recorded_at: int) -> Envelope:
    draft = batch.drafts[ordinal]
    return Envelope(
        position=first + ordinal,
        format=FORMAT,
        ledger=batch.ledger,
        version=batch.expected + 1 + ordinal,
        command=batch.command,
        ordinal=ordinal,
        type=draft.type,
        type_version=draft.type_version,
        turn=draft.turn,
        recorded_at=recorded_at,
        actor=batch.actor,
        cause=batch.cause,
        commitment=draft.commitment,
    )
