"""Two processes that open the store at once after another was killed: both carry the job out, and it is done once."""

from __future__ import annotations

import signal
import warnings
from pathlib import Path
from typing import Any, Final

import pytest

from tests.forgetting.dying import Folder, forget_in_steps
from tests.forgetting.forks import Fork, barrier, forked
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
