"""What the SQLite database itself refuses, asked through a plain connection that knows nothing of the ledger."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ledger import connect

COLUMNS = "position, format, ledger, version, command, ordinal, type, type_version, turn, recorded_at, actor, cause, commitment"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with two ledgers of three and one events."""
    found = tmp_path / "record.db"
    with connect(str(found)) as ledgers:
        handle = ledgers.ledger("case")
        for text in ("one", "two", "three"):
            handle.record_turn("user", text)
        ledgers.ledger("other").store_artifact(b"a page")
    return found


@pytest.fixture
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that obeys nobody but the database."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def rows(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    tables = ("events", "payloads", "blobs", "counter", "subjects", "fences", "jobs")
    return [row for table in tables for row in connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2")]


def copied(changes: str) -> str:
    """A SELECT of the last event of the first ledger with some of its columns changed: ``name = expression; …``."""
    given = dict(change.split(" = ") for change in changes.split("; ")) if changes else {}
    columns = [given.get(name, name) for name in COLUMNS.split(", ")]
    return f"SELECT {', '.join(columns)} FROM events WHERE position = 3"


NEXT = "position = 5; version = 4; command = randomblob(16)"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET type = 'fact.set'",
        "UPDATE events SET recorded_at = recorded_at + 1 WHERE position = 3",
        "UPDATE OR REPLACE events SET position = 1 WHERE position = 2",
        "UPDATE OR IGNORE events SET actor = 'me' WHERE position = 2",
        "DELETE FROM events",
        "DELETE FROM events WHERE position = 4",
        "UPDATE payloads SET payload = x'7b7d'",
        "UPDATE payloads SET salt = zeroblob(32) WHERE position = 1",
        "INSERT OR REPLACE INTO payloads SELECT position, salt, compression, x'7b7d' FROM payloads",
        "REPLACE INTO payloads SELECT * FROM payloads WHERE position = 2",
        "UPDATE blobs SET content = x'00'",
        "UPDATE blobs SET content = x'00', version = version + 1",
        "UPDATE blobs SET sha256 = 'another'",
        "UPDATE blobs SET ledger = zeroblob(16)",
        "UPDATE blobs SET version = version - 1",
        "UPDATE OR REPLACE blobs SET version = 0",
        "INSERT OR REPLACE INTO blobs SELECT ledger, sha256, x'00', version + 1 FROM blobs",
        "INSERT INTO subjects VALUES (zeroblob(15), zeroblob(16), 1)",
        "INSERT INTO fences VALUES (zeroblob(15), 'f_1')",
        "INSERT INTO fences VALUES (zeroblob(16), NULL)",
        "INSERT INTO jobs (job, state, finished) VALUES ('f_1', NULL, 0)",
        "UPDATE counter SET position = 0",
        "UPDATE counter SET position = position - 1",
        "UPDATE counter SET position = position + 2",
        "DELETE FROM counter",
        "INSERT OR REPLACE INTO counter VALUES (1, 0)",
        "INSERT INTO counter VALUES (2, 0)",
        "INSERT INTO events " + copied(""),
        "INSERT OR REPLACE INTO events " + copied("type = 'fact.set'"),
        "INSERT OR REPLACE INTO events " + copied("position = 5"),
        "INSERT OR REPLACE INTO events " + copied("position = 5; version = 4"),
        "INSERT OR REPLACE INTO events " + copied("version = 4; command = randomblob(16)"),
        "INSERT INTO events " + copied(NEXT.replace("5", "6")),
        "INSERT INTO events " + copied(NEXT.replace("5", "4")),
        "INSERT INTO events " + copied(NEXT.replace("5", "NULL")),
        "INSERT INTO events " + copied(NEXT.replace("5", "-1")),
        "INSERT INTO events " + copied(NEXT.replace("version = 4", "version = 5")),
        "INSERT INTO events " + copied(NEXT.replace("version = 4", "version = 0")),
        "INSERT INTO events " + copied(NEXT + "; ledger = zeroblob(16)"),
        "INSERT INTO events " + copied(NEXT + "; recorded_at = recorded_at - 1"),
        "INSERT INTO events " + copied(NEXT + "; commitment = zeroblob(31)"),
        "INSERT INTO events " + copied(NEXT).replace("WHERE position = 3", "WHERE true"),
        "INSERT INTO events " + copied("") + " ON CONFLICT (position) DO UPDATE SET type = 'fact.set'",
    ],
)
@pytest.mark.parametrize("recursive_triggers", ["OFF", "ON"])
def test_the_database_refuses(raw: sqlite3.Connection, statement: str, recursive_triggers: str) -> None:
    raw.execute(f"PRAGMA recursive_triggers = {recursive_triggers}")
    before = rows(raw)
    with pytest.raises(sqlite3.IntegrityError):
        raw.execute(statement)
    assert rows(raw) == before


def test_the_next_event_is_taken(raw: sqlite3.Connection) -> None:
    """So that the refusals above are for their reason, not because nothing at all would pass."""
    raw.execute("INSERT INTO events " + copied(NEXT))
    assert raw.execute("SELECT max(position), (SELECT position FROM counter) FROM events").fetchone() == (5, 5)


def test_what_is_stored_again_is_known_to_be(raw: sqlite3.Connection) -> None:
    """The last version that stored a blob is all that may change of it: a sweep must not take what was stored since."""
    raw.execute("UPDATE blobs SET version = version + 1")
    assert raw.execute("SELECT content, version FROM blobs").fetchall() == [(b"a page", 2)]


def test_insert_or_ignore_changes_nothing(raw: sqlite3.Connection) -> None:
    before = rows(raw)
    for changes in ("", "position = 5", NEXT.replace("5", "9")):
        with pytest.raises(sqlite3.IntegrityError):
            raw.execute("INSERT OR IGNORE INTO events " + copied(changes))
    assert rows(raw) == before


def test_a_payload_may_be_forgotten_but_not_put_back_otherwise(raw: sqlite3.Connection) -> None:
    """Forgetting deletes payloads; the envelope and its commitment stay."""
    events = raw.execute("SELECT * FROM events").fetchall()
    raw.execute("DELETE FROM payloads WHERE position = 2")
    assert raw.execute("SELECT * FROM events").fetchall() == events


def test_vacuum_does_not_renumber(path: Path, raw: sqlite3.Connection) -> None:
    raw.execute("DELETE FROM payloads WHERE position = 2")
    before = rows(raw)
    raw.execute("VACUUM")
    assert rows(raw) == before
    with connect(str(path)) as ledgers:
        ledgers.ledger("other").record_turn("user", "four")
        assert [row.envelope.position for row in ledgers.store.feed(after=3, limit=9)] == [4, 5]


def test_the_position_of_a_removed_tail_is_not_given_out_again(path: Path, raw: sqlite3.Connection) -> None:
    """Even where somebody disarmed the database and cut off the end."""
    raw.execute("DROP TRIGGER events_never_go")
    raw.execute("DELETE FROM events WHERE position = 4")
    with connect(str(path)) as ledgers:
        ledgers.ledger("new").record_turn("user", "x")
    assert raw.execute("SELECT max(position) FROM events").fetchone() == (5,)
