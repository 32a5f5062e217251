"""What callers give is recorded as it is, or refused before anything is written."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger import events as e
from ledger.errors import AdmissionRefused, InvalidInput, LimitExceeded
from ledger.limits import MAX_PAYLOAD_BYTES
from ledger.parts import JsonPart, OpaquePart, ReasoningPart, TextPart, ToolCallPart


@pytest.fixture
def ledgers() -> Iterator[Ledgers]:
    """A new store."""
    with connect(":memory:") as opened:
        yield opened


@pytest.fixture
def handle(ledgers: Ledgers) -> Ledger:
    """A ledger in which call c1 of turn 2 waits."""
    opened = ledgers.ledger("case")
    opened.record_turn("user", "hello")
    opened.record_turn("assistant", [ToolCallPart(call_id="c1", tool="look", arguments=JsonText("{}"))])
    return opened


class Pair(NamedTuple):
    """A tuple with names."""

    x: int
    y: int


@pytest.mark.parametrize(
    "source",
    [
        '{"_type_":"order","_data_":{"id":1}}',
        '{"_type_":"decimal_str","_data_":"12.50"}',
        '{"json_literal":"\\"x\\""}',
        '{"unparsed":"x"}',
        '{"request":"0000","turn":7,"type":"fact.set"}',
        '{"z":1,"a":4050.10,"z2":18446744073709551617}',
        '"speci\\u0000c \\u2028 \\ud83d"',
        "[1,[2,{}]]",
    ],
)
def test_a_value_that_looks_like_our_own_marks_is_a_value(ledgers: Ledgers, handle: Ledger, source: str) -> None:
    handle.record_return("c1", [JsonPart(value=JsonText(source))])
    handle.set_fact("a", JsonText(source), source="tool")
    arguments = ToolCallPart(call_id="c2", tool="look", arguments=JsonText(source))
    handle.record_turn("assistant", [arguments, OpaquePart(provider="p", block="b", raw=JsonText(source))])
    returned, fact, turn = [one.event for one in ledgers.ledger("case").events(2)]
    assert isinstance(returned, e.ToolReturned)
    assert isinstance(fact, e.FactSet)
    assert isinstance(turn, e.TurnRecorded)
    texts = [returned.parts[0].value, fact.value, turn.parts[0].arguments, turn.parts[1].raw]  # type: ignore[union-attr]
    assert texts == [source] * 4
    assert all(type(text) is JsonText for text in texts)


def test_reasoning_is_kept_byte_for_byte(ledgers: Ledgers, handle: Ledger) -> None:
    raw = '{ "type":"thinking" ,"thinking":"\\u2026", "signature":"EqQB+/=="}'
    handle.record_turn("assistant", [ReasoningPart(provider="anthropic", raw=JsonText(raw)), "text"])
    (turn,) = [one.event for one in ledgers.ledger("case").events(2)]
    assert isinstance(turn, e.TurnRecorded)
    assert turn.parts == (ReasoningPart(provider="anthropic", raw=JsonText(raw)), TextPart(text="text"))


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"score": float("nan"), "series": [1.0, float("inf")]}, "$.score"),
        ({"series": [1.0, float("inf")]}, "$.series[1]"),
        ((1, 2), "$"),
        (Pair(1, 2), "$"),
        ({1: "x"}, "$"),
        ({"s": {1}}, "$.s"),
        ({"at": datetime(2031, 3, 1, tzinfo=UTC)}, "$.at"),
        (b"bytes", "$"),
        (object(), "$"),
    ],
)
def test_a_value_that_would_not_come_back_is_refused_with_its_path(handle: Ledger, value: Any, path: str) -> None:
    for attempt in (
        lambda: handle.record_return("c1", value),
        lambda: handle.set_fact("a", value, source="tool"),
        lambda: handle.set_fact("a", 1, source="tool", supersedes=value),
    ):
        with pytest.raises(InvalidInput) as caught:
            attempt()
        assert caught.value.path == path
    assert handle.version == 2


def test_what_is_returned_now_is_what_is_read_later(ledgers: Ledgers, handle: Ledger) -> None:
    value = {"n": [1, 2.5, Decimal("0.10"), None, True], "text": "x\udcb2"}
    handle.record_return("c1", value)
    live = handle.set_fact("a", value, source="tool")
    assert list(ledgers.ledger("case").events(3)) == [live]
    assert isinstance(live.event, e.FactSet)
    assert live.event.value.value == {"n": [1, Decimal("2.5"), Decimal("0.10"), None, True], "text": "x\udcb2"}


@pytest.mark.parametrize("content", [None, 5, {"type": "text", "text": "x"}, [{"type": "nonsense"}], [5], b"bytes", [None]])
def test_content_that_is_no_turn_is_refused(handle: Ledger, content: Any) -> None:
    with pytest.raises(InvalidInput):
        handle.record_turn("user", content)
    assert handle.version == 2


@pytest.mark.parametrize(
    ("text", "kept"), [("\ud83d\ude00", "\U0001f600"), ("x\udcb2", "x\udcb2"), ("\ude00\ud83d", "\ude00\ud83d"), ("\0", "\0")]
)
def test_surrogates_that_spell_a_character_are_that_character(ledgers: Ledgers, handle: Ledger, text: str, kept: str) -> None:
    """A stored text could not tell them apart; what is read later must be what the writer holds now."""
    (live,) = handle.append([e.TurnRecorded(turn=3, role="user", parts=(TextPart(text=text),))])
    assert list(ledgers.ledger("case").events(2)) == [live]
    assert isinstance(live.event, e.TurnRecorded)
    assert live.event.parts == (TextPart(text=kept),)
    assert [part.text for part in live.event.parts] == [kept]


@pytest.mark.parametrize("content", ["", []])
def test_an_empty_turn_is_recorded_as_it_happened(handle: Ledger, content: Any) -> None:
    assert handle.record_turn("assistant", content) == 3
    event = next(handle.events(2)).event
    assert isinstance(event, e.TurnRecorded)
    assert event.parts == ()


def test_a_time_without_a_zone_is_refused(handle: Ledger) -> None:
    naive = datetime(2031, 3, 1, 9)  # noqa: DTZ001 - the fault under test
    page = handle.store_artifact(b"page")
    for attempt in (
        lambda: handle.record_turn("user", "x", said_at=naive),
        lambda: handle.record_return("c1", "x", said_at=naive),
        lambda: handle.store_artifact(b"x", retrieved_at=naive),
        lambda: handle.record_evidence("x", quote="x", artifact=page, retrieved_at=naive),
        lambda: handle.record_turn("user", "x", said_at="2031-03-01T09:00:00"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidInput, match="timezone"):
            attempt()
    assert handle.version == 3


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2031, 3, 1, 8, 30, tzinfo=UTC),
        datetime(2019, 11, 6, 22, 40, 0, 123456, tzinfo=timezone(timedelta(hours=-3))),
        datetime(1900, 1, 1, tzinfo=ZoneInfo("Asia/Kolkata")),  # 5 h 21 min 10 s
        datetime(2031, 10, 26, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1),
        datetime(2031, 10, 26, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=0),
    ],
)
def test_an_instant_is_kept_to_the_microsecond(ledgers: Ledgers, handle: Ledger, moment: datetime) -> None:
    handle.record_turn("user", "x", said_at=moment)
    event = next(ledgers.ledger("case").events(2)).event
    assert isinstance(event, e.TurnRecorded)
    assert event.said_at is not None
    assert event.said_at.astimezone(UTC) == moment.astimezone(UTC)
    assert event.said_at.utcoffset() == moment.utcoffset() or moment.year == 1900


def test_one_event_may_not_be_too_large(handle: Ledger) -> None:
    with pytest.raises(LimitExceeded, match="artifact"):
        handle.record_turn("user", "x" * (MAX_PAYLOAD_BYTES + 1))
    assert handle.version == 2
    assert handle.record_turn("user", "x") == 3


def test_evidence_rests_on_an_exact_artifact(handle: Ledger) -> None:
    page = handle.store_artifact("Preis: 29 €, täglich kündbar".encode())
    binary = handle.store_artifact(b"\xff\xfe29")
    handle.record_evidence("29", quote="29 €", artifact=page)
    handle.record_evidence("29", quote="30 €", artifact=page)
    handle.record_evidence("29", quote="29", artifact=binary)
    events = [one.event for one in handle.events(4)]
    found = [(event.match, event.start, event.end) for event in events if isinstance(event, e.EvidenceRecorded)]
    assert found == [("exact", 7, 11), ("not_found", None, None), ("not_found", None, None)]
    with pytest.raises(AdmissionRefused, match="store_artifact"):
        handle.record_evidence("29", quote="29", artifact="0" * 64)


def test_an_opening_is_recorded_once(ledgers: Ledgers) -> None:
    handle = ledgers.ledger("new", task="refund", schema="orders")
    ledgers.ledger("new", task="refund", schema="orders")
    assert [one.event for one in handle.events()] == [e.LedgerOpened(task="refund", schema_name="orders")]
    with pytest.raises(AdmissionRefused, match="opened before"):
        ledgers.ledger("new", task="another")
    assert ledgers.ledger("new").version == 1


def test_ids_name_their_versions(handle: Ledger) -> None:
    assert handle.add_entry("constraints", "no credit", source="user") == "en_3"
    sides = [e.Side(value=JsonText("1")), e.Side(value=JsonText("2"))]
    assert handle.record_contradiction("price", sides) == "con_4"
    page = handle.store_artifact(b"x")
    assert handle.record_evidence("x", quote="x", artifact=page) == "ev_6"
    assert handle.resolve_contradiction("con_4", because="x", source="user").version == 7
    with pytest.raises(AdmissionRefused, match="resolved already"):
        handle.resolve_contradiction("con_4", because="x", source="user")
    with pytest.raises(AdmissionRefused, match="ev_6"):
        handle.record_contradiction("price", ["ev_7", "ev_6"])
