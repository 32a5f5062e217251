"""A connection that breaks during an append: stored once, and the caller gets the first result."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ledger.connect import Ledgers, connect
from ledger.errors import IdempotencyConflict, VersionConflict
from ledger.store import Selection
from tests.contract.batches import LEDGER, batch, draft
from tests.postgres.cutting import CuttingProxy, Lose

# An event's type: in the request of every append that is tested here, and in no other.
APPEND = b"turn.recorded"
LOSSES = [Lose.REQUEST, Lose.ANSWER, Lose.ANSWER_LATE]


@pytest.fixture
def direct(url: str) -> Iterator[Ledgers]:
    """The store, reached without the proxy."""
    with connect(url) as ledgers:
        yield ledgers


@pytest.fixture
def proxy(url: str) -> Iterator[CuttingProxy]:
    """A proxy before the same store."""
    with TemporaryDirectory(dir="/tmp") as folder:  # a socket's path may not be long
        made = CuttingProxy(url, Path(folder))
        yield made
        made.close()


@pytest.fixture
def cut(proxy: CuttingProxy) -> Iterator[Ledgers]:
    """The store, reached through the proxy."""
    with connect(proxy.url) as ledgers:
        yield ledgers


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("count", [1, 100])
def test_a_batch_is_stored_once(cut: Ledgers, direct: Ledgers, proxy: CuttingProxy, loss: Lose, count: int) -> None:
    cut.store.append(batch([draft(turn=1)]))
    proxy.lose(loss, APPEND)
    envelopes = cut.store.append(batch([draft(turn=2) for _ in range(count)], expected=1))
    assert proxy.lost == 1
    proxy.settle()
    assert [stored.envelope for stored in direct.store.read(LEDGER, Selection(after=1))] == envelopes
    assert [envelope.version for envelope in envelopes] == list(range(2, count + 2))


@pytest.mark.parametrize("loss", LOSSES)
def test_a_new_ledger_is_made_once(cut: Ledgers, direct: Ledgers, proxy: CuttingProxy, loss: Lose) -> None:
    proxy.lose(loss, APPEND)
    cut.store.append(batch([draft()]))
    assert proxy.lost == 1
    proxy.settle()
    assert [(head.name, head.version) for head in direct.heads()] == [("case", 1)]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("key", [None, "order 7"])
def test_a_turn_is_recorded_once(cut: Ledgers, direct: Ledgers, proxy: CuttingProxy, loss: Lose, key: str | None) -> None:
    """With an idempotency key and without one."""
    ledger = cut.ledger("case")
    ledger.record_turn("user", "hello")
    proxy.lose(loss, APPEND)
    assert ledger.record_turn("assistant", "good day", idempotency_key=key) == 2
    assert proxy.lost == 1
    proxy.settle()
    assert [(event.version, event.turn) for event in direct.ledger("case").events()] == [(1, 1), (2, 2)]
    if key is not None:
        assert direct.ledger("case").record_turn("assistant", "good day", idempotency_key=key) == 2
        with pytest.raises(IdempotencyConflict):
            direct.ledger("case").record_turn("assistant", "other words", idempotency_key=key)


def test_a_conflict_stays_a_conflict(cut: Ledgers, direct: Ledgers, proxy: CuttingProxy) -> None:
    """Somebody else was first, and the request was lost besides."""
    cut.store.append(batch([draft()]))
    direct.store.append(batch([draft()], expected=1))
    proxy.lose(Lose.REQUEST, APPEND)
    with pytest.raises(VersionConflict) as caught:
        cut.store.append(batch([draft()], expected=1))
    assert (caught.value.expected, caught.value.actual) == (1, 2)
    assert direct.lag(0).events == 2


def test_a_read_is_repeated(cut: Ledgers, proxy: CuttingProxy) -> None:
    cut.store.append(batch([draft()] * 5))
    proxy.lose(Lose.ANSWER, b"SELECT")
    assert len(cut.store.feed(after=0, limit=10)) == 5
    assert proxy.lost == 1
    proxy.settle()
