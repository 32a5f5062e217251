"""A process that is killed between any two steps of a forgetting: the next one that opens the store completes it."""

from __future__ import annotations

import signal
import warnings
from pathlib import Path
from typing import Any, Final

import pytest

from ledger import Ledgers
from ledger.events import ContentForgotten
from ledger.forgetting_commands import ForgettingResumed
from ledger.verify import verify_store
from tests.forgetting.dying import Folder, forget_in_steps
from tests.forgetting.forks import Fork, in_a_fork
from tests.forgetting.needles import Needles
from tests.forgetting.shelves import CATALOGUE, Shelf

SCOPES: Final[dict[str, dict[str, Any]]] = {
    "turns": {"ledger": "of Szabina", "turns": [1, 3]},
    "facts": {"ledger": "of Szabina", "facts": ["Szabina's city"]},
    "subject": {"subject": "customer Szabina"},
    "ledger": {"ledger": "of Szabina"},
}

GONE: Final = {
    "turns": {"Szabina Gelencsér", "secret page 1", "secret fact 3"},
    "facts": {"Szabina's city", "secret city"},
    "subject": {"customer Szabina", "secret subject"},
    "ledger": {"of Szabina", "Szabina Gelencsér", "secret page 1", "secret fact 3", "kept turn", "kept fact", "secret city"},
}
KEPT: Final = {
    "turns": {"kept turn", "kept fact", "another page", "secret subject"},
    "facts": {"kept turn", "kept fact", "Szabina Gelencsér"},
    "subject": {"kept turn", "kept fact", "Szabina Gelencsér"},
    "ledger": {"another page", "another turn"},
}


def fill(ledgers: Ledgers) -> None:
    """Two ledgers with all that the scopes are about."""
    handle = ledgers.ledger("of Szabina")
    handle.record_turn("user", "Szabina Gelencsér " + "large " * 2000)
    handle.record_turn("user", "kept turn")
    handle.record_turn("user", "Szabina Gelencsér")
    handle.store_artifact(b"secret page 1", turn=1)
    handle.set_fact("three", "secret fact 3", source="user", turn=3)
    handle.set_fact("two", "kept fact", source="user", turn=2)
    handle.set_fact("Szabina's city", "secret city", source="user")
    other = ledgers.ledger("another")
    other.store_artifact(b"another page")
    other.record_turn("user", "another turn")
    for one in (handle, other):
        one.record_turn("user", "secret subject", subjects=["customer Szabina"])
        head = ledgers.head(one.name)
        ledgers.store.derived_put(head.ledger, "window", "1", repr(list(one.events())).encode(), erasures=0)


@pytest.fixture
def folder(shelf: Shelf, tmp_path: Path) -> Path:
    """The store is filled; this is where something is derived from it."""
    with shelf() as ledgers:
        fill(ledgers)
        place = Folder(tmp_path / "derived")
        place.keep(ledgers, "of Szabina")
        ledgers.derives(place)
    return place.folder


def rest_of(shelf: Shelf, folder: Path) -> list[str]:
    """In a process of its own: open the store, with the derived place at hand, and say which warnings came."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with shelf() as ledgers:
            incomplete = [str(one.message) for one in caught]
            if not any("is not at hand" in told for told in incomplete):
                return [type(one.message).__name__ for one in caught]
            ledgers.derives(Folder(folder))
            assert [report.state for report in ledgers.resume_forgetting()] == ["complete"]
    return [ForgettingResumed.__name__]


def snapshot(shelf: Shelf) -> list[Any]:
    """Every event of every ledger."""
    with shelf() as ledgers:
        return [(head, list(ledgers.ledger(head.name).events())) for head in ledgers.heads()]


def assert_complete(shelf: Shelf, folder: Path, scope: str) -> None:
    """Everything is gone that should be, once, and the store is whole."""
    texts = folder / "none" if not folder.exists() else folder
    contents = [*shelf.contents(), ("derived place", Folder(texts).texts().encode())]
    found = Needles(GONE[scope] | KEPT[scope]).found_in(contents)
    assert set().union(*found.values()) == KEPT[scope], found
    with shelf() as ledgers:
        assert verify_store(ledgers).problems == ()
        (job,) = ledgers.forgettings()
        assert job.finished
        assert (job.wish, job.ledgers) == (None, ())
        fences = {head.name: forgotten_in(ledgers, head.name) for head in ledgers.heads()}
        assert [len(events) for events in fences.values()] == [1, 1 if scope == "subject" else 0]


def forgotten_in(ledgers: Ledgers, name: str) -> list[ContentForgotten]:
    return [item.event for item in ledgers.ledger(name).events() if isinstance(item.event, ContentForgotten)]


STEPS: Final = {"turns": 10, "facts": 10, "subject": 14, "ledger": 10}
"""How many steps a forgetting takes; a test says if it is another number."""


@pytest.mark.parametrize("scope", SCOPES)
def test_the_steps_of_a_forgetting_are_known(shelf: Shelf, folder: Path, scope: str) -> None:
    steps = in_a_fork(forget_in_steps, shelf, folder, SCOPES[scope])
    assert len(steps) == STEPS[scope]
    assert (steps[0], steps[-2:]) == ("job_put", ["scrub", "job_put"])
    assert {"append", "sweep", "confirm"} < set(steps)
    assert_complete(shelf, folder, scope)


EVERYDAY: Final = {
    "sqlite-wal": {scope: set(range(STEPS[scope] + 1)) for scope in ("turns", "subject", "ledger")},
    "sqlite-delete": {"facts": {2, 8}},
    "postgres": {"subject": {2, 3, 6, 9, 12}, "ledger": {4}},
}
"""Which steps are tried in every run of the tests; all others take long."""

DEATHS: Final = [
    pytest.param(store, scope, fatal, marks=() if fatal in EVERYDAY[store].get(scope, ()) else pytest.mark.slow)
    for store in CATALOGUE
    for scope in SCOPES
    for fatal in range(STEPS[scope] + 1)
]


@pytest.mark.parametrize(("shelf", "scope", "fatal"), DEATHS, indirect=["shelf"])
def test_whoever_is_killed_between_two_steps_leaves_a_job_that_is_completed(
    shelf: Shelf, folder: Path, scope: str, fatal: int
) -> None:
    before = snapshot(shelf)
    assert Fork(forget_in_steps, shelf, folder, SCOPES[scope], fatal).exit_code() == -signal.SIGKILL
    if fatal == 0:
        assert snapshot(shelf) == before
        assert Needles(GONE[scope]).found_in(shelf.contents())
        return
    assert in_a_fork(rest_of, shelf, folder) == ([] if fatal == STEPS[scope] else [ForgettingResumed.__name__])
    assert in_a_fork(rest_of, shelf, folder) == [], "the job is complete"
    assert_complete(shelf, folder, scope)
