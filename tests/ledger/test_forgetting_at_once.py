"""A store that is opened while another process carries a forgetting out: neither fails, and what is told is true."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledgers, connect
from ledger.clock import system_clock
from ledger.errors import StoreError
from ledger.forgetting_commands import ForgettingResumed
from ledger.sqlite import SqliteStore
from ledger.store import Store
from ledger.verify import verify_store
from tests.ledger.remains import REASON, stored_bytes
from tests.ledger.test_forgetting_jobs import Index

SECRET = "my card is 4929"


class FailsAt:
    """A store that fails at one of its methods."""

    def __init__(self, store: Store, method: str) -> None:
        self._store = store
        self._method = method

    def __getattr__(self, name: str) -> Any:
        if name == self._method:
            raise StoreError("the connection was lost")
        return getattr(self._store, name)


class Overtaken:
    """A store in which something happens before a call of a method, of which one has the number ``when``."""

    def __init__(self, store: Store, when: int, happens: Callable[[], object]) -> None:
        self._store = store
        self._left = when
        self._happens = happens

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if callable(found) and name not in ("job_put", "close"):
            if self._left == 0:
                self._happens()
            self._left -= 1
        return found


@pytest.fixture
def ledgers(tmp_path: Path) -> Iterator[Ledgers]:
    """A store with two ledgers, of which something keeps what is derived."""
    with connect(tmp_path / "record.db") as opened:
        for name in ("case", "other"):
            opened.ledger(name).record_turn("user", SECRET, subjects=["customer:ada"])
            opened.ledger(name).store_artifact(b"a page", turn=1)
        opened.derives(Index())
        yield opened


SCOPES: dict[str, dict[str, Any]] = {
    "turns": {"ledger": "case", "turns": [1]},
    "ledger": {"ledger": "case"},
    "subject": {"subject": "customer:ada"},
}


def interrupted(ledgers: Ledgers, scope: str, method: str) -> None:
    """Begin a forgetting that comes no further than a method of the store."""
    with pytest.raises(StoreError):
        Ledgers(FailsAt(ledgers.store, method), system_clock).forget(**SCOPES[scope], reason=REASON)


@pytest.mark.parametrize("when", range(0, 40, 4))
@pytest.mark.parametrize("method", ["append", "sweep"])
@pytest.mark.parametrize("scope", SCOPES)
def test_who_opens_the_store_may_be_overtaken(ledgers: Ledgers, tmp_path: Path, scope: str, method: str, when: int) -> None:
    """By the only process that can reach the place; whatever it does first, nothing is left to do, and both say so."""
    interrupted(ledgers, scope, method)
    [job] = ledgers.forgettings()
    reports: list[Any] = []
    store: Any = Overtaken(SqliteStore(str(tmp_path / "record.db")), when, lambda: reports.extend(ledgers.resume_forgetting()))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Ledgers(store, system_clock).close()
    if not reports:  # nobody was faster
        assert [("is not complete" in str(one.message), "not at hand" in str(one.message)) for one in caught] == [(True, True)]
        return
    assert [str(one.message) for one in caught] in ([], [f"forgetting {job.job} was not complete; it is now"])
    assert {one.category for one in caught} <= {ForgettingResumed}
    assert [report.state for report in reports] == ["complete"]
    [done] = ledgers.forgettings()
    named = {head.name: head.ledger.hex() for head in ledgers.heads()}
    assert (done.finished, done.wish) == (True, None)
    assert len(done.fences) == len(named) if scope == "subject" else len(done.fences) == 1
    assert ledgers.resume_forgetting() == []
    assert (SECRET.encode() in stored_bytes(ledgers), verify_store(ledgers).problems) == (scope != "subject", ())
