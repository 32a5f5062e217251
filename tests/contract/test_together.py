"""Threads and handles that write at the same time."""

from __future__ import annotations

from functools import partial

import pytest

from ledger.errors import VersionConflict
from ledger.events import FactSet, TurnRecorded
from ledger.json_text import JsonText
from ledger.ledger import Ledger
from ledger.parts import TextPart
from ledger.record import Envelope, Recorded
from tests.contract.at_once import at_once
from tests.contract.batches import batch, draft
from tests.contract.stores import OpenStore


def said(recorded: Recorded) -> str:
    assert isinstance(recorded.event, TurnRecorded)
    (part,) = recorded.event.parts
    assert isinstance(part, TextPart)
    return part.text


def speak(handle: Ledger, who: int, count: int) -> list[int | None]:
    return [handle.record_turn("user", f"{who} {number}") for number in range(count)]


def window(value: str) -> FactSet:
    return FactSet(field="delivery_window", value=JsonText.of(value), source="user", turn=1)


def assert_all_there(handle: Ledger, writers: int, each: int) -> None:
    """Every turn of every writer once, in that writer's order, and numbered without gaps."""
    events = list(handle.events())
    assert [one.version for one in events] == list(range(1, writers * each + 1))
    assert [one.turn for one in events] == list(range(1, writers * each + 1))
    for who in range(writers):
        own = [said(one) for one in events if said(one).startswith(f"{who} ")]
        assert own == [f"{who} {number}" for number in range(each)]


def test_sixteen_threads_on_one_handle(open_store: OpenStore) -> None:
    handle = open_store().ledger("case")
    results = at_once([partial(speak, handle, who, 25) for who in range(16)])
    assert sorted(number for numbers in results for number in numbers) == list(range(1, 401))  # type: ignore[union-attr, type-var]
    assert_all_there(handle, 16, 25)


def test_threads_race_on_one_ledger_through_handles_of_their_own(open_store: OpenStore) -> None:
    results = at_once([partial(speak, open_store().ledger("case"), who, 20) for who in range(6)])
    assert [type(result) for result in results] == [list] * 6
    assert_all_there(open_store().ledger("case"), 6, 20)


def test_threads_on_ledgers_of_their_own_through_one_store(open_store: OpenStore) -> None:
    ledgers = open_store()
    at_once([partial(speak, ledgers.ledger(f"case {who}"), 0, 15) for who in range(8)])
    for who in range(8):
        assert_all_there(ledgers.ledger(f"case {who}"), 1, 15)
    positions = [row.envelope.position for row in ledgers.store.feed(after=0, limit=999)]
    assert len(set(positions)) == 120
    assert positions == sorted(positions)


def test_exactly_one_of_those_who_expect_the_same_version_wins(open_store: OpenStore) -> None:
    store = open_store().store
    for version in range(20):
        results: list[Envelope | Exception] = [
            result if isinstance(result, Exception) else result[0]
            for result in at_once([partial(store.append, batch([draft()], expected=version)) for _ in range(8)])
        ]
        assert sorted(type(result).__name__ for result in results) == ["Envelope"] + ["VersionConflict"] * 7


def test_one_command_from_eight_threads_is_one_event(open_store: OpenStore) -> None:
    handles = [open_store().ledger("case") for _ in range(8)]
    for key in ("first", "second"):
        results = at_once([partial(handle.record_turn, "user", key, idempotency_key=key) for handle in handles])
        assert len(set(results)) == 1
        assert isinstance(results[0], int)
    assert handles[0].version == 2


def test_two_ask_for_the_same_field_from_the_same_version(open_store: OpenStore) -> None:
    """One wins; the other, who expected the version, gets a typed conflict, and may then say what it supersedes."""
    first, second = open_store().ledger("case"), open_store().ledger("case")
    first.record_turn("user", "deliver in the morning")
    first.append([window("morning")], expected_version=1)
    with pytest.raises(VersionConflict) as caught:
        second.append([window("evening")], expected_version=1)
    assert (caught.value.expected, caught.value.actual) == (1, 2)
    recorded = second.set_fact("delivery_window", "evening", source="user", supersedes="morning")
    assert recorded.event.type == "fact.superseded"
    assert second.version == 3


def test_two_without_an_expectation_lose_nothing(open_store: OpenStore) -> None:
    """No last write wins: of two values for one field from the user, one stands and the other is an open contradiction."""
    handles = [open_store().ledger("case") for _ in range(2)]
    results = at_once(
        [
            partial(handle.set_fact, "delivery_window", value, source="user")
            for handle, value in zip(handles, ("morning", "evening"), strict=True)
        ]
    )
    assert sorted(result.event.type for result in results) == ["contradiction.recorded", "fact.set"]


def test_threads_come_and_go(open_store: OpenStore) -> None:
    """Connections of threads that have ended are given up while new ones are made, and no thread harms another."""
    ledgers = open_store()
    for wave in range(6):
        results = at_once([partial(speak, ledgers.ledger(f"{wave}-{who}"), who, 2) for who in range(8)])
        assert results == [[1, 2]] * 8
    assert len(ledgers.heads()) == 48
