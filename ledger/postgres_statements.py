"""What is said to PostgreSQL, but for the append. Every value is a parameter; texts are put together of parts of this file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from psycopg.types.numeric import Int8

from ledger.rows import PAGE_BYTES
from ledger.store import GOVERNING_TYPES, Selection
from ledger.window_events import UNDECIDING

_ENVELOPE: Final = (
    "e.position, e.format, e.ledger, e.version, e.command, e.ordinal, e.type, e.type_version, e.turn, "
    "e.recorded_at, e.actor, e.cause, e.commitment"
)
# Outer, so that an event without its payload is found and told.
_WITH_PAYLOADS: Final = "LEFT JOIN context_ledger.payloads p ON p.ledger = e.ledger AND p.version = e.version"
_STORED: Final = f"SELECT {_ENVELOPE}, p.salt, p.compression, p.payload FROM context_ledger.events e {_WITH_PAYLOADS}"  # noqa: S608
_EVENTS: Final = "context_ledger.events e"
# Looked up one by one: a plan that is made once for any versions may read all of the ledger in their order instead.
_NAMED: Final = """unnest(%b::bigint[]) AS named (named_version) CROSS JOIN LATERAL (
    SELECT * FROM context_ledger.events WHERE ledger = %s AND version = named_version OFFSET 0
) e"""
# The length of a payload is known without reading it.
_PAGE: Final = f"""
SELECT position, format, ledger, version, command, ordinal, type, type_version, turn, recorded_at, actor, cause, commitment,
    salt, compression, payload
FROM (
    SELECT {_ENVELOPE}, p.salt, p.compression, p.payload,
        sum(octet_length(p.payload)) OVER (ORDER BY e.version {{order}} ROWS UNBOUNDED PRECEDING) AS total
    FROM {{events}} {_WITH_PAYLOADS} WHERE {{where}} ORDER BY e.version {{order}} LIMIT %s
) page
WHERE coalesce(total - octet_length(payload) < %s, true) ORDER BY version {{order}}
"""  # noqa: S608 — parts of this file
_FIRST: Final = f"SELECT {_ENVELOPE} FROM {{events}} WHERE {{where}} ORDER BY e.version {{order}} LIMIT 1"  # noqa: S608 — parts of this file
_KINDS: Final = {
    "all": "",
    "turns": " AND e.type IN ('turn.recorded', 'tool.returned')",
    "others": " AND e.type NOT IN ('turn.recorded', 'tool.returned')",
    "governing": f" AND e.type IN ({', '.join(map(repr, GOVERNING_TYPES))})",
    "numbered": " AND e.type = 'turn.recorded' AND e.turn IS NOT NULL",
    # In two parts, since an index of events that are no turns is known by the words of its condition.
    "deciding": f" AND e.type NOT IN ('turn.recorded', 'tool.returned') AND e.type NOT IN ({', '.join(map(repr, UNDECIDING))})",
}
# The number of the oldest transaction that runs and may write here. A server numbers the transactions of all its databases
# together: one that is known to be of another database is passed by, so that a neighbour cannot hold the feed back.
# The oldest of a snapshot is named beside those it lists: a standby lists none, and nobody is listed in their own snapshot.
_HORIZON: Final = """(
    SELECT (coalesce(min(x.xid::text::bigint), pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
        + (SELECT epoch FROM context_ledger.store)) << 20
    FROM (
        SELECT pg_snapshot_xmin(pg_current_snapshot()) UNION ALL SELECT pg_snapshot_xip(pg_current_snapshot())
    ) AS x (xid)
    WHERE NOT EXISTS (
        SELECT FROM pg_stat_activity a
        WHERE a.backend_xid = x.xid::xid AND a.datid <> (SELECT oid FROM pg_database WHERE datname = current_database())
    )
)"""

HEAD: Final = (
    "SELECT l.name, l.ledger, coalesce(e.version, 0), coalesce(e.recorded_at, 0), l.erasures, coalesce(("  # noqa: S608 — our own names
    f"SELECT max(e.version) FROM context_ledger.events e WHERE e.ledger = l.ledger{_KINDS['governing']}), 0) "
    "FROM context_ledger.ledgers l LEFT JOIN LATERAL ("
    "SELECT version, recorded_at FROM context_ledger.events WHERE ledger = l.ledger ORDER BY version DESC LIMIT 1"
    ") e ON true"
)
HEAD_BY_NAME: Final = f"{HEAD} WHERE l.name IN (%s, %s)"
"""By the name that it has, or has if it was forgotten."""

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
UNCHANGED: Final = "WITH unchanged AS (SELECT ledger FROM context_ledger.ledgers WHERE ledger = %s AND erasures = %s FOR SHARE)"
DERIVED_PUT: Final = f"""
{UNCHANGED}
INSERT INTO context_ledger.derived SELECT ledger, %s, %s, %s FROM unchanged
ON CONFLICT (ledger, kind, key) DO UPDATE SET value = excluded.value
RETURNING true
"""  # noqa: S608 — parts of this file

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


def read_page(ledger: bytes, selection: Selection, *, after: int, upto: int | None, rows: int) -> tuple[str, tuple[Any, ...]]:
    """A page of a selection and its values: as many rows as asked for, but none after those that have ``PAGE_BYTES``."""
    parts, values = _selected(ledger, replace(selection, after=after, upto=upto))
    return _PAGE.format(**parts), (*values, Int8(rows), Int8(PAGE_BYTES))


def first_envelope(ledger: bytes, selection: Selection) -> tuple[str, tuple[Any, ...]]:
    """The envelope of the first event of a selection, and its values."""
    parts, values = _selected(ledger, selection)
    return _FIRST.format(**parts), tuple(values)


def _selected(ledger: bytes, selection: Selection) -> tuple[dict[str, str], list[Any]]:
    """What makes a query of a selection: its events, its conditions and its order; and their values."""
    named = selection.versions is not None
    values: list[Any] = [list(map(Int8, selection.versions or ())), ledger] if named else []
    where, values = f"e.ledger = %s{_KINDS[selection.kind]} AND e.version > %s", [*values, ledger, Int8(selection.after)]
    wanted: list[tuple[str, Any]] = [
        ("version <=", None if selection.upto is None else Int8(selection.upto)),
        ("turn =", None if selection.turn is None else Int8(selection.turn)),
        ("command =", selection.command),
    ]
    for comparison, value in wanted:
        if value is not None:
            where, values = f"{where} AND e.{comparison} %s", [*values, value]
    order = "DESC" if selection.newest_first else "ASC"
    return {"events": _NAMED if named else _EVENTS, "where": where, "order": order}, values
