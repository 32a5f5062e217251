"""The tables of the SQLite store, and the triggers by which the database itself keeps them append-only."""

from __future__ import annotations

from typing import Final

APPLICATION_ID: Final = 0x43544C47  # "CTLG": how `file` and we ourselves know a store

# INSERT OR REPLACE deletes the rows that it replaces without firing DELETE triggers, so the triggers on INSERT demand the next
# position and the next version, and refuse what is there already: then there is never a row to replace.
# Every index is one more page to write at every commit, so payloads are found by position and there is none by turn.
SCHEMA: Final = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;

CREATE TABLE counter (one INTEGER PRIMARY KEY CHECK (one = 1), position INTEGER NOT NULL);
INSERT INTO counter VALUES (1, 0);
CREATE TRIGGER counter_only_counts BEFORE UPDATE ON counter WHEN NEW.position IS NOT OLD.position + 1
BEGIN SELECT RAISE(ABORT, 'the counter of positions only goes up by one'); END;
CREATE TRIGGER counter_stays BEFORE DELETE ON counter
BEGIN SELECT RAISE(ABORT, 'the counter of positions cannot be deleted'); END;
CREATE TRIGGER counter_is_one BEFORE INSERT ON counter
BEGIN SELECT RAISE(ABORT, 'there is one counter of positions'); END;

CREATE TABLE ledgers (
    number   INTEGER PRIMARY KEY,
    ledger   BLOB NOT NULL UNIQUE CHECK (length(ledger) = 16),
    name     TEXT NOT NULL UNIQUE,
    erasures INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE events (
    position     INTEGER PRIMARY KEY,
    format       INTEGER NOT NULL,
    ledger       BLOB    NOT NULL,
    version      INTEGER NOT NULL CHECK (version >= 1),
    command      BLOB    NOT NULL CHECK (length(command) = 16),
    ordinal      INTEGER NOT NULL CHECK (ordinal >= 0),
    type         TEXT    NOT NULL,
    type_version INTEGER NOT NULL,
    turn         INTEGER,
    recorded_at  INTEGER NOT NULL,
    actor        TEXT,
    cause        TEXT,
    commitment   BLOB    NOT NULL CHECK (length(commitment) = 32),
    UNIQUE (ledger, version),
    UNIQUE (ledger, command, ordinal)
);
CREATE INDEX events_other_than_turns ON events (ledger, version) WHERE type NOT IN ('turn.recorded', 'tool.returned');
CREATE TRIGGER events_append BEFORE INSERT ON events
BEGIN
    SELECT CASE
        WHEN NEW.position IS NOT (SELECT position + 1 FROM counter)
        THEN RAISE(ABORT, 'an event takes the next position of the feed')
        WHEN NEW.version IS NOT (SELECT coalesce(max(version), 0) + 1 FROM events WHERE ledger = NEW.ledger)
        THEN RAISE(ABORT, 'an event takes the next version of its ledger')
        WHEN EXISTS (SELECT 1 FROM events WHERE ledger = NEW.ledger AND command = NEW.command AND ordinal = NEW.ordinal)
        THEN RAISE(ABORT, 'the command is stored already')
        WHEN NEW.recorded_at < (SELECT recorded_at FROM events WHERE ledger = NEW.ledger AND version = NEW.version - 1)
        THEN RAISE(ABORT, 'recorded_at never goes back inside a ledger')
    END;
END;
CREATE TRIGGER events_count AFTER INSERT ON events
BEGIN UPDATE counter SET position = NEW.position; END;
CREATE TRIGGER events_never_change BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_never_go BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;

CREATE TABLE payloads (
    position    INTEGER PRIMARY KEY,
    salt        BLOB    NOT NULL CHECK (length(salt) = 32),
    compression INTEGER NOT NULL,
    payload     BLOB    NOT NULL
);
CREATE TRIGGER payloads_append BEFORE INSERT ON payloads
WHEN EXISTS (SELECT 1 FROM payloads WHERE position = NEW.position)
BEGIN SELECT RAISE(ABORT, 'payloads are never replaced'); END;
CREATE TRIGGER payloads_never_change BEFORE UPDATE ON payloads
BEGIN SELECT RAISE(ABORT, 'payloads are never changed'); END;

CREATE TABLE blobs (
    ledger  BLOB NOT NULL,
    sha256  TEXT NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (ledger, sha256)
);
CREATE TRIGGER blobs_append BEFORE INSERT ON blobs
WHEN EXISTS (SELECT 1 FROM blobs WHERE ledger = NEW.ledger AND sha256 = NEW.sha256)
BEGIN SELECT RAISE(ABORT, 'blobs are never replaced'); END;
CREATE TRIGGER blobs_never_change BEFORE UPDATE ON blobs
BEGIN SELECT RAISE(ABORT, 'blobs are never changed'); END;

CREATE TABLE derived (
    ledger BLOB NOT NULL,
    kind   TEXT NOT NULL,
    key    TEXT NOT NULL,
    value  BLOB NOT NULL,
    PRIMARY KEY (ledger, kind, key)
);
"""

# What forgetting needs. ``blobs.version`` is the last version of the ledger that stored the blob: it alone changes, upwards.
FORGETTING: Final = """
ALTER TABLE blobs ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
DROP TRIGGER blobs_never_change;
CREATE TRIGGER blobs_never_change BEFORE UPDATE ON blobs
WHEN NEW.ledger IS NOT OLD.ledger OR NEW.sha256 IS NOT OLD.sha256 OR NEW.content IS NOT OLD.content OR NEW.version < OLD.version
BEGIN SELECT RAISE(ABORT, 'blobs are never changed'); END;

CREATE INDEX events_governing ON events (ledger, version) WHERE type IN (
    'content.forgotten', 'forgetting.declined', 'hold.lifted', 'hold.placed', 'ledger.closed', 'ledger.reauthorised',
    'retention.set'
);

CREATE TABLE subjects (
    subject BLOB    NOT NULL CHECK (length(subject) = 16),
    ledger  BLOB    NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (subject, ledger, version)
) WITHOUT ROWID;
CREATE INDEX subjects_of_events ON subjects (ledger, version);

CREATE TABLE fences (subject BLOB PRIMARY KEY CHECK (length(subject) = 16), job TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE jobs (
    number   INTEGER PRIMARY KEY,
    job      TEXT    NOT NULL UNIQUE,
    state    BLOB    NOT NULL,
    finished INTEGER NOT NULL
);

CREATE TABLE places (place TEXT PRIMARY KEY) WITHOUT ROWID;
"""

# What is derived, by kind and key over all ledgers; which views there are, and of which ledgers their rows are gone.
VIEWS: Final = """
CREATE INDEX derived_of_kinds ON derived (kind, key, ledger);

CREATE TABLE views (
    name     TEXT    NOT NULL,
    kind     TEXT    PRIMARY KEY,
    state    TEXT    NOT NULL CHECK (state IN ('building', 'active', 'retired')),
    position INTEGER NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX views_in_force ON views (name) WHERE state = 'active';

CREATE TABLE purged (kind TEXT NOT NULL, ledger BLOB NOT NULL, PRIMARY KEY (kind, ledger)) WITHOUT ROWID;
"""

MIGRATIONS: Final = (SCHEMA, FORGETTING, VIEWS)
"""The statements that lead from each version of the schema to the next, from an empty database on."""

SCHEMA_VERSION: Final = len(MIGRATIONS)
