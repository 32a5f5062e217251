"""How the PostgreSQL store keeps what is derived.

Whoever keeps something locks the ledger's row, which a sweep updates first: so nothing is kept that was derived before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from psycopg.types.numeric import Int8

from ledger.deriving import EVERYWHERE, Derived, FollowedView, News, Scan, beyond
from ledger.postgres_connections import Connection, Connections
from ledger.postgres_statements import DERIVED_PUT, UNCHANGED

_PUT_MANY: Final = f"""
{UNCHANGED}
INSERT INTO context_ledger.derived SELECT ledger, %s, given.key, given.value
FROM unchanged, unnest(%b::text[], %b::bytea[]) AS given (key, value)
ON CONFLICT (ledger, kind, key) DO UPDATE SET value = excluded.value
RETURNING true
"""  # noqa: S608 — parts of this file
_RESTORED: Final = f"""
{UNCHANGED}
DELETE FROM context_ledger.purged p USING unchanged u WHERE p.kind = %s AND p.ledger = u.ledger RETURNING true
"""  # noqa: S608 — parts of this file
_BEGIN: Final = """
INSERT INTO context_ledger.views SELECT %(name)s, %(kind)s, CASE WHEN EXISTS (
    SELECT FROM context_ledger.views WHERE name = %(name)s AND state = 'active') THEN 'building' ELSE 'active' END, 0
ON CONFLICT DO NOTHING
"""
_RETIRE: Final = """
WITH retired AS (
    UPDATE context_ledger.views SET state = 'retired' WHERE state = 'active'
        AND name = (SELECT name FROM context_ledger.views WHERE kind = %(kind)s AND state = 'building')
    RETURNING kind
)
INSERT INTO context_ledger.purged SELECT kind, %(everywhere)s FROM retired ON CONFLICT DO NOTHING
"""
_PUT_IN_FORCE: Final = "UPDATE context_ledger.views SET state = 'active' WHERE kind = %s AND state = 'building'"
_PURGE: Final = (
    "DELETE FROM context_ledger.derived WHERE kind = %(kind)s "
    "AND EXISTS (SELECT FROM context_ledger.views WHERE kind = %(kind)s AND state = 'retired')"
)
_NEWS: Final = (
    "SELECT position, ledger FROM context_ledger.events WHERE position > %s "
    "AND type NOT IN ('turn.recorded', 'tool.returned') ORDER BY position LIMIT %s"
)
_NOTE_PURGED: Final = """
INSERT INTO context_ledger.purged SELECT v.kind, %(ledger)s FROM context_ledger.views v WHERE v.state <> 'retired'
    AND EXISTS (SELECT FROM context_ledger.derived d WHERE d.ledger = %(ledger)s AND d.kind = v.kind)
ON CONFLICT DO NOTHING
"""
_DROP: Final = "DELETE FROM context_ledger.derived WHERE ledger = %s AND kind = %s AND key >= %s AND key < %s"
_DELETE: Final = "DELETE FROM context_ledger.derived WHERE ledger = %s"


class PostgresDeriving:
    """The part of the store that keeps what is derived."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def derived_get(self, ledger: bytes, kind: str, key: str) -> bytes | None:
        """Something derived that was kept."""
        row = self._connections.row(
            "SELECT value FROM context_ledger.derived WHERE ledger = %s AND kind = %s AND key = %s", (ledger, kind, key)
        )
        return None if row is None else row[0]

    def derived_put(self, ledger: bytes, kind: str, key: str, value: bytes, *, erasures: int) -> bool:
        """Keep something derived, unless anything was forgotten since it was made."""
        return self._connections.row(DERIVED_PUT, (ledger, erasures, kind, key, value)) is not None

    def derived_put_many(self, ledger: bytes, kind: str, rows: Mapping[str, bytes], *, erasures: int) -> bool:
        """Keep several rows, unless anything was forgotten since they were made."""
        keys = sorted(rows)  # in one order, so that two who keep the same rows never wait for each other
        values = (ledger, Int8(erasures), kind, keys, [rows[key] for key in keys])
        return len(self._connections.rows(_PUT_MANY, values)) == len(rows)

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
        where, values = "kind = %s AND key >= %s", [kind, prefix]
        asked: list[tuple[str, Any]] = [
            ("ledger =", ledger),
            ("key >", after),
            ("key <", before),
            ("key <", beyond(prefix)),
        ]
        for comparison, value in asked:
            if value is not None:
                where, values = f"{where} AND {comparison} %s", [*values, value]
        order = "DESC" if newest_first else "ASC"
        of_ledger = "" if ledger is None else " AND ledger IN (%s, ''::bytea)"
        query = (
            f"(SELECT ledger, key, value FROM context_ledger.derived WHERE {where} ORDER BY key {order} LIMIT %s) "  # noqa: S608 — parts of this file
            f"UNION ALL SELECT ledger, NULL, NULL FROM context_ledger.purged WHERE kind = %s{of_ledger}"
        )
        most = None if limit is None else Int8(limit)
        found = self._connections.rows(query, (*values, most, kind, *([] if ledger is None else [ledger])))
        rows = [Derived(*row) for row in found if row[1] is not None]
        return Scan(rows, frozenset(row[0] for row in found if row[1] is None))

    def derived_drop(self, ledger: bytes, kind: str, *, first: str, end: str) -> int:
        """Delete rows by a range of their keys."""
        return self._connections.run(lambda connection, _: connection.execute(_DROP, (ledger, kind, first, end)).rowcount)

    def views(self, name: str) -> list[FollowedView]:
        """All kinds of a view."""
        found = self._connections.rows(
            "SELECT name, kind, state, position FROM context_ledger.views WHERE name = %s ORDER BY kind", (name,)
        )
        return [FollowedView(*row) for row in found]

    def view_begin(self, name: str, kind: str) -> None:
        """Begin a kind of a view."""
        self._connections.run(lambda connection, _: connection.execute(_BEGIN, {"name": name, "kind": kind}))

    def view_advance(self, kind: str, position: int) -> None:
        """Say up to which position a view has followed the feed."""
        statement = "UPDATE context_ledger.views SET position = greatest(position, %s) WHERE kind = %s"
        self._connections.run(lambda connection, _: connection.execute(statement, (Int8(position), kind)))

    def view_switch(self, kind: str) -> None:
        """Put a kind of a view in force and retire the one that was."""

        def work(connection: Connection, _: int) -> None:
            with connection.transaction():
                connection.execute("LOCK TABLE context_ledger.views IN SHARE ROW EXCLUSIVE MODE")
                connection.execute(_RETIRE, {"kind": kind, "everywhere": EVERYWHERE})
                connection.execute(_PUT_IN_FORCE, (kind,))

        self._connections.run(work)

    def view_purge(self, kind: str) -> int:
        """Delete the rows of a kind that was retired."""
        return self._connections.run_at_length(lambda connection: connection.execute(_PURGE, {"kind": kind}).rowcount)

    def view_purged(self, kind: str) -> list[bytes]:
        """The ledgers whose rows of a kind were purged by a forgetting."""
        found = self._connections.rows("SELECT ledger FROM context_ledger.purged WHERE kind = %s AND ledger <> ''", (kind,))
        return [ledger for (ledger,) in found]

    def view_restored(self, kind: str, ledger: bytes, *, erasures: int) -> bool:
        """Say that a ledger's rows are complete again."""
        return self._connections.row(_RESTORED, (ledger, Int8(erasures), kind)) is not None

    def newest_position(self) -> int:
        """The position of the last event that is stored, whether the feed gives it yet or holds it back."""
        row = self._connections.row("SELECT coalesce(max(position), 0) FROM context_ledger.events")
        return 0 if row is None else int(row[0])

    def news(self, *, after: int, limit: int) -> list[News]:
        """Events that are no turns, above a position."""
        return [News(*row) for row in self._connections.rows(_NEWS, (Int8(after), Int8(limit)))]


def purge_derived(connection: Connection, ledger: bytes) -> int:
    """Delete all that is derived from a ledger, and remember of which views it is to be made again."""
    connection.execute(_NOTE_PURGED, {"ledger": ledger})
    return connection.execute(_DELETE, (ledger,)).rowcount
