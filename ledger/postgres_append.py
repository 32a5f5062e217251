"""The append on PostgreSQL: one statement that stores a batch where its ledger is at the expected version, and else nothing."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from psycopg.types.numeric import Int8

from ledger.codec import pack
from ledger.record import FORMAT
from ledger.store import Batch

# Up to so many events are given one by one, more as arrays: arrays cost the client and the server more than a few values do.
_ONE_BY_ONE: Final = 4

# Where the ledger must be, and what number its transaction has. The number is asked for after the snapshot was taken.
_NEW: Final = """
WITH here AS MATERIALIZED (
    SELECT (pg_current_xact_id()::text::bigint + epoch) << 20 AS base, 0::bigint AS last_recorded_at
    FROM context_ledger.store
    WHERE NOT EXISTS (SELECT FROM context_ledger.ledgers WHERE name IN (%(name)s, %(forgotten)s))
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
    WHERE base > coalesce((SELECT max(position) FROM context_ledger.events), -1){unfenced}
)"""

# The lock on the subjects that a fence waits for is taken before the snapshot that shows the fences: but for the first
# statement of a transaction that keeps one snapshot.
_UNFENCED: Final = """
        AND NOT EXISTS (SELECT FROM context_ledger.fences WHERE subject = ANY(%(subjects)b::bytea[]))
        AND current_setting('transaction_isolation') = 'read committed'"""
_TAGS: Final = """, tagged AS (
    INSERT INTO context_ledger.subjects
    SELECT s.subject, %(ledger)b, %(expected)b + e.place
    FROM at, unnest(%(subjects)b::bytea[]) AS s (subject), generate_series(1, %(events)b::bigint) AS e (place)
)"""

_EVENTS: Final = f""", stored AS (
    INSERT INTO context_ledger.events
    SELECT at.base + d.place - 1, {FORMAT}, %(ledger)b, %(expected)b + d.place, %(command)b, d.place - 1,
        d.type, d.type_version, nullif(d.turn, 0), at.recorded_at, %(actor)s, %(cause)s, d.commitment
    FROM at, {{events}} AS d (type, type_version, turn, commitment, place)
), content AS (
    INSERT INTO context_ledger.payloads
    SELECT %(ledger)b, %(expected)b + d.place, d.salt, d.compression, d.payload
    FROM at, {{payloads}} AS d (salt, compression, payload, place)
)"""  # noqa: S608 — parts of this file
_BLOBS: Final = """, attached AS (
    INSERT INTO context_ledger.blobs AS b (ledger, sha256, content, version)
    SELECT %(ledger)b, d.sha256, d.content, %(expected)b + %(events)b::bigint
    FROM at, unnest(%(blobs)s::text[], %(contents)b::bytea[]) AS d (sha256, content)
    ON CONFLICT (ledger, sha256) DO UPDATE SET version = excluded.version WHERE b.version < excluded.version
)"""

_EVENT_ARRAYS: Final = (
    "unnest(%(type)s::text[], %(type_version)b::bigint[], %(turn)b::bigint[], %(commitment)b::bytea[]) WITH ORDINALITY"
)
_PAYLOAD_ARRAYS: Final = "unnest(%(salt)b::bytea[], %(compression)b::bigint[], %(payload)b::bytea[]) WITH ORDINALITY"
_EVENT_VALUES: Final = (
    "(%(type_{0})s::text, %(type_version_{0})b::bigint, %(turn_{0})b::bigint, %(commitment_{0})b::bytea, {0}::bigint)"
)
_PAYLOAD_VALUES: Final = "(%(salt_{0})b::bytea, %(compression_{0})b::bigint, %(payload_{0})b::bytea, {0}::bigint)"

# Durable before it returns, whatever the session or the database says (a pooler hands out sessions of others).
_RESULT: Final = """
SELECT base, recorded_at,
    CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END
FROM at"""


def append_of(batch: Batch, forgotten: str = "") -> tuple[str, dict[str, Any]]:
    """The statement that appends a batch, and its values. Its row is the first event's position and the time of all.

    ``forgotten`` is the name that the ledger has if it was forgotten: then it is no new one.

    No row comes back where nothing was appended. Numbers have one width, so that they need one prepared statement, not many.
    """
    count = len(batch.drafts) if len(batch.drafts) <= _ONE_BY_ONE else None
    values: dict[str, Any] = {
        "name": batch.name,
        "forgotten": forgotten,
        "ledger": batch.ledger,
        "expected": Int8(batch.expected),
        "command": batch.command,
        "recorded_at": Int8(batch.recorded_at),
        "actor": batch.actor,
        "cause": batch.cause,
    }
    columns = _columns(batch)
    if count is None:
        values |= columns
    else:
        values |= {f"{name}_{place}": value for name, column in columns.items() for place, value in enumerate(column, 1)}
    if batch.blobs:
        values |= {"blobs": list(batch.blobs), "contents": list(batch.blobs.values())}
    if batch.subjects:
        values["subjects"] = list(dict.fromkeys(batch.subjects))
    if batch.blobs or batch.subjects:
        values["events"] = Int8(len(batch.drafts))
    return _statement(new=batch.expected == 0, blobs=bool(batch.blobs), tagged=bool(batch.subjects), count=count), values


def _columns(batch: Batch) -> dict[str, list[Any]]:
    packed = [pack(draft.payload) for draft in batch.drafts]
    return {
        "type": [draft.type for draft in batch.drafts],
        "type_version": [Int8(draft.type_version) for draft in batch.drafts],
        "turn": [Int8(draft.turn or 0) for draft in batch.drafts],
        "commitment": [draft.commitment for draft in batch.drafts],
        "salt": [draft.salt for draft in batch.drafts],
        "compression": [Int8(compression) for compression, _ in packed],
        "payload": [stored for _, stored in packed],
    }


@cache
def _statement(*, new: bool, blobs: bool, tagged: bool, count: int | None) -> str:
    start = (_NEW if new else _NEXT).format(rising=_RISING.format(unfenced=_UNFENCED if tagged else ""))
    if count is None:
        events, payloads = _EVENT_ARRAYS, _PAYLOAD_ARRAYS
    else:
        places = range(1, count + 1)
        events = f"(VALUES {', '.join(_EVENT_VALUES.format(place) for place in places)})"
        payloads = f"(VALUES {', '.join(_PAYLOAD_VALUES.format(place) for place in places)})"
    stored = _EVENTS.format(events=events, payloads=payloads)
    return f"{start}{stored}{_TAGS if tagged else ''}{_BLOBS if blobs else ''}{_RESULT}"
