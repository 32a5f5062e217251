"""How the PostgreSQL store forgets: fences that wait for the appends under way, and the sweep.

Every append about a subject locks the table of subjects (ROW EXCLUSIVE, which lets others append) before it takes the snapshot
in which it looks for fences. A fence locks that table in a mode that conflicts, so it waits for such appends, and those that
come later wait for it and then see it. A sweep first updates the ledger's row, so that it is ordered with ``derived_put``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

from psycopg import errors
from psycopg.types.numeric import Int8

from ledger.erasing import Holdings, StoredJob, Sweep, Swept
from ledger.errors import LedgerError, StoreError, SubjectForgotten
from ledger.postgres_connections import Connection, Connections
from ledger.postgres_deriving import purge_derived
from ledger.postgres_scrub import scrub

T = TypeVar("T")

# So many at a time, in order and each time between the first and the last of them: whichever way the server finds them in
# the index, it reads no part of it twice.
_AT_ONCE: Final = 10_000

_WAIT_FOR_APPENDS: Final = "LOCK TABLE context_ledger.subjects IN SHARE MODE"
_FENCE: Final = "INSERT INTO context_ledger.fences (subject, job) VALUES (%s, %s) ON CONFLICT DO NOTHING"
_TAGGED: Final = (
    "SELECT s.ledger, s.version FROM context_ledger.subjects s "
    "JOIN context_ledger.events e ON e.ledger = s.ledger AND e.version = s.version WHERE s.subject = %s ORDER BY e.position"
)
_REFUSED: Final = (
    "SELECT current_setting('transaction_isolation'), "
    "(SELECT min(job) FROM context_ledger.fences WHERE subject = ANY(%b::bytea[]))"
)
_JOB_PUT: Final = (
    "INSERT INTO context_ledger.jobs (job, state, finished) VALUES (%s, %s, %s) "
    "ON CONFLICT (job) DO UPDATE SET state = excluded.state, finished = excluded.finished"
)

# What was stored a moment ago is in no statistics, and a plan that reads the whole table for every chunk would never end.
_BY_INDEX: Final = "SET LOCAL enable_seqscan = off"
_ERASED: Final = "UPDATE context_ledger.ledgers SET erasures = erasures + 1, name = coalesce(%s, name) WHERE ledger = %s"
_THESE_VERSIONS: Final = "WHERE ledger = %s AND version BETWEEN %s AND %s AND version = ANY(%b::bigint[])"
_DELETE_PAYLOADS: Final = f"DELETE FROM context_ledger.payloads {_THESE_VERSIONS}"  # noqa: S608 — parts of this file
_DELETE_TAGS: Final = f"DELETE FROM context_ledger.subjects {_THESE_VERSIONS}"  # noqa: S608 — parts of this file
_DELETE_BLOBS: Final = (
    "DELETE FROM context_ledger.blobs "
    "WHERE ledger = %s AND sha256 BETWEEN %s AND %s AND sha256 = ANY(%s::text[]) AND version < %s"
)


class PostgresErasing:
    """The part of the store that forgets."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def tagged(self, subject: bytes) -> list[tuple[bytes, int]]:
        """Ledger and version of every event that is about a subject."""
        return [(ledger, version) for ledger, version in self._connections.rows(_TAGGED, (subject,))]

    def fence(self, subject: bytes, job: str) -> None:
        """Refuse appends about a subject from now on. Waits for those under way; ``StoreError`` if one of them does not end."""

        def work(connection: Connection, _: int) -> None:
            with connection.transaction():
                connection.execute(_WAIT_FOR_APPENDS)
                connection.execute(_FENCE, (subject, job))

        self._connections.run(work)

    def unfence(self, subject: bytes) -> bool:
        """Take appends about a subject again; whether it was fenced."""
        return self._changed("DELETE FROM context_ledger.fences WHERE subject = %s", (subject,)) == 1

    def fenced(self, subject: bytes) -> str | None:
        """The job that fenced a subject."""
        row = self._connections.row("SELECT job FROM context_ledger.fences WHERE subject = %s", (subject,))
        return None if row is None else str(row[0])

    def sweep(self, sweep: Sweep) -> Swept:
        """Delete, purge what is derived, and raise the count of erasures."""
        return self._connections.run_at_length(lambda connection: _sweep(connection, sweep))

    def rename(self, ledger: bytes, name: str) -> None:
        """Give a ledger another name; ``StoreError`` if another ledger has it."""

        def work(connection: Connection, _: int) -> None:
            try:
                connection.execute("UPDATE context_ledger.ledgers SET name = %s WHERE ledger = %s", (name, ledger))
            except errors.UniqueViolation as error:
                raise StoreError(f"another ledger is called {name!r}: choose another name", name=name) from error

        self._connections.run(work)

    def holdings(self, ledger: bytes) -> Holdings:
        """What is kept of a ledger beside its events."""
        blobs = self._connections.rows("SELECT sha256 FROM context_ledger.blobs WHERE ledger = %s ORDER BY sha256", (ledger,))
        derived = self._connections.rows(
            "SELECT kind, count(*) FROM context_ledger.derived WHERE ledger = %s GROUP BY kind ORDER BY kind", (ledger,)
        )
        return Holdings(tuple(sha256 for (sha256,) in blobs), dict(derived))

    def scrub(self) -> None:
        """Write anew all that may hold deleted bytes, which keeps readers and writers waiting meanwhile."""
        scrub(self._connections)

    def job_put(self, job: StoredJob) -> None:
        """Keep a job, or its new state."""
        self._changed(_JOB_PUT, (job.job, job.state, job.finished))

    def jobs(self) -> list[StoredJob]:
        """All jobs, in the order in which they were begun."""
        rows = self._connections.rows("SELECT job, state, finished FROM context_ledger.jobs ORDER BY number")
        return [StoredJob(*row) for row in rows]

    def place_put(self, place: str) -> None:
        """Remember that something outside of the store is derived from its content."""
        self._changed("INSERT INTO context_ledger.places VALUES (%s) ON CONFLICT DO NOTHING", (place,))

    def place_drop(self, place: str) -> None:
        """It is no longer there."""
        self._changed("DELETE FROM context_ledger.places WHERE place = %s", (place,))

    def places(self) -> list[str]:
        """What is derived outside of the store, by name."""
        return [place for (place,) in self._connections.rows("SELECT place FROM context_ledger.places ORDER BY place")]

    def _changed(self, statement: str, values: tuple[Any, ...]) -> int:
        return self._connections.run(lambda connection, _: connection.execute(statement, values).rowcount)


def fence_error(connection: Connection, subjects: Sequence[bytes]) -> LedgerError | None:
    """Why an append about subjects was refused, if it was because of them."""
    row = connection.execute(_REFUSED, (list(subjects),)).fetchone()
    assert row is not None, "the statement has one row"
    isolation, job = row
    if job is not None:
        return SubjectForgotten(
            f"whom these events are about was forgotten by job {job}: leave the subject out, or re-authorise it", job=job
        )
    if isolation != "read committed":
        return StoreError(
            f"transactions of this database are {isolation}, and so could not see that a subject was just forgotten: "
            "set default_transaction_isolation to 'read committed' for the user or the database",
            isolation=isolation,
        )
    return None


def _sweep(connection: Connection, sweep: Sweep) -> Swept:
    connection.execute(_ERASED, (sweep.name, sweep.ledger))
    connection.execute(_BY_INDEX)
    payloads = _delete_versions(connection, _DELETE_PAYLOADS, sweep)
    blobs = 0
    for hashes in _chunks(sorted(sweep.blobs)):
        of_these = (sweep.ledger, hashes[0], hashes[-1], hashes, sweep.fence)
        blobs += connection.execute(_DELETE_BLOBS, of_these).rowcount
    derived = purge_derived(connection, sweep.ledger)
    # Last, as whoever fences a subject waits from here on.
    tags = _delete_versions(connection, _DELETE_TAGS, sweep)
    return Swept(payloads, blobs, tags, derived)


def _delete_versions(connection: Connection, statement: str, sweep: Sweep) -> int:
    count = 0
    for versions in _chunks(list(map(Int8, sorted(sweep.versions)))):
        count += connection.execute(statement, (sweep.ledger, versions[0], versions[-1], versions)).rowcount
    return count


def _chunks(everything: Sequence[T]) -> Iterator[list[T]]:
    for start in range(0, len(everything), _AT_ONCE):
        yield list(everything[start : start + _AT_ONCE])
