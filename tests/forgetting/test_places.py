"""What is derived outside of the store: a forgetting is complete only once every such place has confirmed it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger import Ledgers
from ledger.forgetting_commands import ForgettingIncomplete, ForgettingResumed
from ledger.verify import verify_store
from tests.forgetting.dying import Folder
from tests.forgetting.forks import in_a_fork
from tests.forgetting.needles import Needles
from tests.forgetting.shelves import Shelf

SECRET = "secret words"


class Failing(Folder):
    """A place that cannot do it now, and says what it holds."""

    name = "failing"

    def forget(self, ledger: bytes, versions: tuple[int, ...]) -> None:
        """Fail."""
        raise LookupError(f"no index for {SECRET!r}")


@pytest.fixture
def ledgers(shelf: Shelf) -> Iterator[Ledgers]:
    """The store, open, with something to forget."""
    with shelf() as opened:
        opened.ledger("case").record_turn("user", SECRET)
        opened.ledger("case").record_turn("user", "other words")
        yield opened


@pytest.fixture
def place(ledgers: Ledgers, tmp_path: Path) -> Folder:
    """A place that holds it, too, and of which the store knows."""
    made = Folder(tmp_path / "derived")
    made.keep(ledgers, "case")
    ledgers.derives(made)
    assert SECRET in made.texts()
    return made


def assert_swept_and_scrubbed(shelf: Shelf, ledgers: Ledgers) -> None:
    assert Needles([SECRET]).found_in(shelf.contents()) == {}
    assert verify_store(ledgers).ok


def test_a_place_that_confirms_makes_it_complete(shelf: Shelf, ledgers: Ledgers, place: Folder) -> None:
    assert ledgers.forget(ledger="case", turns=[1], reason="asked").state == "complete"
    assert SECRET not in place.texts()
    assert "other words" in place.texts()
    assert_swept_and_scrubbed(shelf, ledgers)


def forget_without_it(shelf: Shelf) -> tuple[str, tuple[str, ...]]:
    """In a process that cannot reach the place."""
    with shelf() as ledgers:
        report = ledgers.forget(ledger="case", turns=[1], reason="asked")
        return report.state, report.problems


def test_a_place_that_is_elsewhere_is_waited_for(shelf: Shelf, ledgers: Ledgers, place: Folder) -> None:
    state, problems = in_a_fork(forget_without_it, shelf)
    assert state == "incomplete"
    assert ["folder" in problem for problem in problems] == [True]
    assert_swept_and_scrubbed(shelf, ledgers)
    assert SECRET in place.texts()
    with pytest.warns(ForgettingIncomplete, match="folder"), shelf():
        pass  # whoever opens the store is told, every time
    (report,) = ledgers.resume_forgetting()
    assert (report.state, report.count) == ("complete", 1)
    assert SECRET not in place.texts()
    assert ledgers.resume_forgetting() == []


@pytest.mark.parametrize("first", ["failing", "folder"])
def test_a_place_that_fails_keeps_nothing_else_from_going(
    shelf: Shelf, ledgers: Ledgers, place: Folder, tmp_path: Path, first: str
) -> None:
    failing = Failing(tmp_path / "failing")
    failing.name = "a" if first == "failing" else "z"
    ledgers.derives(failing)
    report = ledgers.forget(ledger="case", turns=[1], reason="asked")
    assert report.state == "incomplete"
    assert [(failing.name in problem, "LookupError" in problem, SECRET in problem) for problem in report.problems] == [
        (True, True, False)
    ]
    assert SECRET not in place.texts()
    assert_swept_and_scrubbed(shelf, ledgers)
    assert SECRET not in repr(ledgers.forgettings()), "what a place says may be content, and is told nowhere"
    mended = Folder(tmp_path / "failing")
    mended.name = failing.name
    ledgers.derives(mended)
    assert [one.state for one in ledgers.resume_forgetting()] == ["complete"]


def test_a_place_that_is_gone_is_not_waited_for(shelf: Shelf, ledgers: Ledgers, place: Folder) -> None:
    assert in_a_fork(forget_without_it, shelf)[0] == "incomplete"
    ledgers.no_longer_derives("folder")
    with pytest.warns(ForgettingResumed), shelf() as opened:
        assert all(job.finished for job in opened.forgettings())
    assert opened is not ledgers
    assert SECRET in place.texts(), "nobody asked it"


def test_a_place_that_came_after_a_forgetting_is_not_asked_about_it(ledgers: Ledgers, tmp_path: Path) -> None:
    assert ledgers.forget(ledger="case", turns=[1], reason="asked").state == "complete"
    ledgers.derives(Failing(tmp_path / "failing"))
    assert ledgers.resume_forgetting() == []
    assert ledgers.forget(ledger="case", turns=[2], reason="asked").state == "incomplete"


def test_a_whole_ledger_and_a_subject_are_told_to_the_place(ledgers: Ledgers, place: Folder) -> None:
    for name in ("case", "another"):
        ledgers.ledger(name).record_turn("user", f"about them in {name}", subjects=["customer Szabina"])
        place.keep(ledgers, name)
    assert ledgers.forget(subject="customer Szabina", reason="asked").state == "complete"
    assert "about them" not in place.texts()
    assert SECRET in place.texts()
    assert ledgers.forget(ledger="case", reason="asked").state == "complete"
    assert SECRET not in place.texts()
