"""A hold that is placed while a forgetting is interrupted: nothing of the ledger is erased until it is lifted."""

from __future__ import annotations

import signal
import warnings
from pathlib import Path

import pytest

from ledger import Ledgers
from ledger.erased import Erased
from ledger.forgetting_commands import ForgettingIncomplete, ForgettingResumed
from ledger.store import Stored
from ledger.verify import verify_store
from tests.forgetting.dying import Folder, forget_in_steps
from tests.forgetting.forks import Fork, in_a_fork
from tests.forgetting.needles import Needles
from tests.forgetting.shelves import Shelf
from tests.forgetting.test_killed import GONE, KEPT, SCOPES, assert_complete, fill, forgotten_in

HELD = "of Szabina"
WHY = "case 2031-17"


@pytest.fixture
def folder(shelf: Shelf, tmp_path: Path) -> Path:
    """The store is filled; this is where something is derived from it."""
    with shelf() as ledgers:
        fill(ledgers)
        place = Folder(tmp_path / "derived")
        for name in (HELD, "another"):
            place.keep(ledgers, name)
        ledgers.derives(place)
    return place.folder


def left_to_do(shelf: Shelf, folder: Path) -> list[str]:
    """What a process that opens the store, and can reach the derived place, leaves to be done."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with shelf() as ledgers:
            ledgers.derives(Folder(folder))
            reports = ledgers.resume_forgetting()
    assert {one.category for one in caught} <= {ForgettingIncomplete, ForgettingResumed}
    return [problem for report in reports for problem in report.problems]


def readable(shelf: Shelf) -> list[str]:
    """What of the ledger reads as it was before the forgetting, although it is all stored."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ForgettingIncomplete)
        with shelf() as ledgers:
            assert [job.finished for job in ledgers.forgettings()] == [False]
            assert any("still there" in one.problem for one in verify_store(ledgers).problems)
            forgotten = {erased.version for one in forgotten_in(ledgers, HELD) for erased in one.erased}
            found = [item for item in ledgers.ledger(HELD).events() if item.version in forgotten]
            return [str(item.event) for item in found if not isinstance(item.event, Erased)]


def lift(shelf: Shelf) -> None:
    """End the hold, in a process that leaves the rest to another."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ForgettingIncomplete)
        with shelf() as ledgers:
            ledgers.ledger(HELD).lift_hold(because="closed")


def forget_until_held(shelf: Shelf, folder: Path, scope: str, fatal: int) -> None:
    """Kill a forgetting before a step, with the store open elsewhere: there the hold is placed."""
    with shelf() as elsewhere:
        assert Fork(forget_in_steps, shelf, folder, SCOPES[scope], fatal).exit_code() == -signal.SIGKILL
        elsewhere.ledger(HELD).place_hold(because=WHY)


@pytest.mark.parametrize(("scope", "fatal"), [("turns", 2), ("turns", 3), ("facts", 3), ("ledger", 3)])
def test_a_hold_after_the_fence_keeps_everything_until_it_is_lifted(shelf: Shelf, folder: Path, scope: str, fatal: int) -> None:
    forget_until_held(shelf, folder, scope, fatal)
    for _ in range(2):
        [problem] = in_a_fork(left_to_do, shelf, folder)
        assert (HELD in problem, WHY in problem) == (True, True)
    found = Needles(GONE[scope]).found_in(shelf.contents())
    assert set().union(*found.values()) == GONE[scope], "the record holds all of it"
    kept = Needles(GONE[scope] - {HELD, "secret page 1"}).found_in([("derived", Folder(folder).texts().encode())])
    assert set().union(*kept.values()) == GONE[scope] - {HELD, "secret page 1"}, "and so does the place"
    assert in_a_fork(readable, shelf) == []
    lift(shelf)
    assert in_a_fork(left_to_do, shelf, folder) == []
    assert_complete(shelf, folder, scope)


def test_a_hold_that_is_placed_after_the_sweep_keeps_what_was_derived(shelf: Shelf, folder: Path) -> None:
    """The last step before the place confirms."""
    steps = in_a_fork(steps_of_another, shelf, folder)
    forget_until_held(shelf, folder, "turns", steps.index("confirm"))
    [problem] = in_a_fork(left_to_do, shelf, folder)
    assert WHY in problem
    assert "Szabina Gelencsér" in Folder(folder).texts()
    lift(shelf)
    assert in_a_fork(left_to_do, shelf, folder) == []
    assert "Szabina Gelencsér" not in Folder(folder).texts()


def steps_of_another(shelf: Shelf, folder: Path) -> list[str]:
    """The steps of forgetting a turn."""
    return forget_in_steps(shelf, folder, {"ledger": "another", "turns": [1]})


def test_a_subject_is_swept_where_nothing_is_held(shelf: Shelf, folder: Path) -> None:
    """The fences stand in both ledgers when the hold comes."""
    in_order = in_a_fork(steps_of_a_subject, shelf, folder)
    assert in_order.count("sweep") == 2
    with shelf() as elsewhere:
        fatal = in_order.index("sweep")
        assert Fork(forget_in_steps, shelf, folder, SCOPES["subject"], fatal).exit_code() == -signal.SIGKILL
        elsewhere.ledger(HELD).place_hold(because=WHY)
    [problem] = in_a_fork(left_to_do, shelf, folder)
    assert (HELD in problem, "another" in problem, WHY in problem) == (True, False, True)
    assert (subject_is_stored(shelf, HELD), subject_is_stored(shelf, "another")) == (True, False)
    lift(shelf)
    assert in_a_fork(left_to_do, shelf, folder) == []
    found = Needles(GONE["subject"] | KEPT["subject"]).found_in(shelf.contents())
    assert set().union(*found.values()) == KEPT["subject"]
    assert "secret subject" not in Folder(folder).texts()


def steps_of_a_subject(shelf: Shelf, folder: Path) -> list[str]:
    """The steps of forgetting a subject of two ledgers."""
    with shelf() as ledgers:
        for name in ("third", "fourth"):
            ledgers.ledger(name).record_turn("user", "about them", subjects=["customer Ida"])
    return forget_in_steps(shelf, folder, {"subject": "customer Ida"})


def subject_is_stored(shelf: Shelf, name: str) -> bool:
    """Whether the store has what was said about the subject in a ledger."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ForgettingIncomplete)
        with shelf() as ledgers:
            return any(b"secret subject" in (row.payload or b"") for row in rows_of(ledgers, name))


def rows_of(ledgers: Ledgers, name: str) -> list[Stored]:
    """The rows of a ledger as they are stored."""
    ledger = ledgers.head(name).ledger
    return [row for row in ledgers.store.feed(after=0, limit=1_000) if row.envelope.ledger == ledger]
