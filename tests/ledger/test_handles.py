"""A handle that opens a ledger decides as one that was there from the beginning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger import JsonText, Ledger, Ledgers, connect
from ledger import events as e
from ledger.clock import system_clock
from ledger.codec import commitment
from ledger.errors import AdmissionRefused, LedgerError, StoreError, UnknownEventType
from ledger.parts import ToolCallPart
from ledger.store import Batch, Draft, Selection, Store, Stored
from tests.ledger.record_rules import check
from tests.ledger.test_admission import blobs_for, likely_events

MANY = 90  # more turns than a handle reads when it opens a ledger


def call(name: str) -> ToolCallPart:
    return ToolCallPart(call_id=name, tool="look", arguments=JsonText("{}"))


@contextmanager
def long_ledger() -> Iterator[Ledgers]:
    """A store with a long ledger: turn 2 calls "early", turns 4 and 6 call "same", of which turn 4's has returned."""
    with connect(":memory:") as opened:
        handle = opened.ledger("long")
        handle.record_turn("system", "Be brief.")
        for number in range(1, MANY + 1):
            calls = {2: [call("early")], 4: [call("same")], 6: [call("same")]}.get(number, [])
            handle.record_turn("user" if number % 2 else "assistant", calls or f"turn {number}")
            if number == 5:
                handle.record_return("same", "of turn 4")
        handle.set_fact("amount", 1, source="user", turn=1)
        yield opened


Attempt = Callable[[Ledger], Any]

ATTEMPTS: dict[str, Attempt] = {
    "return of an early call": lambda ledger: ledger.record_return("early", "late"),
    "return of an early call by turn": lambda ledger: ledger.record_return("early", "late", turn=2),
    "return of the call that still waits": lambda ledger: ledger.record_return("same", "late"),
    "return of the call that has returned": lambda ledger: ledger.record_return("same", "again", turn=4),
    "return to a turn without the call": lambda ledger: ledger.record_return("early", "late", turn=8),
    "return of no call": lambda ledger: ledger.record_return("never", "late"),
    "raw return": lambda ledger: ledger.append([e.ToolReturned(turn=6, call_id="same", parts=())]),
    "fact of an early user turn": lambda ledger: ledger.set_fact("day", 1, source="user", turn=3),
    "fact of an early assistant turn": lambda ledger: ledger.set_fact("day", 1, source="user", turn=8),
    "claim of an early assistant turn": lambda ledger: ledger.set_fact("amount", 2, source="user", turn=8),
    "raw fact of an early assistant turn": lambda ledger: ledger.append(
        [e.FactSet(turn=8, field="day", value=JsonText("1"), source="user")]
    ),
    "side of an early assistant turn": lambda ledger: ledger.record_contradiction(
        "x", [e.Side(value=JsonText("1"), source="user", turn=8), e.Side(value=JsonText("2"))]
    ),
    "retraction by an early assistant turn": lambda ledger: ledger.retract_fact("amount", source="user", turn=8),
    "entry of an early assistant turn": lambda ledger: ledger.add_entry("open", "x", source="user", turn=8),
    "fact of a turn to come": lambda ledger: ledger.set_fact("day", 1, source="user", turn=MANY + 1),
    "the next turn": lambda ledger: ledger.record_turn("user", "x"),
    "a turn that calls an early id again": lambda ledger: ledger.record_turn("assistant", [call("early")]),
    "system text": lambda ledger: ledger.record_turn("system", "x"),
}


def outcome(attempt: Attempt, ledger: Ledger) -> tuple[Any, ...]:
    """What an attempt led to, as far as it does not depend on when it was made."""
    before = ledger.version
    try:
        attempt(ledger)
    except LedgerError as error:
        assert ledger.version == before
        return (type(error).__name__, str(error))
    return tuple(one.event for one in ledger.events(before))


def warm(ledgers: Ledgers) -> Ledger:
    """A handle that has read every turn."""
    handle = ledgers.ledger("long")
    with pytest.raises(AdmissionRefused):
        handle.record_return("nobody waits for this", "x")
    return handle


@pytest.mark.parametrize("name", ATTEMPTS)
def test_a_cold_handle_decides_like_one_that_knows_every_turn(name: str) -> None:
    with long_ledger() as one, long_ledger() as other:
        expected = outcome(ATTEMPTS[name], warm(one))
        assert outcome(ATTEMPTS[name], other.ledger("long")) == expected
        check(other.ledger("long").events())


@pytest.mark.parametrize(
    ("name", "turn"),
    [
        ("return of an early call", 2),
        ("return of the call that still waits", 6),
        ("raw return", 6),
        ("fact of an early user turn", 3),
        ("the next turn", MANY + 1),
    ],
)
def test_what_belongs_to_early_turns_finds_them(name: str, turn: int) -> None:
    with long_ledger() as ledgers:
        (event,) = outcome(ATTEMPTS[name], ledgers.ledger("long"))
        assert event.turn == turn


@pytest.mark.parametrize("name", [name for name in ATTEMPTS if "assistant turn" in name])
def test_an_early_assistant_turn_is_never_the_user(name: str) -> None:
    with long_ledger() as ledgers:
        assert outcome(ATTEMPTS[name], ledgers.ledger("long"))[0] == "AdmissionRefused"


def test_a_call_id_is_used_again_much_later() -> None:
    with long_ledger() as ledgers:
        ledgers.ledger("long").record_turn("assistant", [call("early"), call("same")])
        cold = ledgers.ledger("long")
        turns = []
        for name in ("early", "early", "same", "same"):
            cold.record_return(name, "x")
            turns.append([one.turn for one in cold.events()][-1])
        assert turns == [MANY + 1, 2, MANY + 1, 6]
        check(cold.events())


@given(
    st.lists(st.lists(likely_events, min_size=1, max_size=2), max_size=20),
    st.lists(likely_events, min_size=1, max_size=6),
    st.sampled_from([0, 70]),
)
def test_after_any_history_the_old_handle_and_a_fresh_one_agree(
    history: list[list[e.Event]], asked: list[e.Event], turns_before: int
) -> None:
    with connect(":memory:") as ledgers:
        old = ledgers.ledger("case")
        for number in range(turns_before):
            old.record_turn("user" if number % 2 else "assistant", [] if number % 2 else [call("c1")])
        for events in history:
            with suppress(LedgerError):
                old.append(events, blobs=blobs_for(events))
        for event in asked:
            fresh, version = ledgers.ledger("case"), old.version
            results = []
            for handle in (fresh, old):
                try:
                    handle.append([event, e.LedgerClosed(), e.LedgerClosed()], blobs=blobs_for([event]))  # never stored
                except LedgerError as error:
                    results.append((type(error), str(error)))
            assert results[0] == results[1]
            assert old.version == version
            with suppress(LedgerError):
                old.append([event], blobs=blobs_for([event]))


class BreaksOff:
    """A store whose reads break off after some rows, as often as asked for."""

    def __init__(self, store: Store, times: int, rows: int) -> None:
        self.store, self.times, self.rows = store, times, rows

    def read(self, ledger: bytes, selection: Selection) -> Iterator[Stored]:
        broken = self.times > 0
        for number, row in enumerate(self.store.read(ledger, selection)):
            if broken and number == self.rows:
                self.times -= 1
                raise StoreError("the connection was lost")
            yield row

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


@pytest.mark.parametrize("rows", [0, 1, 30])
@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("name", ["return of an early call", "fact of an early assistant turn", "the next turn"])
def test_a_handle_whose_reading_broke_off_reads_again(name: str, times: int, rows: int) -> None:
    """It never goes on with half of what stands."""
    with long_ledger() as one, long_ledger() as other:
        expected = outcome(ATTEMPTS[name], warm(one))
        handle = Ledgers(BreaksOff(other.store, times, rows), system_clock).ledger("long")
        broken = ("StoreError", "the connection was lost")
        led_to = broken
        while led_to == broken:
            led_to = outcome(ATTEMPTS[name], handle)
        assert led_to == expected
        check(other.ledger("long").events())


def test_an_event_of_a_later_release_stops_the_handle_by_name(tmp_path: Path) -> None:
    """It is never guessed, and nothing is appended after it by a release that does not understand it."""
    path = tmp_path / "record.db"
    with connect(str(path)) as ledgers:
        ledgers.ledger("case").record_turn("user", "x")
        head = ledgers.head("case")
        draft = Draft("mood.sensed", 3, None, b"{}", b"s" * 32, commitment(b"s" * 32, b"{}"))
        ledgers.store.append(Batch("case", head.ledger, 1, b"c" * 16, 0, [draft]))
        for _ in range(2):
            with pytest.raises(UnknownEventType, match=r"'mood\.sensed' version 3"):
                ledgers.ledger("case").record_turn("user", "y")
        assert ledgers.head("case").version == 2
