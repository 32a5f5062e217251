"""The tables of the PostgreSQL store, how they came about, and the triggers that keep them append-only.

A migration is added at the end of ``MIGRATIONS`` and never changed afterwards: its place is the version of the schema.
Everything is named with its schema, so no ``search_path`` matters.
"""

from __future__ import annotations

from typing import Any, Final

import psycopg

from ledger.errors import NotAStore

ADVISORY_LOCK: Final = 0x43544C47
"""Held by the one process that migrates."""

# Rows up to 8 KB stay in one page: larger payloads come compressed, so the database must not try again.
# No foreign keys: each would lock the row that it refers to, and write to it.
_TABLES: Final = """
CREATE TABLE context_ledger.store (
    one    boolean PRIMARY KEY DEFAULT true CHECK (one),
    schema integer NOT NULL,
    epoch  bigint  NOT NULL CHECK (epoch >= 0),
    secret bytea   NOT NULL CHECK (octet_length(secret) = 32)
);

CREATE TABLE context_ledger.ledgers (
    ledger   bytea  PRIMARY KEY CHECK (octet_length(ledger) = 16),
    name     text   COLLATE "C" NOT NULL UNIQUE,
    position bigint NOT NULL,
    erasures bigint NOT NULL DEFAULT 0
);

CREATE TABLE context_ledger.events (
    position     bigint   NOT NULL UNIQUE,
    format       smallint NOT NULL,
    ledger       bytea    NOT NULL,
    version      bigint   NOT NULL CHECK (version >= 1),
    command      bytea    NOT NULL CHECK (octet_length(command) = 16),
    ordinal      integer  NOT NULL CHECK (ordinal BETWEEN 0 AND 1048575),
    type         text     COLLATE "C" NOT NULL,
    type_version integer  NOT NULL,
    turn         bigint,
    recorded_at  bigint   NOT NULL,
    actor        text     COLLATE "C",
    cause        text     COLLATE "C",
    commitment   bytea    NOT NULL CHECK (octet_length(commitment) = 32),
    PRIMARY KEY (ledger, version),
    UNIQUE (ledger, command, ordinal)
);
CREATE INDEX events_other_than_turns ON context_ledger.events (ledger, version)
    WHERE type NOT IN ('turn.recorded', 'tool.returned');
CREATE INDEX events_of_turns ON context_ledger.events (ledger, turn) WHERE type = 'turn.recorded';

CREATE TABLE context_ledger.payloads (
    ledger      bytea    NOT NULL,
    version     bigint   NOT NULL,
    salt        bytea    NOT NULL CHECK (octet_length(salt) = 32),
    compression smallint NOT NULL,
    payload     bytea    NOT NULL,
    PRIMARY KEY (ledger, version)
) WITH (toast_tuple_target = 8160);
ALTER TABLE context_ledger.payloads ALTER COLUMN payload SET STORAGE EXTERNAL;

CREATE TABLE context_ledger.blobs (
    ledger  bytea NOT NULL,
    sha256  text  COLLATE "C" NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (ledger, sha256)
);

CREATE TABLE context_ledger.derived (
    ledger bytea NOT NULL,
    kind   text  COLLATE "C" NOT NULL,
    key    text  COLLATE "C" NOT NULL,
    value  bytea NOT NULL,
    PRIMARY KEY (ledger, kind, key)
);
"""

# ENABLE ALWAYS: a session that replays changes as a replica (session_replication_role) is refused too.
_TRIGGERS: Final = """
CREATE FUNCTION context_ledger.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on context_ledger.% is refused: the record is append-only', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER events_never_change BEFORE UPDATE OR DELETE ON context_ledger.events
    FOR EACH ROW EXECUTE FUNCTION context_ledger.refuse();
CREATE TRIGGER events_never_go BEFORE TRUNCATE ON context_ledger.events
    FOR EACH STATEMENT EXECUTE FUNCTION context_ledger.refuse();
CREATE TRIGGER payloads_never_change BEFORE UPDATE ON context_ledger.payloads
    FOR EACH ROW EXECUTE FUNCTION context_ledger.refuse();
CREATE TRIGGER payloads_never_go_at_once BEFORE TRUNCATE ON context_ledger.payloads
    FOR EACH STATEMENT EXECUTE FUNCTION context_ledger.refuse();
CREATE TRIGGER blobs_never_change BEFORE UPDATE ON context_ledger.blobs
    FOR EACH ROW EXECUTE FUNCTION context_ledger.refuse();
ALTER TABLE context_ledger.events ENABLE ALWAYS TRIGGER events_never_change;
ALTER TABLE context_ledger.events ENABLE ALWAYS TRIGGER events_never_go;
ALTER TABLE context_ledger.payloads ENABLE ALWAYS TRIGGER payloads_never_change;
ALTER TABLE context_ledger.payloads ENABLE ALWAYS TRIGGER payloads_never_go_at_once;
ALTER TABLE context_ledger.blobs ENABLE ALWAYS TRIGGER blobs_never_change;
"""

# Artifacts are often compressed already, and trying again costs the server more than the append.
_BLOBS_AS_THEY_ARE: Final = "ALTER TABLE context_ledger.blobs ALTER COLUMN content SET STORAGE EXTERNAL"

STATISTICS_MARK: Final = "pg_statistic may hold content"
"""The comment on the table ``store`` until pg_statistic was written anew."""

# What forgetting needs. ``blobs.version`` is the last version of the ledger that stored the blob: it alone changes, and rises.
# Old and new content are compared only where content is written, as when changes are replayed: it may be large.
# Where ANALYZE keeps values that it saw, what may be forgotten must not stand; a change of a column's type, even to the same,
# removes what stands there already, and resets the column's storage.
# Tables are locked in an order in which no append waits for this while this waits for it: the ledgers, then the events.
_FORGETTING: Final = f"""
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_stats WHERE schemaname = 'context_ledger' AND tablename <> 'events') THEN
        COMMENT ON TABLE context_ledger.store IS '{STATISTICS_MARK}';
    END IF;
END $$;
ALTER TABLE context_ledger.ledgers ALTER COLUMN name TYPE text COLLATE "C", ALTER COLUMN name SET STATISTICS 0;
CREATE INDEX events_governing ON context_ledger.events (ledger, version) WHERE type IN (
    'content.forgotten', 'forgetting.declined', 'hold.lifted', 'hold.placed', 'ledger.closed', 'ledger.reauthorised',
    'retention.set'
);
ALTER TABLE context_ledger.payloads
    ALTER COLUMN salt TYPE bytea, ALTER COLUMN payload TYPE bytea,
    ALTER COLUMN salt SET STATISTICS 0, ALTER COLUMN payload SET STATISTICS 0,
    ALTER COLUMN payload SET STORAGE EXTERNAL;
ALTER TABLE context_ledger.blobs
    ALTER COLUMN sha256 TYPE text COLLATE "C", ALTER COLUMN content TYPE bytea,
    ALTER COLUMN sha256 SET STATISTICS 0, ALTER COLUMN content SET STATISTICS 0,
    ALTER COLUMN content SET STORAGE EXTERNAL;
ALTER TABLE context_ledger.derived
    ALTER COLUMN key TYPE text COLLATE "C", ALTER COLUMN value TYPE bytea,
    ALTER COLUMN key SET STATISTICS 0, ALTER COLUMN value SET STATISTICS 0;

ALTER TABLE context_ledger.blobs ADD COLUMN version bigint NOT NULL DEFAULT 0;
DROP TRIGGER blobs_never_change ON context_ledger.blobs;
CREATE TRIGGER blobs_never_change BEFORE UPDATE OF ledger, sha256, content ON context_ledger.blobs
    FOR EACH ROW WHEN (OLD.ledger <> NEW.ledger OR OLD.sha256 <> NEW.sha256 OR OLD.content <> NEW.content)
    EXECUTE FUNCTION context_ledger.refuse();
CREATE TRIGGER blobs_rise BEFORE UPDATE OF version ON context_ledger.blobs
    FOR EACH ROW WHEN (NEW.version < OLD.version) EXECUTE FUNCTION context_ledger.refuse();
ALTER TABLE context_ledger.blobs ENABLE ALWAYS TRIGGER blobs_never_change;
ALTER TABLE context_ledger.blobs ENABLE ALWAYS TRIGGER blobs_rise;

CREATE TABLE context_ledger.subjects (
    subject bytea  NOT NULL CHECK (octet_length(subject) = 16),
    ledger  bytea  NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (subject, ledger, version)
);
CREATE INDEX subjects_of_events ON context_ledger.subjects (ledger, version);
ALTER TABLE context_ledger.subjects ALTER COLUMN subject SET STATISTICS 0;

CREATE TABLE context_ledger.fences (
    subject bytea PRIMARY KEY CHECK (octet_length(subject) = 16),
    job     text  COLLATE "C" NOT NULL
);
ALTER TABLE context_ledger.fences ALTER COLUMN subject SET STATISTICS 0;

CREATE TABLE context_ledger.jobs (
    number   bigint  GENERATED ALWAYS AS IDENTITY,
    job      text    COLLATE "C" PRIMARY KEY,
    state    bytea   NOT NULL,
    finished boolean NOT NULL
);
ALTER TABLE context_ledger.jobs ALTER COLUMN state SET STATISTICS 0;

CREATE TABLE context_ledger.places (
    place text COLLATE "C" PRIMARY KEY
);
ALTER TABLE context_ledger.places ALTER COLUMN place SET STATISTICS 0;
"""  # noqa: S608 — parts of this file

# What is derived, by kind and key over all ledgers; which views there are, and of which ledgers their rows are gone.
_VIEWS: Final = """
CREATE INDEX derived_of_kinds ON context_ledger.derived (kind, key, ledger);

CREATE TABLE context_ledger.views (
    name     text   COLLATE "C" NOT NULL,
    kind     text   COLLATE "C" PRIMARY KEY,
    state    text   COLLATE "C" NOT NULL CHECK (state IN ('building', 'active', 'retired')),
    position bigint NOT NULL
);
CREATE UNIQUE INDEX views_in_force ON context_ledger.views (name) WHERE state = 'active';

CREATE TABLE context_ledger.purged (
    kind   text  COLLATE "C" NOT NULL,
    ledger bytea NOT NULL,
    PRIMARY KEY (kind, ledger)
);
"""

MIGRATIONS: Final[tuple[str, ...]] = (_TABLES + _TRIGGERS, _BLOBS_AS_THEY_ARE, _FORGETTING, _VIEWS)
"""The statements that lead from each version of the schema to the next, from an empty database on."""

SCHEMA_VERSION: Final = len(MIGRATIONS)

# Read from the catalogue's tables: to_regclass may answer from a cache that is older than the lock.
_STORE: Final = """
SELECT c.relkind = 'r' AND array_agg(a.attname || ' ' || format_type(a.atttypid, NULL))
    @> ARRAY['one boolean', 'schema integer', 'epoch bigint', 'secret bytea']
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE n.nspname = 'context_ledger' AND c.relname = 'store'
GROUP BY c.relkind
"""


def schema_version(connection: psycopg.Connection[tuple[Any, ...]], place: str) -> int:
    """The version of the schema in the database; 0 if there is none. ``NotAStore`` if its name is of something else."""
    row = connection.execute(_STORE).fetchone()
    if row is None:
        return 0
    found = None
    if row[0]:
        found = connection.execute(
            "SELECT schema FROM context_ledger.store WHERE schema >= 1 AND octet_length(secret) = 32"
        ).fetchone()
    if found is None:
        raise NotAStore(f"PostgreSQL store {place}: the schema context_ledger is of something else: use another database")
    return int(found[0])
