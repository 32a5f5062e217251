"""Limits at their exact edges, and values that look like what is wanted: refused with their path and the way out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from ledger import JsonText, Ledger, connect
from ledger import events as e
from ledger.codec import encode
from ledger.errors import InvalidInput, LimitExceeded
from ledger.limits import (
    MAX_ARTIFACT_BYTES,
    MAX_EVENTS_PER_COMMAND,
    MAX_JSON_DEPTH,
    MAX_NAME_CHARACTERS,
    MAX_PAYLOAD_BYTES,
    MAX_TURN,
)
from ledger.parts import JsonPart, TextPart, ToolCallPart
from replay import view


@pytest.fixture
def handle() -> Iterator[Ledger]:
    """A ledger in which call c1 of turn 2 waits."""
    with connect(":memory:") as store:
        made = store.ledger("case")
        made.record_turn("user", "hello")
        made.record_turn("assistant", [ToolCallPart(call_id="c1", tool="look", arguments=JsonText("{}"))])
        yield made


def turn_of(size: int) -> e.TurnRecorded:
    """A turn whose payload has exactly so many bytes."""
    frame = len(encode(e.TurnRecorded(role="system", parts=(TextPart(text=""),))))
    return e.TurnRecorded(role="system", parts=(TextPart(text="x" * (size - frame)),))


REASONED: list[Callable[[Ledger, str], object]] = [
    lambda case, because: case.classify(1, "keep", because=because),
    lambda case, because: case.set_fact("port", "Skagen", source="user", because=because),
    lambda case, because: case.retract_fact("port", source="user", because=because),
    lambda case, because: case.close(because),
]


@pytest.mark.parametrize("because", ["", " ", "\n"])
@pytest.mark.parametrize("command", REASONED)
def test_a_reason_that_says_nothing_is_refused(handle: Ledger, command: Callable[[Ledger, str], object], because: str) -> None:
    with pytest.raises(InvalidInput, match=r"^because is empty: say why, or leave it out$") as refused:
        command(handle, because)
    assert refused.value.path == "because"
    assert handle.version == 2


def test_a_reason_that_has_to_be_given_is_not_to_be_left_out(handle: Ledger) -> None:
    for decided in ("", "\t"):
        with pytest.raises(InvalidInput, match=r"^because is empty: say why$"):
            handle.resolve_contradiction("con_9", because=decided, source="user")


def test_the_largest_payload_is_taken_and_read_again(handle: Ledger) -> None:
    event = turn_of(MAX_PAYLOAD_BYTES)
    assert len(encode(event)) == MAX_PAYLOAD_BYTES
    handle.append([event])
    assert next(handle.events(2)).event == event


def test_one_byte_more_is_refused_with_the_way_out(handle: Ledger) -> None:
    with pytest.raises(LimitExceeded, match=r"67,108,865 bytes, over MAX_PAYLOAD_BYTES .*artifact") as refused:
        handle.append([turn_of(MAX_PAYLOAD_BYTES + 1)])
    assert refused.value.path == "$"
    assert handle.version == 2


def test_a_text_counts_as_it_is_stored(handle: Ledger) -> None:
    """Six bytes for a control character: what fits as characters may not fit as bytes."""
    with pytest.raises(LimitExceeded, match="MAX_PAYLOAD_BYTES"):
        handle.record_turn("user", "\x01" * (MAX_PAYLOAD_BYTES // 6))
    assert handle.version == 2


@pytest.mark.slow
def test_the_largest_artifact_is_taken_and_one_byte_more_is_not(handle: Ledger) -> None:
    largest = bytes(MAX_ARTIFACT_BYTES)
    assert handle.store_artifact(largest) == hashlib.sha256(largest).hexdigest()
    with pytest.raises(LimitExceeded, match="MAX_ARTIFACT_BYTES") as refused:
        handle.store_artifact(largest + b"\0")
    assert refused.value.path == "content"
    assert handle.version == 3


@pytest.mark.slow
def test_the_longest_command(handle: Ledger) -> None:
    events = [e.TurnRecorded(role="system", parts=())] * (MAX_EVENTS_PER_COMMAND + 1)
    with pytest.raises(LimitExceeded, match="MAX_EVENTS_PER_COMMAND") as refused:
        handle.append(events)
    assert (refused.value.path, handle.version) == ("events", 2)
    assert len(handle.append(events[1:])) == MAX_EVENTS_PER_COMMAND


def nested(levels: int) -> Any:
    """A list in a list in a list."""
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


def test_the_deepest_value_is_taken_everywhere_and_one_level_more_nowhere(handle: Ledger) -> None:
    deepest, deeper = nested(MAX_JSON_DEPTH), nested(MAX_JSON_DEPTH + 1)
    source = "[" * (MAX_JSON_DEPTH + 1) + "]" * (MAX_JSON_DEPTH + 1)
    for attempt in (
        lambda: handle.set_fact("a", deeper, source="user"),
        lambda: handle.set_fact("a", 1, source="user", supersedes=deeper),
        lambda: handle.record_return("c1", deeper),
        lambda: handle.record_turn("user", [JsonPart(value=JsonText(source))]),
        lambda: JsonText.parse(source.encode()),
    ):
        with pytest.raises(LimitExceeded, match=r"MAX_JSON_DEPTH\): keep it as an artifact or as text") as refused:
            attempt()
        assert refused.value.path.startswith("$")
    assert handle.version == 2
    handle.record_return("c1", deepest)
    handle.set_fact("a", deepest, source="user")
    assert [one.version for one in handle.events(2)] == [3, 4]


@pytest.mark.parametrize("field", ["model", "external_id"])
def test_the_longest_name(handle: Ledger, field: str) -> None:
    longest: Any = {field: "n" * MAX_NAME_CHARACTERS}
    longer: Any = {field: "n" * (MAX_NAME_CHARACTERS + 1)}
    assert handle.record_turn("user", "x", **longest) == 3
    with pytest.raises(InvalidInput, match=f"{field}: .*512 characters") as refused:
        handle.record_turn("user", "x", **longer)
    assert refused.value.path == field


def test_the_last_turn(handle: Ledger) -> None:
    with pytest.raises(InvalidInput, match="turn"):
        handle.set_fact("a", 1, source="user", turn=MAX_TURN + 1)
    with pytest.raises(InvalidInput, match="turn"):
        handle.set_fact("a", 1, source="user", turn=0)


NO_TIMES: list[Any] = [
    datetime(2031, 3, 1, 9),  # noqa: DTZ001 - the fault under test
    "2031-03-01T09:00:00",
    "2031-02-30T09:00:00Z",
    "2031-03-01T25:00:00Z",
    "2031-03-01",
    "01/02/2031",
    "yesterday",
    "",
    "1900000000",
    "-1900000000",
    1_900_000_000,
    1_900_000_000_000,
    1.5,
    float("nan"),
    True,
    b"2031-03-01T09:00:00Z",
    date(2031, 3, 1),
    datetime.max.replace(tzinfo=timezone(timedelta(hours=-5))),
]


@pytest.mark.parametrize("moment", NO_TIMES, ids=repr)
def test_what_is_no_time_is_refused_by_its_field(handle: Ledger, moment: Any) -> None:
    """Neither a zone nor a unit nor the order of day and month is guessed."""
    page = handle.store_artifact(b"page")
    attempts: dict[str, list[Callable[[], object]]] = {
        "said_at": [
            lambda: handle.record_turn("user", "x", said_at=moment),
            lambda: handle.record_return("c1", "x", said_at=moment),
        ],
        "retrieved_at": [
            lambda: handle.store_artifact(b"x", retrieved_at=moment),
            lambda: handle.record_evidence("x", quote="x", artifact=page, retrieved_at=moment),
        ],
    }
    for field, calls in attempts.items():
        for attempt in calls:
            with pytest.raises(InvalidInput, match=field) as refused:
                attempt()
            assert refused.value.path == field
    assert handle.version == 3


@pytest.mark.parametrize("moment", [datetime(1, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_the_first_and_the_last_instant(handle: Ledger, moment: datetime) -> None:
    handle.record_turn("user", "x", said_at=moment)
    event = next(handle.events(2)).event
    assert isinstance(event, e.TurnRecorded)
    assert event.said_at == moment


def test_the_past_is_not_asked_for_by_a_time_without_a_zone() -> None:
    with connect(":memory:") as store:
        store.ledger("case").record_turn("user", "x")
        for moment in (datetime(2031, 3, 1), "2031-03-01T09:00:00Z", 1.5):  # noqa: DTZ001 - the fault under test
            with pytest.raises(InvalidInput) as refused:
                view(store, "case", at=moment)  # type: ignore[arg-type]
            assert refused.value.path == "at"


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"", b"text", bytearray(b"x"), {"a": b"\xff"}, [b"\xff"], [["x"], b""]], ids=repr
)
def test_bytes_are_no_text(handle: Ledger, content: Any) -> None:
    """Of which encoding they are would have to be guessed; as an artifact they are kept as they are."""
    for attempt in (
        lambda: handle.record_turn("user", content),
        lambda: handle.record_return("c1", content),
        lambda: handle.set_fact("a", content, source="tool"),
    ):
        with pytest.raises(InvalidInput) as refused:
            attempt()
        assert refused.value.path
    assert handle.version == 2


def test_a_text_is_no_artifact(handle: Ledger) -> None:
    for content in ("text", None, bytearray(b"x"), 5):
        with pytest.raises(InvalidInput, match="encode a text first") as refused:
            handle.store_artifact(content)  # type: ignore[arg-type]
        assert refused.value.path == "content"


@pytest.mark.parametrize(
    "source", [b"\xff", b'"\xc3"', b'{"a":"\xed\xa0\x80"}', b'"\xf4\x90\x80\x80"', '"é"'.encode("latin-1")]
)
def test_foreign_json_that_is_not_utf8_is_refused_with_its_byte(source: bytes) -> None:
    with pytest.raises(InvalidInput, match="not UTF-8 at byte") as refused:
        JsonText.parse(source)
    assert source[: refused.value.offset].decode("utf-8") is not None
    assert refused.value.path == "$"


@pytest.mark.parametrize("name", [b"case", 5, None, "", "a\nb", "a\0", "\ud800", "n" * 513])
def test_names_of_ledgers_are_printable_texts(name: Any) -> None:
    with connect(":memory:") as store:
        for ask in (store.ledger, store.head):
            with pytest.raises(InvalidInput, match="512 printable characters") as refused:
                ask(name)
            assert refused.value.path == "ledger"
