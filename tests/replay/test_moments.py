"""As of a version, a turn, a recorded time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings

from ledger import Ledgers, connect
from ledger.errors import InvalidInput, UnknownLedger, UnknownVersion
from ledger.parts import ToolCallPart
from replay import Turn, view
from tests.projections.histories import HISTORIES, Step, recorded

START = datetime(2031, 3, 4, 9, 0, tzinfo=UTC)


@pytest.fixture
def store() -> Iterator[Ledgers]:
    """A ledger with a call that is answered only after the next turn; a minute lies between two events."""
    minutes = iter(range(10_000))
    begin = int(START.timestamp()) * 1_000_000
    with connect(":memory:", clock=lambda: begin + next(minutes) * 60_000_000) as opened:
        handle = opened.ledger("case")
        handle.record_turn("user", "Where is parcel 4471?")
        handle.record_turn("assistant", [ToolCallPart(call_id="c1", tool="track", arguments=cast({}))])
        handle.record_turn("user", "Never mind, list the depots.")
        handle.record_return("c1", "Rotterdam")
        handle.record_turn("assistant", "North and South.")
        yield opened


def cast(value: object) -> Any:
    return value


def returns(store: Ledgers, at: object) -> list[str]:
    turns = view(store, "case", at=cast(at)).transcript().transcript.turns
    return [found.text for found in turns[1].returns]


def test_every_version_can_be_asked_for(store: Ledgers) -> None:
    turns = [len(view(store, "case", at=version).transcript().transcript.turns) for version in range(6)]
    assert turns == [0, 1, 2, 3, 3, 4]
    assert view(store, "case", at=0).basis().recorded_at is None
    assert view(store, "case").version == 5


def test_a_turn_ends_where_the_next_one_begins(store: Ledgers) -> None:
    assert [view(store, "case", at=Turn(number)).version for number in (1, 2, 3, 4)] == [1, 2, 4, 5]
    assert returns(store, Turn(2)) == []
    assert returns(store, Turn(3)) == ["Rotterdam"]


def test_a_late_return_belongs_to_the_turn_of_its_call(store: Ledgers) -> None:
    messages = view(store, "case").window().request["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "user", "assistant"]
    assert messages[2]["content"] == "Rotterdam"


def test_a_recorded_time(store: Ledgers) -> None:
    times = [START, START + timedelta(minutes=1, seconds=59), START + timedelta(days=1), START - timedelta(microseconds=1)]
    assert [view(store, "case", at=time).version for time in times] == [1, 2, 5, 0]
    elsewhere = (START + timedelta(minutes=2)).astimezone(timezone(timedelta(hours=5, minutes=45)))
    assert view(store, "case", at=elsewhere).version == 3


@pytest.mark.parametrize("at", [6, -1, Turn(5), Turn(0), Turn(-3)])
def test_what_was_not_reached_is_unknown(store: Ledgers, at: Any) -> None:
    with pytest.raises(UnknownVersion, match="not recorded") as refusal:
        view(store, "case", at=at)
    assert refusal.value.last == (5 if isinstance(at, int) else 4)


@pytest.mark.parametrize("at", [datetime(2031, 3, 4, 9, 0), True, "3", 2.0])  # noqa: DTZ001  # without a zone, on purpose
def test_what_names_no_moment_is_refused(store: Ledgers, at: Any) -> None:
    with pytest.raises(InvalidInput, match="aware datetime"):
        view(store, "case", at=at)


def test_an_unknown_ledger_names_the_nearest(store: Ledgers) -> None:
    with pytest.raises(UnknownLedger, match="case"):
        view(store, "casse")


def test_a_field_that_never_held_a_value_has_an_empty_history(store: Ledgers) -> None:
    history = view(store, "case").history("Colour of the van")
    assert (history.field, history.values, history.contradictions) == ("colour_of_the_van", (), ())


@settings(deadline=None, max_examples=60)
@given(HISTORIES)
def test_the_intervals_of_a_field_are_what_stood_at_each_version(steps: list[Step]) -> None:
    """Half-open, in order, without overlap: at every version the history says what the state of that version said."""
    with recorded(steps) as store:
        if not store.heads():
            return
        now = view(store, "case")
        for version in range(now.version + 1):
            then = view(store, "case", at=version).state().entities
            for field in now.fields():
                held = [
                    value
                    for value in now.history(field).values
                    if value.from_version <= version and (value.to_version is None or version < value.to_version)
                ]
                assert [value.json for value in held] == ([then[field].json] if field in then else [])
