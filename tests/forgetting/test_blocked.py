"""Where somebody keeps SQLite from overwriting what was deleted: the job says so, and is completed once it can be."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ledger import Ledgers, connect
from ledger import sqlite_erasing as erasing
from ledger.forgetting_commands import ForgettingIncomplete, ForgettingResumed
from ledger.verify import verify_store
from tests.forgetting.needles import Needles
from tests.forgetting.shelves import SqliteShelf

SECRET = "secret words"


@pytest.fixture(params=["wal", "delete"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqliteShelf]:
    """A SQLite store with each kind of journal."""
    made = SqliteShelf(tmp_path, request.param)
    yield made
    made.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for half a minute."""
    monkeypatch.setattr("ledger.sqlite_connections.BUSY_TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(erasing, "BUSY_TIMEOUT_SECONDS", 0.2)


def reader_of(shelf: SqliteShelf) -> sqlite3.Connection:
    """Somebody who began to read and goes on."""
    connection = sqlite3.connect(f"{shelf.folder}/record.db", isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN")
    assert connection.execute("SELECT count(*) FROM payloads").fetchone()[0]
    return connection


def test_a_long_reader_leaves_the_job_incomplete_and_it_is_completed_after(impatient: None, tmp_path: Path) -> None:
    shelf = SqliteShelf(tmp_path, "wal")
    with shelf() as ledgers:
        ledgers.ledger("case").record_turn("user", SECRET)
        with closing(reader_of(shelf)):
            report = ledgers.forget(ledger="case", turns=[1], reason="asked")
            assert report.state == "incomplete"
            assert [("reading" in problem, "resume" in problem) for problem in report.problems] == [(True, True)]
            assert verify_store(ledgers).ok, "it is gone for everybody else"
            assert Needles([SECRET]).found_in(shelf.contents()), "the log holds it"
            with pytest.warns(ForgettingIncomplete, match="resume"):
                shelf()
        with pytest.warns(ForgettingResumed, match=str(report.job)):
            shelf()
        assert Needles([SECRET]).found_in(shelf.contents()) == {}
        assert ledgers.resume_forgetting() == []
    shelf.close()


def test_a_reader_that_ends_is_waited_for(shelf: SqliteShelf) -> None:
    with shelf() as ledgers:
        ledgers.ledger("case").record_turn("user", SECRET)
        reader = reader_of(shelf)
        ending = threading.Timer(0.4, reader.close)
        ending.start()
        assert ledgers.forget(ledger="case", turns=[1], reason="asked").state == "complete"
        ending.join()
        assert Needles([SECRET]).found_in(shelf.contents()) == {}


def test_what_is_put_off_is_overwritten_when_it_is_resumed(shelf: SqliteShelf) -> None:
    with shelf() as ledgers:
        ledgers.ledger("case").record_turn("user", SECRET)
        report = ledgers.forget(ledger="case", turns=[1], reason="asked", scrub=False)
        assert (report.state, len(report.problems)) == ("incomplete", 1)
        with shelf() as again:
            assert [job.finished for job in again.forgettings()] == [False], "opening the store does not do it unasked"
        assert [one.state for one in ledgers.resume_forgetting()] == ["complete"]
        assert Needles([SECRET]).found_in(shelf.contents()) == {}


def test_a_store_in_memory_forgets(impatient: None) -> None:
    with connect(":memory:") as ledgers:
        assert isinstance(ledgers, Ledgers)
        ledgers.ledger("case").record_turn("user", SECRET)
        assert ledgers.forget(ledger="case", turns=[1], reason="asked").state == "complete"
        assert SECRET not in repr(list(ledgers.ledger("case").events()))
