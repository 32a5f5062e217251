"""Two processes that open the store at once after another was killed: both carry the job out, and it is done once."""

from __future__ import annotations

import signal
import warnings
from pathlib import Path
from typing import Any, Final

import pytest

from ledger import Ledgers
from ledger.clock import system_clock
from ledger.erasing import Sweep, Swept
from ledger.store import Store
from ledger.verify import verify_store
from tests.forgetting.dying import Folder, forget_in_steps
from tests.forgetting.forks import Fork, barrier, event, forked
from tests.forgetting.shelves import Shelf
from tests.forgetting.test_killed import SCOPES, assert_complete, fill

DEATHS: Final = [("subject", 1), ("subject", 3), ("turns", 1), ("turns", 3), ("ledger", 2), ("ledger", 4)]
"""Scope, and the step before which the first process dies: before its fences, between them, before and after its sweep."""


def open_at(shelf: Shelf, folder: Path, meeting: Any) -> list[str]:
    """Open the store when another process does, and then have the derived place confirm; the warnings that came."""
    meeting.wait(30)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with shelf() as ledgers:
            ledgers.derives(Folder(folder))
            assert {report.state for report in ledgers.resume_forgetting()} <= {"complete"}
    return [type(one.message).__name__ for one in caught]


@pytest.mark.parametrize(("scope", "fatal"), DEATHS)
def test_two_processes_resume_the_same_job_at_once(shelf: Shelf, tmp_path: Path, scope: str, fatal: int) -> None:
    folder, meeting = tmp_path / "derived", barrier(2)
    with shelf() as ledgers:
        fill(ledgers)
        place = Folder(folder)
        place.keep(ledgers, "of Szabina")
        ledgers.derives(place)
    assert Fork(forget_in_steps, shelf, folder, SCOPES[scope], fatal).exit_code() == -signal.SIGKILL
    with forked(open_at, [(shelf, folder, meeting)] * 2) as both:
        told = [one.result() for one in both]
    assert "ForgettingIncomplete" in told[0] + told[1]
    assert_complete(shelf, folder, scope)


class Waits:
    """A store that waits before it sweeps, until it may."""

    def __init__(self, store: Store, reached: Any, go: Any) -> None:
        self._store = store
        self._reached = reached
        self._go = go

    def sweep(self, sweep: Sweep) -> Swept:
        """Say that it is that far, and wait."""
        self._reached.set()
        assert self._go.wait(30)
        return self._store.sweep(sweep)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def forget_slowly(shelf: Shelf, scope: str, reached: Any, go: Any) -> tuple[str, tuple[str, ...]]:
    """A forgetting that is under way for a while."""
    with shelf() as opened:
        store: Any = Waits(opened.store, reached, go)
        report = Ledgers(store, system_clock).forget(**SCOPES[scope], reason="asked")
        return report.state, report.problems


@pytest.mark.parametrize("scope", ["turns", "subject", "ledger"])
def test_who_opens_the_store_meanwhile_says_what_is_true(shelf: Shelf, scope: str) -> None:
    """Nothing was interrupted: the process that forgets is alive, and has nothing to complain of."""
    with shelf() as ledgers:
        fill(ledgers)
    reached, go = event(), event()
    with forked(forget_slowly, [(shelf, scope, reached, go)]) as (slow,):
        assert reached.wait(30)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with shelf() as ledgers:
                [job] = ledgers.forgettings()
        go.set()
        assert slow.result() == ("complete", ())
    assert [str(one.message) for one in caught] == [f"forgetting {job.job} was not complete; it is now"]
    with shelf() as ledgers:
        assert [one.finished for one in ledgers.forgettings()] == [True]
        assert verify_store(ledgers).problems == ()
