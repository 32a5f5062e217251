"""A forgetting is a job: what cannot be done now is told, nothing of it is called complete, and it can be carried on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger import Ledgers, connect
from ledger.clock import system_clock
from ledger.errors import NothingToForget, OnHold, StoreError
from ledger.forgetting_commands import ForgettingIncomplete, ForgettingResumed
from ledger.verify import verify_store
from tests.ledger.remains import REASON, gone, stored_bytes, swept
from tests.ledger.test_forgetting_handles import NoSweep

NEEDLE = "my card is 4929"


class Index:
    """A search index outside of the store, which can be out of order."""

    def __init__(self, name: str = "index") -> None:
        self.name = name
        self.is_broken = False
        self.asked: list[tuple[bytes, tuple[int, ...]]] = []

    def forget(self, ledger: bytes, versions: tuple[int, ...]) -> None:
        """Confirm, unless it is out of order."""
        if self.is_broken:
            raise OSError(f"disk full while deleting {NEEDLE}")
        self.asked.append((ledger, versions))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store is."""
    return tmp_path / "record.db"


@pytest.fixture
def ledgers(path: Path) -> Iterator[Ledgers]:
    """A store with two ledgers of three turns."""
    with connect(path) as opened:
        for name in ("case", "other"):
            for text in ("hello", NEEDLE, "thanks"):
                opened.ledger(name).record_turn("user", text, subjects=["customer:ada"] if text == NEEDLE else [])
        yield opened


def test_a_place_confirms(ledgers: Ledgers) -> None:
    index = Index()
    ledgers.derives(index)
    done = ledgers.forget(subject="customer:ada", reason=REASON)
    assert (done.state, done.problems) == ("complete", ())
    assert index.asked == [(ledgers.head(name).ledger, (2,)) for name in ("case", "other")]
    ledgers.forget(ledger="case", turns=[1], reason=REASON)
    assert index.asked[2:] == [(ledgers.head("case").ledger, (1,))]


def test_a_place_that_does_not_confirm_leaves_the_job_incomplete(ledgers: Ledgers) -> None:
    """Its content is gone from the store all the same; what the place said may be content and is not kept."""
    index, other = Index(), Index("view")
    index.is_broken = True
    ledgers.derives(index)
    ledgers.derives(other)
    done = ledgers.forget(ledger="case", turns=[2], reason=REASON)
    assert (done.state, swept(ledgers), len(other.asked)) == ("incomplete", {2}, 1)
    [problem] = done.problems
    assert problem == "index has not confirmed (OSError): mend it and resume"
    assert [job.finished for job in ledgers.forgettings()] == [False]
    ledgers.forget(ledger="other", turns=[2], reason=REASON)
    assert NEEDLE.encode() not in stored_bytes(ledgers)
    index.is_broken = False
    assert [one.state for one in ledgers.resume_forgetting()] == ["complete", "complete"]
    assert (len(other.asked), len(index.asked)) == (2, 2)
    assert ledgers.resume_forgetting() == []


def test_a_place_that_is_not_at_hand_is_named(path: Path, ledgers: Ledgers) -> None:
    """Another process has it; the next that opens the store with it can go on."""
    ledgers.derives(Index())
    with connect(path) as elsewhere:
        done = elsewhere.forget(ledger="case", turns=[2], reason=REASON)
        assert (done.state, "index holds what was derived and is not at hand" in done.problems[0]) == ("incomplete", True)
        assert [one.state for one in elsewhere.resume_forgetting()] == ["incomplete"]
    with pytest.warns(ForgettingIncomplete, match="not at hand"), connect(path):
        pass
    [resumed] = ledgers.resume_forgetting()
    assert (resumed.job, resumed.state, resumed.count) == (done.job, "complete", 1)


def test_a_place_that_is_gone_need_not_confirm(ledgers: Ledgers) -> None:
    index = Index()
    index.is_broken = True
    ledgers.derives(index)
    assert ledgers.forget(ledger="case", turns=[2], reason=REASON).state == "incomplete"
    ledgers.no_longer_derives("index")
    assert [one.state for one in ledgers.resume_forgetting()] == ["complete"]
    assert ledgers.forget(ledger="case", turns=[1], reason=REASON).state == "complete"
    assert index.asked == []


def test_a_deferred_scrub_is_told_and_done_later(path: Path, ledgers: Ledgers) -> None:
    done = ledgers.forget(ledger="case", turns=[2], reason=REASON, scrub=False)
    assert (done.state, done.problems) == ("incomplete", ("deleted bytes are not overwritten yet: resume with scrub",))
    assert swept(ledgers) == {2}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        connect(path).close()
    assert [job.finished for job in ledgers.forgettings()] == [False]
    assert [one.state for one in ledgers.resume_forgetting()] == ["complete"]
    assert [job.finished for job in ledgers.forgettings()] == [True]


def test_an_interrupted_job_goes_on_at_the_next_opening(path: Path, ledgers: Ledgers) -> None:
    with pytest.raises(StoreError):
        Ledgers(NoSweep(ledgers.store), system_clock).forget(subject="customer:ada", reason=REASON)
    assert (gone(ledgers), swept(ledgers)) == ({2}, set())
    with pytest.warns(ForgettingResumed, match="was not complete; it is now"):
        resumed = connect(path)
    with resumed as opened:
        assert (swept(opened), swept(opened, "other"), verify_store(opened).problems) == ({2}, {2}, ())
        assert NEEDLE.encode() not in stored_bytes(opened)
        assert [job.finished for job in opened.forgettings()] == [True]
    with pytest.raises(NothingToForget):
        ledgers.forget(subject="customer:ada", reason=REASON)


def test_an_interrupted_job_keeps_nothing_of_its_wish_once_the_fence_stands(ledgers: Ledgers) -> None:
    """Names of fields and hashes are content as well."""
    ledgers.ledger("case").set_fact("her diagnosis", "flu", source="user")
    with pytest.raises(StoreError):
        Ledgers(NoSweep(ledgers.store), system_clock).forget(ledger="case", facts=["her diagnosis"], reason=REASON)
    [job] = ledgers.forgettings()
    assert (job.fenced, job.swept, job.wish) == (True, (), None)
    ledgers.resume_forgetting()
    assert b"diagnosis" not in stored_bytes(ledgers)


def test_jobs_are_listed_in_their_order(ledgers: Ledgers) -> None:
    done = [ledgers.forget(ledger=name, turns=[turn], reason=f"{name} {turn}") for name in ("other", "case") for turn in (3, 1)]
    assert [(job.job, job.reason, job.scope) for job in ledgers.forgettings()] == [
        (one.job, one.reason, "turns") for one in done
    ]
    assert len({one.job for one in done}) == 4


def test_a_refused_wish_leaves_no_job(ledgers: Ledgers) -> None:
    for name in ("case", "other"):
        ledgers.ledger(name).place_hold(because="case 17")
    for wish in ({"ledger": "case", "turns": [1]}, {"subject": "customer:ada"}, {"ledger": "other", "turns": [9]}):
        with pytest.raises((OnHold, NothingToForget)):
            ledgers.forget(**wish, reason=REASON)
    assert (ledgers.forgettings(), swept(ledgers, "other")) == ([], set())
