"""Jobs that cannot be read, because they are damaged or a later release wrote them, keep no store from opening."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from ledger import connect
from ledger.erasing import StoredJob
from ledger.errors import CorruptRecord
from ledger.forgetting_commands import ForgettingIncomplete
from tests.ledger.remains import REASON, swept

ODD = {
    "nothing": b"",
    "no JSON": b"\xff\x00",
    "a list": b"[]",
    "nothing in it": b"{}",
    "a later scope": {"scope": "regions"},
    "a later field": {"regions": ["eu"]},
    "another type": {"fenced": "yes"},
    "no ledger": {"fences": {"zz": None}},
    "an unknown ledger": {"fences": {"00": None}, "fenced": True},
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store in which a turn was forgotten, and is to be overwritten."""
    found = tmp_path / "record.db"
    with connect(found) as store:
        for text in ("hello", "my card is 4929"):
            store.ledger("case").record_turn("user", text)
        store.forget(ledger="case", turns=[2], reason=REASON, scrub=False)
    return found


def written(path: Path, odd: bytes | dict[str, object], *, finished: bool = False) -> Iterator[str]:
    """Write a job that cannot be read before the one that can; its name."""
    with connect(path) as store:
        [known] = store.store.jobs()
        state = odd if isinstance(odd, bytes) else orjson.dumps({**orjson.loads(known.state), "job": "f_odd", **odd})
        store.store.job_put(StoredJob("f_odd", state, finished))
        yield "f_odd"


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_an_unfinished_job_that_cannot_be_read_is_named_at_opening(path: Path, odd: bytes | dict[str, object]) -> None:
    list(written(path, odd))
    with pytest.warns(ForgettingIncomplete, match="f_odd"):
        opened = connect(path)
    with opened as store:
        assert store.ledger("case").record_turn("user", "go on") == 3
        assert swept(store) == {2}


UNREADABLE = {name: odd for name, odd in ODD.items() if name != "an unknown ledger"}


@pytest.mark.parametrize("odd", UNREADABLE.values(), ids=UNREADABLE)
def test_a_finished_job_that_cannot_be_read_is_named_where_jobs_are_listed(path: Path, odd: bytes | dict[str, object]) -> None:
    list(written(path, odd, finished=True))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened = connect(path)
    with opened as store:
        with pytest.raises(CorruptRecord, match="f_odd") as refused:
            store.forgettings()
        assert refused.value.job == "f_odd"
        assert refused.value.__cause__ is refused.value.__context__ is None
        assert [one.state for one in store.resume_forgetting()] == ["complete"]
        assert store.forget(ledger="case", turns=[1], reason=REASON).state == "complete"


def test_the_others_are_resumed_before_one_is_refused(path: Path) -> None:
    list(written(path, b"{}"))
    with pytest.warns(ForgettingIncomplete):
        opened = connect(path)
    with opened as store:
        with pytest.raises(CorruptRecord, match="f_odd"):
            store.resume_forgetting()
        assert [(stored.job == "f_odd", stored.finished) for stored in store.store.jobs()] == [(False, True), (True, False)]


def test_a_ledger_that_is_forgotten_whole_can_be_taken_again_beside_a_finished_one(path: Path) -> None:
    list(written(path, b"{}", finished=True))
    with connect(path) as store:
        store.resume_forgetting()
        store.forget(ledger="case", reason=REASON)
        store.reauthorise(ledger="case", because="they came back")
        assert store.ledger("case").record_turn("user", "hello again") == 3
