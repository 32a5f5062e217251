"""A table that follows the record: how many turns each role took in each ledger, kept exactly once.

The tracking recorders of the ``eventsourcing`` library keep the rows and the position up to which they were counted; both are
written in one transaction, a page of events at a time. Whoever dies between two pages goes on where the table stands.

    python -m examples.sql_view sqlite:///record.db view.db
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any, Protocol

from eventsourcing.persistence import IntegrityError, Tracking
from eventsourcing.postgres import PostgresTrackingRecorder
from eventsourcing.sqlite import SQLiteDatastore, SQLiteTrackingRecorder

from ledger.connect import connect
from ledger.events import TurnRecorded
from ledger.following import pages
from ledger.reading import recorded
from ledger.store import Store, Stored

NAME = "turns_by_role"
CREATE = "CREATE TABLE IF NOT EXISTS turns_by_role (ledger TEXT, role TEXT, turns BIGINT, PRIMARY KEY (ledger, role))"
COUNT = (
    "INSERT INTO turns_by_role VALUES ({0}, {0}, {0}) "
    "ON CONFLICT (ledger, role) DO UPDATE SET turns = turns_by_role.turns + excluded.turns"
)
READ = "SELECT ledger, role, turns FROM turns_by_role"


class View(Protocol):
    """Where the counts stand."""

    def max_tracking_id(self, application_name: str) -> int | None:
        """The position up to which events were counted."""

    def add(self, page: list[Stored], *, after: int) -> None:
        """Count a page; ``IntegrityError`` if the table does not stand at ``after``, because somebody else was faster."""


class SqliteView(SQLiteTrackingRecorder):
    """The table in a SQLite file."""

    def add(self, page: list[Stored], *, after: int) -> None:
        with self.datastore.transaction(commit=True) as cursor:
            _expect(self._max_tracking_id(NAME, cursor), after)
            for row in counted(page):
                cursor.execute(COUNT.format("?"), row)
            self._insert_tracking(cursor, _tracking(page))

    def rows(self) -> dict[tuple[str, str], int]:
        """Turns by ledger and role."""
        with self.datastore.transaction(commit=False) as cursor:
            cursor.execute(READ)
            return {(row["ledger"], row["role"]): row["turns"] for row in cursor.fetchall()}

    def _create_table(self, c: Any) -> None:
        super()._create_table(c)
        c.execute(CREATE)


class PostgresView(PostgresTrackingRecorder):
    """The table in PostgreSQL, where two who count at once must be kept apart by a lock."""

    def add(self, page: list[Stored], *, after: int) -> None:
        with self.datastore.transaction(commit=True) as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (NAME,))
            _expect(self._max_tracking_id(NAME, cursor), after)
            cursor.executemany(COUNT.format("%s").encode(), counted(page))
            self._insert_tracking(cursor, _tracking(page))

    def rows(self) -> dict[tuple[str, str], int]:
        """Turns by ledger and role."""
        with self.datastore.transaction() as cursor:
            cursor.execute(READ.encode())
            return {(row["ledger"], row["role"]): row["turns"] for row in cursor.fetchall()}

    def _create_table(self, curs: Any) -> None:
        super()._create_table(curs)
        curs.execute(CREATE)


def counted(page: list[Stored]) -> list[tuple[str, str, int]]:
    """The rows that a page adds."""
    # What was forgotten before it was counted comes without its payload.
    turns = [stored for stored in page if stored.envelope.type == "turn.recorded" and stored.payload is not None]
    events = map(recorded, turns)
    counts = Counter(
        (event.envelope.ledger.hex(), event.event.role) for event in events if isinstance(event.event, TurnRecorded)
    )
    return [(ledger, role, turns) for (ledger, role), turns in counts.items()]


def _tracking(page: list[Stored]) -> Tracking:
    return Tracking(NAME, page[-1].envelope.position)


def _expect(found: int | None, after: int) -> None:
    if (found or 0) != after:
        raise IntegrityError(f"the table stands at {found}, not at {after}: somebody else counts too")


def catch_up(store: Store, view: View) -> None:
    """Bring the table up to date with what is stored now."""
    after = view.max_tracking_id(NAME) or 0
    for page in pages(store, after=after, idle_seconds=0):
        view.add(page, after=after)
        after = page[-1].envelope.position


def main(where: str, file: str) -> None:
    """Bring the table in a file up to date and print it."""
    datastore = SQLiteDatastore(file)
    view = SqliteView(datastore)
    view.create_table()
    with connect(where) as ledgers:
        catch_up(ledgers.store, view)
        names = {head.ledger.hex(): head.name for head in ledgers.heads()}
    for name, role, turns in sorted((names[ledger], role, turns) for (ledger, role), turns in view.rows().items()):
        print(f"{name}\t{role}\t{turns}")
    datastore.close()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python -m examples.sql_view STORE FILE")
    main(*sys.argv[1:])
