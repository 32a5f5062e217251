"""What is said to PostgreSQL. Every value is a parameter; what is put into the text are parts that stand in this file."""

from __future__ import annotations

from typing import Any, Final

from psycopg.types.numeric import Int8

from ledger.record import FORMAT
from ledger.store import Selection

_ENVELOPE: Final = (
    "e.position, e.format, e.ledger, e.version, e.command, e.ordinal, e.type, e.type_version, e.turn, "
    "e.recorded_at, e.actor, e.cause, e.commitment"
)
_STORED: Final = (
    f"SELECT {_ENVELOPE}, p.salt, p.compression, p.payload FROM context_ledger.events e "  # noqa: S608 — parts of this file
    "JOIN context_ledger.payloads p ON p.ledger = e.ledger AND p.version = e.version"
)
_KINDS: Final = {
    "all": "",
    "turns": " AND e.type IN ('turn.recorded', 'tool.returned')",
    "others": " AND e.type NOT IN ('turn.recorded', 'tool.returned')",
}
_HORIZON: Final = "(SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + epoch) << 20 FROM context_ledger.store)"

HEAD: Final = (
    "SELECT l.name, l.ledger, coalesce(e.version, 0), coalesce(e.recorded_at, 0), l.erasures "
    "FROM context_ledger.ledgers l LEFT JOIN LATERAL ("
    "SELECT version, recorded_at FROM context_ledger.events WHERE ledger = l.ledger ORDER BY version DESC LIMIT 1"
    ") e ON true"
)

STORED_COMMAND: Final = (
    f"SELECT {_ENVELOPE} FROM context_ledger.events e WHERE e.ledger = %s AND e.command = %s ORDER BY e.ordinal"  # noqa: S608 — parts of this file
)

FEED: Final = f"{_STORED} WHERE e.position > %s AND e.position < {_HORIZON} ORDER BY e.position LIMIT %s"

LAST_POSITION: Final = (
    f"SELECT position FROM context_ledger.events WHERE position < {_HORIZON} "  # noqa: S608 — parts of this file
    "ORDER BY position DESC LIMIT 1"
)

_HELD: Final = f"count(*) FILTER (WHERE position >= {_HORIZON})"
LAG: Final = f"SELECT count(*), {_HELD} FROM context_ledger.events WHERE position > %s"  # noqa: S608 — parts of this file

# The lock makes an eraser wait that would raise the count between the check and the commit.
DERIVED_PUT: Final = """
WITH unchanged AS (
    SELECT ledger FROM context_ledger.ledgers WHERE ledger = %s AND erasures = %s FOR SHARE
)
INSERT INTO context_ledger.derived SELECT ledger, %s, %s, %s FROM unchanged
ON CONFLICT (ledger, kind, key) DO UPDATE SET value = excluded.value
RETURNING true
"""

GUARD: Final = (
    "SELECT coalesce((SELECT max(position) FROM context_ledger.events), -1) >> 20 "
    ">= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + epoch FROM context_ledger.store"
)

# Waits for those who append, and lets them go on only once they see the new epoch.
HALT: Final = "LOCK TABLE context_ledger.events IN SHARE MODE"
RAISE_EPOCH: Final = """
UPDATE context_ledger.store SET epoch = greatest(epoch, (
    SELECT (coalesce(max(position), -1) >> 20) + 1 - pg_snapshot_xmax(pg_current_snapshot())::text::bigint
    FROM context_ledger.events
))
RETURNING epoch
"""

# Where the ledger must be, and what number its transaction has. The number is asked for after the snapshot was taken.
_NEW: Final = """
WITH here AS MATERIALIZED (
    SELECT (pg_current_xact_id()::text::bigint + epoch) << 20 AS base, 0::bigint AS last_recorded_at
    FROM context_ledger.store
    WHERE NOT EXISTS (SELECT FROM context_ledger.ledgers WHERE name = %(name)s)
), {rising}, named AS (
    INSERT INTO context_ledger.ledgers (ledger, name, position) SELECT %(ledger)b, %(name)s, base FROM at
)"""
_NEXT: Final = """
WITH here AS MATERIALIZED (
    SELECT (pg_current_xact_id()::text::bigint + s.epoch) << 20 AS base, last.recorded_at AS last_recorded_at
    FROM (
        SELECT version, recorded_at FROM context_ledger.events WHERE ledger = %(ledger)b
        ORDER BY version DESC LIMIT 1
    ) last, context_ledger.ledgers l, context_ledger.store s
    WHERE last.version = %(expected)b AND l.ledger = %(ledger)b AND l.name = %(name)s
), {rising}"""

# After a restore into a new cluster transactions are numbered from the start: then nothing may be appended.
_RISING: Final = """at AS MATERIALIZED (
    SELECT base, greatest(%(recorded_at)b, last_recorded_at) AS recorded_at FROM here
    WHERE base > coalesce((SELECT max(position) FROM context_ledger.events), -1)
)"""

_EVENTS: Final = f""", stored AS (
    INSERT INTO context_ledger.events
    SELECT at.base + d.place - 1, {FORMAT}, %(ledger)b, %(expected)b + d.place, %(command)b, d.place - 1,
        d.type, d.type_version, nullif(d.turn, 0), at.recorded_at, %(actor)s, %(cause)s, d.commitment
    FROM at, unnest(%(types)s::text[], %(type_versions)b::bigint[], %(turns)b::bigint[], %(commitments)b::bytea[])
        WITH ORDINALITY AS d (type, type_version, turn, commitment, place)
), content AS (
    INSERT INTO context_ledger.payloads
    SELECT %(ledger)b, %(expected)b + d.place, d.salt, d.compression, d.payload
    FROM at, unnest(%(salts)b::bytea[], %(compressions)b::bigint[], %(payloads)b::bytea[])
        WITH ORDINALITY AS d (salt, compression, payload, place)
)"""  # noqa: S608 — parts of this file
_BLOBS: Final = """, attached AS (
    INSERT INTO context_ledger.blobs
    SELECT %(ledger)b, d.sha256, d.content FROM at, unnest(%(blobs)s::text[], %(contents)b::bytea[]) AS d (sha256, content)
    ON CONFLICT DO NOTHING
)"""

# Durable before it returns, whatever the session or the database says (a pooler hands out sessions of others).
_RESULT: Final = """
SELECT base, recorded_at,
    CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END
FROM at"""


def _append(*, new: bool, blobs: bool) -> str:
    start = (_NEW if new else _NEXT).format(rising=_RISING)
    return f"{start}{_EVENTS}{_BLOBS if blobs else ''}{_RESULT}"


APPENDS: Final = {(new, blobs): _append(new=new, blobs=blobs) for new in (False, True) for blobs in (False, True)}
"""The append, by whether the ledger is new and whether artifacts come along. No row comes back if nothing was appended."""


def read_page(ledger: bytes, selection: Selection, *, after: int, upto: int | None, page: int) -> tuple[str, tuple[Any, ...]]:
    """A page of a selection and its values."""
    query, values = f"{_STORED} WHERE e.ledger = %s{_KINDS[selection.kind]} AND e.version > %s", [ledger, Int8(after)]
    wanted: list[tuple[str, Any]] = [
        ("version <=", None if upto is None else Int8(upto)),
        ("turn =", None if selection.turn is None else Int8(selection.turn)),
        ("command =", selection.command),
    ]
    for comparison, value in wanted:
        if value is not None:
            query, values = f"{query} AND e.{comparison} %s", [*values, value]
    order = "DESC" if selection.newest_first else "ASC"
    return f"{query} ORDER BY e.version {order} LIMIT %s", (*values, Int8(page))
