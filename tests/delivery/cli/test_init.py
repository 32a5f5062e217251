"""Preparing a store from the command line; and stores that were restored or copied go on with the next position."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from ledger import connect
from ledger.errors import StoreError
from ledger.sqlite_schema import SCHEMA_VERSION
from ledger.verify import verify_store
from tests.delivery.cli.conftest import Command, at
from tests.postgres import server

# Each block with a row is a subtransaction with a number of its own.
USE_UP_NUMBERS = """
CREATE TEMPORARY TABLE used (number integer);
DO $$ BEGIN
    FOR number IN 1..3000 LOOP
        BEGIN INSERT INTO used VALUES (number); EXCEPTION WHEN OTHERS THEN NULL; END;
    END LOOP;
END $$;
"""


def test_a_store_is_made_and_found_as_it_is(command: Command, store_path: Path) -> None:
    made = command("init", "--json").answer
    assert made == {
        "store": str(store_path),
        "kind": "sqlite",
        "schema": SCHEMA_VERSION,
        "ledgers": 0,
        "events": 0,
        "last_position": 0,
    }
    with connect(str(store_path)) as store:
        store.ledger("case").record_turn("user", "x")
    assert command("init", "--json").answer == {**made, "ledgers": 1, "events": 1, "last_position": 1}
    assert "1 ledger, 1 event," in command("init").out


def test_a_file_has_no_epoch(command: Command) -> None:
    outcome = command("init", "--raise-epoch")
    assert (outcome.code, outcome.out) == (2, "")
    assert "leave out --raise-epoch" in outcome.err


def test_a_database_is_prepared_and_its_password_is_not_shown(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = at(f"{database}&password=geheim", capsys)
    first, second = command("init", "--json"), command("init", "--raise-epoch", "--json")
    assert first.answer["kind"] == "postgresql"
    assert (first.answer["ledgers"], first.answer["events"]) == (0, 0)
    assert second.answer == {**first.answer, "epoch": 0}, "it is raised only where it must"
    assert "geheim" not in first.out + second.out + command("init").out


@pytest.fixture(scope="module")
def new_cluster() -> Iterator[str]:
    """The address of an empty database in a cluster that has carried out hardly a transaction."""
    with server.running(server.FAST) as dsn:
        yield server.url(dsn)


def program(name: str) -> str:
    """A program of PostgreSQL: of the same release as the server that the tests start."""
    return str(server.find_binaries() / name)


def test_a_dump_that_was_restored_into_a_new_cluster_goes_on(
    database: str, new_cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The numbers of transactions are lower there, so positions would fall until the epoch is raised."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(USE_UP_NUMBERS)
    with connect(database) as source:
        for number in range(300):
            source.ledger(f"case {number % 3}").record_turn("user", f"turn {number}", idempotency_key=f"key {number}")
        before = [(one.envelope, one.event) for one in source.follow(idle_seconds=0)]
    dump = subprocess.run([program("pg_dump"), "--schema=context_ledger", database], check=True, capture_output=True).stdout
    subprocess.run([program("psql"), "-v", "ON_ERROR_STOP=1", "-q", new_cluster], input=dump, check=True, capture_output=True)

    with connect(new_cluster) as restored:
        assert verify_store(restored).ok
        with pytest.raises(StoreError, match="raise"):
            restored.ledger("case 0").record_turn("user", "lost")
        assert at(new_cluster, capsys)("init", "--raise-epoch", "--json").answer["epoch"] > 0
        case = restored.ledger("case 0")
        assert case.record_turn("user", "turn 0", idempotency_key="key 0") == 1, "what was recorded before is known"
        assert case.record_turn("user", "after") == 101
        assert restored.ledger("new").record_turn("user", "after") == 1
        after = [(one.envelope, one.event) for one in restored.follow(idle_seconds=0)]
    assert after[:300] == before
    assert [envelope.version for envelope, _ in after[300:]] == [101, 1]
    positions = [envelope.position for envelope, _ in after]
    assert positions == sorted(set(positions))


def test_a_copy_of_a_file_goes_on_with_the_next_position(tmp_path: Path) -> None:
    """Copied while it is written to, and opened elsewhere; neither knows of what the other records afterwards."""
    original, copy = tmp_path / "record.db", tmp_path / "elsewhere.db"
    with connect(str(original)) as store:
        for number in range(20):
            store.ledger(f"case {number % 3}").record_turn("user", f"turn {number}", idempotency_key=f"key {number}")
        with closing(sqlite3.connect(original)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        before = list(store.follow(idle_seconds=0))
        store.ledger("case 0").record_turn("user", "only here")
    with connect(str(copy)) as store:
        assert verify_store(store).ok
        assert list(store.follow(idle_seconds=0)) == before
        assert store.ledger("case 1").record_turn("user", "turn 1", idempotency_key="key 1") == 1
        store.ledger("case 0").record_turn("user", "only there")
        last = list(store.follow(after=20, idle_seconds=0))
        assert [(one.envelope.position, one.version) for one in last] == [(21, 8)]
