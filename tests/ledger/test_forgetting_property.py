"""Whatever was recorded and forgotten in whatever order: what is asked for is gone, everything else is as it was."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger import connect, kept_job, lineage, reading
from ledger.erasing import Sweep, Swept
from ledger.errors import LedgerError
from ledger.lineage import Lineage
from ledger.sqlite import SqliteStore
from ledger.standing import Standing
from ledger.store import Selection
from ledger.writer import Writer
from tests.ledger.histories_forgotten import FORGETS, KINDS, NAMES, History, play

steps = st.tuples(st.sampled_from(KINDS), st.sampled_from(NAMES))
forgettings = st.tuples(st.sampled_from(FORGETS), st.sampled_from(NAMES))
rounds = st.lists(st.tuples(st.lists(steps, min_size=5, max_size=40), forgettings), min_size=1, max_size=4)


@given(rounds, st.integers(0, 2**32))
@settings(max_examples=40)
def test_forgettings_between_commands(rounds: list[tuple[list[tuple[str, str]], tuple[str, str]]], seed: int) -> None:
    with connect(":memory:") as ledgers:
        history = History(ledgers, random.Random(seed))
        for commands, forgetting in rounds:
            for kind, name in commands:
                history.step(kind, name)
            history.forget(*forgetting)
            history.check()


@pytest.mark.parametrize("seed", range(10))
def test_histories_that_a_seed_chooses(seed: int) -> None:
    play(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 400))
def test_more_histories_that_a_seed_chooses(seed: int) -> None:
    play(seed, rounds=6)


Patch = pytest.MonkeyPatch


def without_rule(because: str) -> Callable[[Patch], None]:
    """A lineage in which nothing goes for a reason."""

    def plant(patch: Patch) -> None:
        rests = Lineage._rests

        def forgetful(self: Lineage, version: int | None, on: int | None, why: str) -> None:
            if why != because:
                rests(self, version, on, why)

        patch.setattr(Lineage, "_rests", forgetful)

    return plant


def turns_alone(patch: Patch) -> None:
    """A turn goes without what belongs to it."""
    dependents = Lineage._dependents

    def alone(self: Lineage, version: int, found: Any) -> Iterator[tuple[int, str]]:
        return (one for one in dependents(self, version, found) if not one[1].startswith("belongs to"))

    patch.setattr(Lineage, "_dependents", alone)


def sweeping(change: Callable[[Sweep], Sweep]) -> Callable[[Patch], None]:
    """A sweep that is told less than it should be."""

    def plant(patch: Patch) -> None:
        whole = SqliteStore.sweep

        def less(self: SqliteStore, sweep: Sweep) -> Swept:
            return whole(self, change(sweep))

        patch.setattr(SqliteStore, "sweep", less)

    return plant


def staying(table: str) -> Callable[[Patch], None]:
    """A store that does not delete what it should, of one table."""

    def plant(patch: Patch) -> None:
        whole = SqliteStore.sweep

        def sweep(self: SqliteStore, sweep: Sweep) -> Swept:
            with self._connections.reading() as connection:
                rows = connection.execute(f"SELECT * FROM {table}").fetchall()
            swept = whole(self, sweep)
            with self._connections.writing() as connection:
                for row in rows:
                    connection.execute(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(row))})", row)
            return swept

        patch.setattr(SqliteStore, "sweep", sweep)

    return plant


def no_marks(patch: Patch) -> None:
    """A reader that does not look for what was forgotten."""
    patch.setattr(reading, "marks_of", lambda _: {})


def endings_are_lost(patch: Patch) -> None:
    """It is not kept what an erased event had put an end to."""
    whole = lineage._skeleton
    patch.setattr(lineage, "_skeleton", lambda *given: whole(*given).model_copy(update={"ends": None}))


def no_refolding(patch: Patch) -> None:
    """A warm writer folds a forgetting in as if it were any event."""

    def catch_up(self: Writer) -> bool:
        if self._id is None:
            return self._reopen()
        before = self._standing.version
        for item in reading.Reader(self._store, self._id).read(Selection(after=before)):
            self._apply(item.envelope, item.event)
        return self._standing.version > before

    patch.setattr(Writer, "_catch_up", catch_up)


def values_come_back(patch: Patch) -> None:
    """What an erased event had put an end to stands again."""
    patch.setattr(Standing, "_ended", lambda *_: None)


def jobs_tell(patch: Patch) -> None:
    """A job keeps content."""
    whole = kept_job.Job.stored
    texts = " ".join(f"needle-{number}-x" for number in range(200))
    patch.setattr(kept_job.Job, "stored", lambda self: whole(replace(self, reason=texts)))


def summaries_stay(patch: Patch) -> None:
    """A summary stays when a turn goes that it is of."""
    patch.setattr(Lineage, "_covering", lambda *_: {})


FAULTS: dict[str, Callable[[Patch], None]] = {
    "nothing goes that closes what goes": without_rule("closes it"),
    "nothing goes that states a value again": without_rule("states the value again"),
    "nothing goes that names what goes": without_rule("names it as a side"),
    "turns go alone": turns_alone,
    "summaries stay": summaries_stay,
    "a payload stays": sweeping(lambda sweep: replace(sweep, versions=sweep.versions[1:])),
    "bytes of artifacts stay": sweeping(lambda sweep: replace(sweep, blobs=())),
    "tags stay": staying("subjects"),
    "what was derived stays": staying("derived"),
    "a reader ignores what was forgotten": no_marks,
    "endings are lost": endings_are_lost,
    "a warm writer goes on with what it knew": no_refolding,
    "values come back": values_come_back,
    "a job keeps content": jobs_tell,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[fault](monkeypatch)
    assert any(is_red(seed) for seed in range(200))


def is_red(seed: int) -> bool:
    """Whether a history does not hold."""
    try:
        play(seed)
    except (AssertionError, LedgerError):
        return True
    return False
