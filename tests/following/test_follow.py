"""What every follower may rely on, whatever the store."""

from __future__ import annotations

import threading
from itertools import islice
from typing import Any

import pytest

from ledger.connect import Ledgers
from ledger.errors import InvalidInput
from ledger.following import follow
from ledger.store import Lag
from tests.contract.batches import batch, draft

OTHER = b"O" * 16


def fill(ledgers: Ledgers, count: int) -> list[int]:
    """Append events one by one to two ledgers, by turns, and return their positions."""
    positions = []
    for number in range(count):
        ledger, name = (OTHER, "other") if number % 2 else (b"L" * 16, "case")
        made = batch([draft(turn=1)], expected=number // 2, ledger=ledger, name=name)
        positions += [envelope.position for envelope in ledgers.store.append(made)]
    return positions


def test_everything_once_and_in_order(ledgers: Ledgers) -> None:
    positions = fill(ledgers, 150)
    assert [event.envelope.position for event in follow(ledgers.store, idle_seconds=0)] == positions


def test_resumes_after_any_position(ledgers: Ledgers) -> None:
    positions = fill(ledgers, 40)
    for seen in range(0, 40, 7):
        rest = follow(ledgers.store, after=positions[seen], idle_seconds=0)
        assert [event.envelope.position for event in rest] == positions[seen + 1 :]


def test_an_empty_store_ends_when_idle(ledgers: Ledgers) -> None:
    assert list(follow(ledgers.store, idle_seconds=0)) == []
    assert list(follow(ledgers.store, idle_seconds=0.01)) == []


def test_waits_for_what_comes(ledgers: Ledgers) -> None:
    follower = follow(ledgers.store)
    first = fill(ledgers, 2)
    assert [event.envelope.position for event in islice(follower, 2)] == first
    late = threading.Timer(0.2, lambda: ledgers.store.append(batch([draft(turn=2)], expected=1)))
    late.start()
    event = next(follower)
    late.join()
    assert (event.envelope.ledger, event.envelope.version) == (b"L" * 16, 2)


def test_stops_while_it_waits(ledgers: Ledgers) -> None:
    stop, ended = threading.Event(), threading.Event()

    def run() -> None:
        list(follow(ledgers.store, stop=stop))
        ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert not ended.wait(0.1)
    stop.set()
    thread.join(10)
    assert ended.is_set()


def test_stops_between_two_events(ledgers: Ledgers) -> None:
    positions, stop = fill(ledgers, 10), threading.Event()
    seen = []
    for event in follow(ledgers.store, stop=stop):
        seen.append(event.envelope.position)
        if len(seen) == 4:
            stop.set()
    assert seen == positions[:4]


def test_large_payloads_come_in_small_pages(ledgers: Ledgers) -> None:
    drafts = [draft(b"%d" % number + b"x" * 3_000_000, turn=1) for number in range(40)]
    ledgers.store.append(batch(drafts))
    found = [(event.payload or b"")[:2] for event in follow(ledgers.store, idle_seconds=0)]
    assert found == [item.payload[:2] for item in drafts]


def test_lag_counts_what_was_not_read(ledgers: Ledgers) -> None:
    assert ledgers.lag(0) == Lag(events=0, held=0)
    positions = fill(ledgers, 30)
    assert ledgers.lag(0) == Lag(events=30, held=0)
    assert ledgers.lag(positions[19]) == Lag(events=10, held=0)
    assert ledgers.lag(positions[-1]) == Lag(events=0, held=0)


def test_events_of_all_ledgers_are_read(ledgers: Ledgers) -> None:
    first, second = ledgers.ledger("a"), ledgers.ledger("b")
    first.record_turn("user", "one")
    second.record_turn("user", "two")
    first.record_turn("assistant", "three")
    types = [(event.version, event.event.type) for event in ledgers.follow(idle_seconds=0)]
    assert types == [(1, "turn.recorded"), (1, "turn.recorded"), (2, "turn.recorded")]


@pytest.mark.parametrize("after", [None, "x", 1.5, True, -1, 2**63])
def test_a_place_that_is_no_position_is_refused(ledgers: Ledgers, after: Any) -> None:
    """At once, and not when the first event is asked for; ``None`` would silently miss everything."""
    fill(ledgers, 2)
    for ask in (lambda: ledgers.follow(after, idle_seconds=0), lambda: ledgers.lag(after)):
        with pytest.raises(InvalidInput, match="no position") as refused:
            ask()
        assert refused.value.path == "after"
