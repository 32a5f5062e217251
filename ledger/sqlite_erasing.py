"""How the SQLite store forgets. There is one writer at a time, so a transaction is all that a fence needs."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from ledger.erasing import Holdings, StoredJob, Sweep, Swept
from ledger.errors import StoreError, SubjectForgotten
from ledger.record import Envelope
from ledger.sqlite_connections import BUSY_TIMEOUT_SECONDS, MEMORY, Connections
from ledger.sqlite_deriving import purge_derived
from ledger.store import Batch

_CHECKPOINT: Final = "PRAGMA wal_checkpoint(TRUNCATE)"
_PAUSE_SECONDS: Final = 0.02
_OVER: Final = "DELETE FROM {table} WHERE {where}"


class SqliteErasing:
    """The part of the store that forgets. ``secure_delete`` is on in every connection: what is deleted is overwritten."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def tagged(self, subject: bytes) -> list[tuple[bytes, int]]:
        """Ledger and version of every event that is about a subject."""
        with self._connections.reading() as connection:
            return connection.execute(
                "SELECT s.ledger, s.version FROM subjects s JOIN events e ON e.ledger = s.ledger AND e.version = s.version "
                "WHERE s.subject = ? ORDER BY e.position",
                (subject,),
            ).fetchall()

    def fence(self, subject: bytes, job: str) -> None:
        """Refuse appends about a subject from now on."""
        with self._connections.writing() as connection:
            connection.execute("INSERT OR IGNORE INTO fences VALUES (?, ?)", (subject, job))

    def unfence(self, subject: bytes) -> bool:
        """Take appends about a subject again; whether it was fenced."""
        with self._connections.writing() as connection:
            return connection.execute("DELETE FROM fences WHERE subject = ?", (subject,)).rowcount == 1

    def fenced(self, subject: bytes) -> str | None:
        """The job that fenced a subject."""
        with self._connections.reading() as connection:
            return _fence(connection, subject)

    def sweep(self, sweep: Sweep) -> Swept:
        """Delete, purge what is derived, and raise the count of erasures."""
        of_ledger = [(sweep.ledger, version) for version in sweep.versions]
        with self._connections.writing() as connection:
            payloads = _delete(
                connection, "payloads", "position = (SELECT position FROM events WHERE ledger = ? AND version = ?)", of_ledger
            )
            tags = _delete(connection, "subjects", "ledger = ? AND version = ?", of_ledger)
            blobs = _delete(
                connection,
                "blobs",
                "ledger = ? AND sha256 = ? AND version < ?",
                [(sweep.ledger, sha256, sweep.fence) for sha256 in sweep.blobs],
            )
            derived = purge_derived(connection, sweep.ledger)
            connection.execute(
                "UPDATE ledgers SET erasures = erasures + 1, name = coalesce(?, name) WHERE ledger = ?",
                (sweep.name, sweep.ledger),
            )
        return Swept(payloads, blobs, tags, derived)

    def rename(self, ledger: bytes, name: str) -> None:
        """Give a ledger another name."""
        with self._connections.writing() as connection:
            connection.execute("UPDATE ledgers SET name = ? WHERE ledger = ?", (name, ledger))

    def holdings(self, ledger: bytes) -> Holdings:
        """What is kept of a ledger beside its events."""
        with self._connections.reading() as connection:
            blobs = connection.execute("SELECT sha256 FROM blobs WHERE ledger = ? ORDER BY sha256", (ledger,)).fetchall()
            derived = connection.execute(
                "SELECT kind, count(*) FROM derived WHERE ledger = ? GROUP BY kind ORDER BY kind", (ledger,)
            ).fetchall()
        return Holdings(tuple(sha256 for (sha256,) in blobs), dict(derived))

    def scrub(self) -> None:
        """Write the file anew, then empty its log: takes time and space for all that is kept.

        ``secure_delete`` overwrites what is deleted where it stands. Copies that SQLite leaves in the free space of a page when
        it moves rows between pages go only when the file is written anew; pages as they were before stand in the log.
        """
        if self._connections.path == MEMORY:
            return
        with self._connections.alone() as connection:
            done = _retried(_vacuum, connection)
            if done and self._connections.journal == "wal":
                done = _retried(_checkpoint, connection)
        if not done:
            raise StoreError(
                f"SQLite store {self._connections.path}: others have been reading or writing for {BUSY_TIMEOUT_SECONDS:.0f} s, "
                "so its files may still hold what was deleted: end what takes so long, then resume",
                path=self._connections.path,
            )

    def job_put(self, job: StoredJob) -> None:
        """Keep a job, or its new state."""
        with self._connections.writing() as connection:
            connection.execute(
                "INSERT INTO jobs (job, state, finished) VALUES (?, ?, ?) "
                "ON CONFLICT (job) DO UPDATE SET state = excluded.state, finished = excluded.finished",
                (job.job, job.state, job.finished),
            )

    def jobs(self) -> list[StoredJob]:
        """All jobs, in the order in which they were begun."""
        with self._connections.reading() as connection:
            rows = connection.execute("SELECT job, state, finished FROM jobs ORDER BY number").fetchall()
        return [StoredJob(job, state, bool(finished)) for job, state, finished in rows]

    def place_put(self, place: str) -> None:
        """Remember that something outside of the store is derived from its content."""
        with self._connections.writing() as connection:
            connection.execute("INSERT OR IGNORE INTO places VALUES (?)", (place,))

    def place_drop(self, place: str) -> None:
        """It is no longer there."""
        with self._connections.writing() as connection:
            connection.execute("DELETE FROM places WHERE place = ?", (place,))

    def places(self) -> list[str]:
        """What is derived outside of the store, by name."""
        with self._connections.reading() as connection:
            return [place for (place,) in connection.execute("SELECT place FROM places ORDER BY place")]


def _retried(step: Callable[[sqlite3.Connection], bool], connection: sqlite3.Connection) -> bool:
    """Whether a step was done in time. SQLite waits for some who are in the way, and gives up at once for others."""
    end = time.monotonic() + BUSY_TIMEOUT_SECONDS
    while not step(connection):
        if time.monotonic() > end:
            return False
        time.sleep(_PAUSE_SECONDS)
    return True


def _vacuum(connection: sqlite3.Connection) -> bool:
    """Write the file anew, unless others are in the way."""
    try:
        connection.execute("VACUUM")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise
        return False
    return True


def _checkpoint(connection: sqlite3.Connection) -> bool:
    """Empty the log, unless others are in the way."""
    return not connection.execute(_CHECKPOINT).fetchone()[0]


def check_fences(connection: sqlite3.Connection, batch: Batch) -> None:
    """``SubjectForgotten`` for a batch that is about a forgotten subject."""
    for subject in batch.subjects:
        job = _fence(connection, subject)
        if job is not None:
            raise SubjectForgotten(
                f"whom these events are about was forgotten by job {job}: leave the subject out, or re-authorise it", job=job
            )


def put_tags(connection: sqlite3.Connection, batch: Batch, envelopes: Iterable[Envelope]) -> None:
    """Remember whom the events of a batch are about."""
    if batch.subjects:
        rows = [(subject, batch.ledger, envelope.version) for envelope in envelopes for subject in batch.subjects]
        connection.executemany("INSERT OR IGNORE INTO subjects VALUES (?, ?, ?)", rows)


def _fence(connection: sqlite3.Connection, subject: bytes) -> str | None:
    row = connection.execute("SELECT job FROM fences WHERE subject = ?", (subject,)).fetchone()
    return None if row is None else str(row[0])


def _delete(connection: sqlite3.Connection, table: str, where: str, values: Sequence[tuple[object, ...]]) -> int:
    return connection.executemany(_OVER.format(table=table, where=where), values).rowcount if values else 0
