"""How the SQLite store keeps what is derived."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

from ledger.deriving import EVERYWHERE, Derived, FollowedView, News, Scan, beyond
from ledger.sqlite_connections import Connections

_PUT: Final = "INSERT OR REPLACE INTO derived SELECT ?, ?, ?, ? FROM ledgers WHERE ledger = ? AND erasures = ?"
_BEGIN: Final = (
    "INSERT OR IGNORE INTO views SELECT ?, ?, "
    "CASE WHEN EXISTS (SELECT 1 FROM views WHERE name = ? AND state = 'active') THEN 'building' ELSE 'active' END, 0"
)
_RESTORED: Final = (
    "DELETE FROM purged WHERE kind = ? AND ledger = ? AND EXISTS (SELECT 1 FROM ledgers WHERE ledger = ? AND erasures = ?)"
)


class SqliteDeriving:
    """The part of the store that keeps what is derived."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def derived_get(self, ledger: bytes, kind: str, key: str) -> bytes | None:
        """Something derived that was kept."""
        with self._connections.reading() as connection:
            row = connection.execute(
                "SELECT value FROM derived WHERE ledger = ? AND kind = ? AND key = ?", (ledger, kind, key)
            ).fetchone()
        return None if row is None else row[0]

    def derived_put(self, ledger: bytes, kind: str, key: str, value: bytes, *, erasures: int) -> bool:
        """Keep something derived, unless anything was forgotten since it was made."""
        return self.derived_put_many(ledger, kind, {key: value}, erasures=erasures)

    def derived_put_many(self, ledger: bytes, kind: str, rows: Mapping[str, bytes], *, erasures: int) -> bool:
        """Keep several rows, unless anything was forgotten since they were made."""
        with self._connections.writing() as connection, connection.beside():
            done = connection.executemany(
                _PUT, [(ledger, kind, key, value, ledger, erasures) for key, value in sorted(rows.items())]
            )
            return done.rowcount == len(rows)

    def derived_scan(
        self,
        kind: str,
        prefix: str,
        *,
        ledger: bytes | None = None,
        after: str | None = None,
        before: str | None = None,
        newest_first: bool = False,
        limit: int | None = None,
    ) -> Scan:
        """Rows by a range of their keys, and which ledgers were purged, in one statement."""
        where, values = "kind = :kind AND key >= :prefix", {"kind": kind, "prefix": prefix, "limit": limit or -1}
        asked: list[tuple[str, str, Any]] = [
            ("ledger =", "ledger", ledger),
            ("key >", "after", after),
            ("key <", "before", before),
            ("key <", "beyond", beyond(prefix)),
        ]
        for comparison, name, value in asked:
            if value is not None:
                where, values = f"{where} AND {comparison} :{name}", {**values, name: value}
        order = "DESC" if newest_first else "ASC"
        of_ledger = "" if ledger is None else " AND ledger IN (:ledger, x'')"
        query = (
            f"SELECT * FROM (SELECT ledger, key, value FROM derived WHERE {where} ORDER BY key {order} LIMIT :limit) "  # noqa: S608 — our own names
            f"UNION ALL SELECT ledger, NULL, NULL FROM purged WHERE kind = :kind{of_ledger}"
        )
        with self._connections.reading() as connection:
            found = connection.execute(query, values).fetchall()
        return scanned(found)

    def derived_drop(self, ledger: bytes, kind: str, *, first: str, end: str) -> int:
        """Delete rows by a range of their keys."""
        with self._connections.writing() as connection:
            return connection.execute(
                "DELETE FROM derived WHERE ledger = ? AND kind = ? AND key >= ? AND key < ?", (ledger, kind, first, end)
            ).rowcount

    def views(self, name: str) -> list[FollowedView]:
        """All kinds of a view."""
        with self._connections.reading() as connection:
            found = connection.execute(
                "SELECT name, kind, state, position FROM views WHERE name = ? ORDER BY kind", (name,)
            ).fetchall()
        return [FollowedView(*row) for row in found]

    def view_begin(self, name: str, kind: str) -> None:
        """Begin a kind of a view."""
        with self._connections.writing() as connection:
            connection.execute(_BEGIN, (name, kind, name))

    def view_advance(self, kind: str, position: int) -> None:
        """Say up to which position a view has followed the feed."""
        with self._connections.writing() as connection:
            connection.execute("UPDATE views SET position = max(position, ?) WHERE kind = ?", (position, kind))

    def view_switch(self, kind: str) -> None:
        """Put a kind of a view in force and retire the one that was."""
        with self._connections.writing() as connection:
            wanted = connection.execute("SELECT name FROM views WHERE kind = ? AND state = 'building'", (kind,)).fetchone()
            if wanted is None:
                return
            in_force = connection.execute("SELECT kind FROM views WHERE state = 'active' AND name = ?", wanted).fetchall()
            connection.executemany("UPDATE views SET state = 'retired' WHERE kind = ?", in_force)
            connection.executemany("INSERT OR IGNORE INTO purged VALUES (?, ?)", [(old, EVERYWHERE) for (old,) in in_force])
            connection.execute("UPDATE views SET state = 'active' WHERE kind = ?", (kind,))

    def view_purge(self, kind: str) -> int:
        """Delete the rows of a kind that was retired."""
        with self._connections.writing() as connection:
            return connection.execute(
                "DELETE FROM derived WHERE kind = ? AND EXISTS (SELECT 1 FROM views WHERE kind = ? AND state = 'retired')",
                (kind, kind),
            ).rowcount

    def view_purged(self, kind: str) -> list[bytes]:
        """The ledgers whose rows of a kind were purged by a forgetting."""
        with self._connections.reading() as connection:
            found = connection.execute("SELECT ledger FROM purged WHERE kind = ? AND ledger <> x''", (kind,))
            return [ledger for (ledger,) in found]

    def view_restored(self, kind: str, ledger: bytes, *, erasures: int) -> bool:
        """Say that a ledger's rows are complete again."""
        with self._connections.writing() as connection:
            return connection.execute(_RESTORED, (kind, ledger, ledger, erasures)).rowcount == 1

    def newest_position(self) -> int:
        """The position of the last event that is stored."""
        with self._connections.reading() as connection:
            return int(connection.execute("SELECT coalesce(max(position), 0) FROM events").fetchone()[0])

    def news(self, *, after: int, limit: int) -> list[News]:
        """Events that are no turns, above a position."""
        with self._connections.reading() as connection:
            found = connection.execute(
                "SELECT position, ledger FROM events WHERE position > ? AND type NOT IN ('turn.recorded', 'tool.returned') "
                "ORDER BY position LIMIT ?",
                (after, limit),
            ).fetchall()
        return [News(*row) for row in found]


def purge_derived(connection: sqlite3.Connection, ledger: bytes) -> int:
    """Delete all that is derived from a ledger, and remember of which views it is to be made again."""
    connection.execute(
        "INSERT OR IGNORE INTO purged SELECT DISTINCT d.kind, d.ledger FROM derived d JOIN views v ON v.kind = d.kind "
        "WHERE d.ledger = ? AND v.state <> 'retired'",
        (ledger,),
    )
    return connection.execute("DELETE FROM derived WHERE ledger = ?", (ledger,)).rowcount


def scanned(found: list[Any]) -> Scan:
    """A scan of rows among which those without a key name ledgers that were purged."""
    rows = [Derived(*row) for row in found if row[1] is not None]
    return Scan(rows, frozenset(row[0] for row in found if row[1] is None))
