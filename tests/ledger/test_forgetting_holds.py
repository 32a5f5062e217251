"""Legal holds and forgettings: what is held stays, and keeps nothing else from being forgotten."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ledger import Ledgers, connect
from ledger.clock import system_clock
from ledger.errors import InvalidInput, NothingToForget, OnHold, StoreError, SubjectForgotten
from ledger.verify import verify_store
from tests.ledger.remains import REASON, envelopes, gone, stored_bytes, swept
from tests.ledger.test_forgetting_handles import NoSweep
from tests.ledger.test_forgetting_jobs import Index

ADA, WHY = "customer:ada", "case 2031-17"
NAMES = ("one", "two", "three")


@pytest.fixture
def ledgers() -> Iterator[Ledgers]:
    """A store with three ledgers in which Ada speaks, the second of them under a hold."""
    with connect(":memory:") as opened:
        for name in NAMES:
            opened.ledger(name).record_turn("user", f"Ada's secret {name}", subjects=[ADA])
        opened.ledger("two").place_hold(because=WHY)
        yield opened


def is_stored(ledgers: Ledgers) -> dict[str, bool]:
    """Of which ledgers the words are still in the store."""
    left = stored_bytes(ledgers)
    return {name: f"Ada's secret {name}".encode() in left for name in NAMES}


def test_a_subject_is_forgotten_wherever_nothing_is_held(ledgers: Ledgers) -> None:
    done = ledgers.forget(subject=ADA, reason=REASON)
    assert (done.state, [found.ledger for found in done.ledgers]) == ("incomplete", ["one", "three"])
    [problem] = done.problems
    assert ("'two'" in problem, WHY in problem) == (True, True)
    assert is_stored(ledgers) == {"one": False, "two": True, "three": False}
    for name in NAMES:
        with pytest.raises(SubjectForgotten) as refused:
            ledgers.ledger(name).record_turn("user", "Ada again", subjects=[ADA])
        assert refused.value.job == done.job
    with pytest.raises(InvalidInput, match="resume it first"):
        ledgers.reauthorise(subject=ADA, because="she came back")
    assert [one.problems for one in ledgers.resume_forgetting()] == [(problem,)]
    ledgers.ledger("two").lift_hold(because="closed")
    [resumed] = ledgers.resume_forgetting()
    assert (resumed.job, resumed.state, resumed.count) == (done.job, "complete", 3)
    assert is_stored(ledgers) == dict.fromkeys(NAMES, False)
    assert verify_store(ledgers).problems == ()


def test_a_plan_for_a_subject_lists_everything_and_names_what_is_held(ledgers: Ledgers) -> None:
    before = envelopes(ledgers)
    planned = ledgers.forget(subject=ADA, reason=REASON, dry_run=True)
    assert (planned.state, [(found.ledger, len(found.items)) for found in planned.ledgers]) == (
        "planned",
        [(name, 1) for name in NAMES],
    )
    [problem] = planned.problems
    assert ("'two'" in problem, WHY in problem) == (True, True)
    assert (envelopes(ledgers), ledgers.forgettings()) == (before, [])


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_subject_that_is_held_everywhere_is_not_touched(ledgers: Ledgers, *, dry_run: bool) -> None:
    for name in ("one", "three"):
        ledgers.ledger(name).place_hold(because="another case")
    before = envelopes(ledgers)
    with pytest.raises(OnHold):
        ledgers.forget(subject=ADA, reason=REASON, dry_run=dry_run)
    assert (envelopes(ledgers), ledgers.forgettings()) == (before, [])
    assert ledgers.ledger("one").record_turn("user", "Ada, and not fenced", subjects=[ADA]) == 2


def test_what_is_forgotten_and_held_keeps_no_subject_from_being_forgotten(ledgers: Ledgers) -> None:
    """Its turn was fenced, and is not swept: the tags are there, and there is nothing more to plan."""
    with pytest.raises(StoreError):
        Ledgers(NoSweep(ledgers.store), system_clock).forget(ledger="one", turns=[1], reason=REASON)
    ledgers.ledger("one").place_hold(because=WHY)
    ledgers.ledger("two").lift_hold(because="closed")
    done = ledgers.forget(subject=ADA, reason=REASON)
    assert (done.state, [found.ledger for found in done.ledgers]) == ("complete", ["two", "three"])
    with pytest.raises(NothingToForget, match="forgotten already"):
        ledgers.forget(subject=ADA, reason=REASON)


def test_a_hold_after_the_fence_is_kept_by_the_sweep_and_by_places(ledgers: Ledgers) -> None:
    index = Index()
    ledgers.derives(index)
    with pytest.raises(StoreError):
        Ledgers(NoSweep(ledgers.store), system_clock).forget(ledger="one", turns=[1], reason=REASON)
    ledgers.ledger("one").place_hold(because=WHY)
    [resumed] = ledgers.resume_forgetting()
    assert (resumed.state, gone(ledgers, "one"), swept(ledgers, "one"), index.asked) == ("incomplete", {1}, set(), [])
    [problem] = resumed.problems
    assert ("'one'" in problem, WHY in problem) == (True, True)
    assert [job.problems for job in ledgers.forgettings()] == [(problem,)]
    ledgers.ledger("one").lift_hold(because="closed")
    assert [one.state for one in ledgers.resume_forgetting()] == ["complete"]
    assert (swept(ledgers, "one"), index.asked) == ({1}, [(ledgers.head("one").ledger, (1,))])


class Scrubs:
    """A store that counts how often it is scrubbed."""

    def __init__(self, ledgers: Ledgers) -> None:
        self.count = 0
        self._store = ledgers.store

    def scrub(self) -> None:
        self.count += 1
        self._store.scrub()

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)


def test_what_waits_for_a_hold_is_not_scrubbed_again_and_again(ledgers: Ledgers) -> None:
    """A hold may stand for years, and a scrub takes long."""
    store = Scrubs(ledgers)
    counting = Ledgers(store, system_clock)  # type: ignore[arg-type]
    counting.forget(subject=ADA, reason=REASON)
    for _ in range(3):
        assert [one.state for one in counting.resume_forgetting()] == ["incomplete"]
    assert store.count == 1
    counting.ledger("two").lift_hold(because="closed")
    assert [one.state for one in counting.resume_forgetting()] == ["complete"]
    assert store.count == 2
