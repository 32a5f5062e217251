"""How deleted bytes go from the files of a PostgreSQL database: what held them is written anew, tables and indexes.

CLUSTER does what VACUUM FULL does, but inside a transaction, where waiting can be bound behind a pooler too, and fails where
a right is missing, of which VACUUM only warns. The log (``pg_wal``) and backups are not ours to change.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Final

from psycopg import errors, sql

from ledger.errors import StoreError
from ledger.postgres_connections import Connection, Connections
from ledger.postgres_schema import STATISTICS_MARK

_TABLES: Final = ("payloads", "blobs", "derived", "subjects", "fences", "ledgers", "jobs", "places")
_PAUSE_SECONDS: Final = 0.05

_NOW: Final = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text"
# Who may still see what was deleted before a moment, or is as old: a row that somebody may see is written anew with the others.
_HOLDERS: Final = """
WITH moment AS (SELECT age(%s::xid8::xid) AS age)
SELECT 'process ' || pid || coalesce(' (' || nullif(application_name, '') || ')', '')
FROM pg_stat_activity, moment
WHERE pid <> pg_backend_pid() AND (
    age(backend_xid) > moment.age
    OR age(backend_xmin) > moment.age AND (datid IS NULL OR datname = current_database())
)
UNION ALL
SELECT 'prepared transaction ' || gid FROM pg_prepared_xacts p, moment WHERE age(p.transaction) > moment.age
UNION ALL
SELECT 'replication slot ' || slot_name FROM pg_replication_slots, moment WHERE age(xmin) > moment.age
"""

_MARKED: Final = (
    "SELECT pg_has_role(datdba, 'USAGE') FROM pg_database WHERE datname = current_database() "
    "AND obj_description('context_ledger.store'::regclass, 'pg_class') = %s"
)
_REWRITE_STATISTICS: Final = "VACUUM (FULL) pg_catalog.pg_statistic"
_UNMARK: Final = "COMMENT ON TABLE context_ledger.store IS NULL"


def scrub(connections: Connections) -> None:
    """Write anew every table that content is deleted from, one by one: each is locked meanwhile, whoever uses it waits.

    Nothing that was deleted before is in the files afterwards. ``StoreError`` if somebody may still see it, or if a right is
    missing.
    """
    _wait_for_holders(connections)
    for table in _TABLES:
        connections.run_at_length(partial(_rewrite, table=table))
    _rewrite_statistics(connections)


def _wait_for_holders(connections: Connections) -> None:
    """Until nobody sees what was deleted before now."""
    end = time.monotonic() + connections.address.deadline_seconds
    now = connections.rows(_NOW)[0]
    while holders := [holder for (holder,) in connections.rows(_HOLDERS, now)]:
        if time.monotonic() > end:
            raise StoreError(
                f"PostgreSQL store {connections.address.shown}: {', '.join(holders)} began before content was deleted and may "
                "still see it, so it stays in the files: end it (pg_stat_activity shows what it does), then try again",
                holders=holders,
            )
        time.sleep(_PAUSE_SECONDS)


def _rewrite(connection: Connection, table: str) -> None:
    statement = sql.SQL("CLUSTER {} USING {}").format(sql.Identifier("context_ledger", table), sql.Identifier(f"{table}_pkey"))
    try:
        connection.execute(statement)
    except errors.InsufficientPrivilege as error:
        raise StoreError(
            f"content was deleted, but stays in the files of table context_ledger.{table}: only its owner (from PostgreSQL 17 "
            "on also who has the right MAINTAIN) can write it anew: let the owner try again",
            table=f"context_ledger.{table}",
        ) from error


def _rewrite_statistics(connections: Connections) -> None:
    """Once after a migration that removed content from the planner's statistics: remove its traces there too."""
    marked = connections.row(_MARKED, (STATISTICS_MARK,))
    if marked is None:
        return
    if not marked[0]:
        raise StoreError(
            f"PostgreSQL store {connections.address.shown}: before its last upgrade ANALYZE kept content in pg_statistic; only "
            "the owner of the database can write that table anew: let the owner try again",
            table="pg_catalog.pg_statistic",
        )
    connections.run_alone(lambda connection, _: connection.execute(_REWRITE_STATISTICS))
    connections.run_alone(lambda connection, _: connection.execute(_UNMARK))
