"""Stored bytes that were damaged are read as an event or refused as what they are; nothing else ever happens."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger import codec
from ledger import events as e
from ledger.errors import CorruptRecord, LedgerError, UnknownEventType
from ledger.record import Tags
from tests.ledger.any_events import any_events, any_tags
from tests.ledger.json_values import json_values

KINDS = sorted(codec.MODELS)
TAGGED = st.binary(max_size=40).map(lambda rest: b'{"tags":' + rest + b'"]},"field":"a","value":"1","source":"user"}')
CUTS = st.tuples(
    st.integers(0, 10_000), st.integers(0, 4), st.binary(max_size=4) | st.sampled_from([b'"', b"{", b"[", b"null", b"9"])
)


def read(kind: tuple[str, int], turn: int | None, payload: bytes) -> e.Event | None:
    """The event; None where the bytes are refused as corrupt."""
    with contextlib.suppress(CorruptRecord):
        assert isinstance(codec.tags_of(payload), Tags)
    with contextlib.suppress(CorruptRecord):
        return codec.decode(*kind, turn, payload)
    return None


def check_stable(event: e.Event | None) -> None:
    """What was read can be written, and is then read as the same."""
    if event is not None:
        payload = codec.encode(event)
        assert codec.decode(codec.type_of(event), event.type_version, event.turn, payload) == event


@given(any_events, any_tags, st.lists(CUTS, min_size=1, max_size=4), st.sampled_from([None, 1, 7]))
def test_damaged_payloads(event: e.Event, tags: Tags, cuts: list[tuple[int, int, bytes]], turn: int | None) -> None:
    payload = codec.encode(event, None, tags)
    for place, length, put in cuts:
        at = place % (len(payload) + 1)
        payload = payload[:at] + put + payload[at + length :]
    read((codec.type_of(event), event.type_version), turn, payload)


@given(st.sampled_from(KINDS), st.binary(max_size=80) | TAGGED, st.sampled_from([None, 1]))
def test_any_bytes(kind: tuple[str, int], payload: bytes, turn: int | None) -> None:
    read(kind, turn, payload)


@given(any_events, st.sampled_from(KINDS))
def test_the_payload_of_another_type(event: e.Event, kind: tuple[str, int]) -> None:
    read(kind, event.turn, codec.encode(event))


def replaced(value: Any, at: int, put: Any) -> tuple[Any, int]:
    """A JSON value in which the value at a place, counted through all of it, is another; and how many places there were."""
    if at == 0:
        return put, 1
    seen = 1
    if isinstance(value, dict | list):
        pairs = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
        made = []
        for key, child in pairs:
            changed, count = replaced(child, at - seen, put) if seen <= at else (child, 1)
            made.append((key, changed))
            seen += count
        return (dict(made) if isinstance(value, dict) else [child for _, child in made]), seen
    return value, seen


MARKS: list[Any] = [
    {"json_literal": 5},
    {"json_literal": "not json"},
    {"json_literal": '{"a":1}'},
    {"json_literal": "[" * 5_000},
    {"unparsed": 5},
    {"unparsed": {"json_literal": None}},
    {"unparsed": "x", "more": 1},
    [[[[]]]],
    "\ud800",
    10**30,
    -1,
]


@given(any_events, st.integers(1, 12), st.sampled_from(MARKS) | json_values)
def test_a_value_of_another_kind(event: e.Event, at: int, put: Any) -> None:
    changed, _ = replaced(json.loads(codec.encode(event)), at, put)
    payload = json.dumps(changed, default=str).encode()
    check_stable(read((codec.type_of(event), event.type_version), event.turn, payload))


@pytest.mark.parametrize("payload", [b"[" * 200_000, b'{"parts":' * 100_000, b'{"role":"user","parts":[' + b"[" * 200_000])
def test_a_payload_of_brackets_alone(payload: bytes) -> None:
    assert read(("turn.recorded", 1), None, payload) is None


@pytest.mark.parametrize("mark", MARKS, ids=lambda mark: json.dumps(mark)[:30])
def test_what_looks_like_a_text_that_utf8_cannot_hold(mark: Any) -> None:
    payload = json.dumps({"role": "user", "parts": [{"type": "text", "text": mark}]}).encode()
    check_stable(read(("turn.recorded", 1), None, payload))
    call = {"type": "tool_call", "call_id": "c", "tool": "t", "arguments": mark}
    check_stable(read(("turn.recorded", 1), 1, json.dumps({"role": "assistant", "parts": [call]}).encode()))


@given(st.integers(0, 3) | st.integers(), st.binary(max_size=60))
def test_unpacking_any_bytes(compression: int, stored: bytes) -> None:
    try:
        payload = codec.unpack(compression, stored)
    except CorruptRecord:
        return
    assert isinstance(payload, bytes)


@given(st.text(max_size=12), st.integers(-1, 3), st.binary(max_size=40))
def test_a_type_that_is_not_known_is_never_read(name: str, version: int, payload: bytes) -> None:
    if (name, version) in codec.MODELS:
        return
    with pytest.raises(UnknownEventType) as refused:
        codec.decode(name, version, None, payload)
    assert isinstance(refused.value, LedgerError)
    assert (refused.value.type, refused.value.type_version) == (name, version)
