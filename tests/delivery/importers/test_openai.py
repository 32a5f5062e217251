"""OpenAI chat messages become events."""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from ledger import JsonText
from ledger.events import ArtifactStored, ToolReturned, TurnRecorded
from ledger.parts import (
    ImagePart,
    JsonPart,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    Unparsed,
)

PIXEL = b"\x89PNG\r\n\x1a\n\x00not a picture"


def user(content: object, **more: object) -> dict[str, object]:
    """A user message."""
    return {"role": "user", "content": content, **more}


def calls(*given: tuple[str, str, str], content: str | None = None) -> dict[str, object]:
    """An assistant message that calls tools: id, tool, arguments."""
    functions = [
        {"id": call_id, "type": "function", "function": {"name": tool, "arguments": arguments}}
        for call_id, tool, arguments in given
    ]
    return {"role": "assistant", "content": content, "tool_calls": functions}


def returned(call_id: str, content: object, **more: object) -> dict[str, object]:
    """A tool's message."""
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


def test_turns_are_numbered_and_returns_bear_the_turn_of_their_call(read: Any) -> None:
    events = read.events(
        [
            {"role": "system", "content": "Be brief."},
            user("Where is ORD-88213?"),
            calls(("a", "find", '{"id": 1}'), ("b", "track", "{}")),
            returned("b", "in Pune", name="track"),
            user("and?"),
            returned("a", "found late"),
            {"role": "assistant", "content": "In Pune."},
        ]
    )
    assert [(type(event).__name__, event.turn) for event in events] == [
        ("TurnRecorded", None),
        ("TurnRecorded", 1),
        ("TurnRecorded", 2),
        ("ToolReturned", 2),
        ("TurnRecorded", 3),
        ("ToolReturned", 2),
        ("TurnRecorded", 4),
    ]
    assert events[3] == ToolReturned(turn=2, call_id="b", parts=(TextPart(text="in Pune"),), tool="track", orphan=False)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ('{"amount": 4050.10}', JsonText('{"amount": 4050.10}')),
        (' {"b":1,"a":2}\n', JsonText(' {"b":1,"a":2}\n')),
        ("", Unparsed(unparsed="")),
        ('{"torn": ', Unparsed(unparsed='{"torn": ')),
        ('{"a":1,"a":2}', Unparsed(unparsed='{"a":1,"a":2}')),
        ("[" * 300, Unparsed(unparsed="[" * 300)),
        ("NaN", Unparsed(unparsed="NaN")),
    ],
)
def test_arguments_are_kept_as_the_model_wrote_them(read: Any, written: str, kept: JsonText | Unparsed) -> None:
    _, turn = read.events([user("go"), calls(("c", "tool", written))])
    assert turn.parts == (ToolCallPart(call_id="c", tool="tool", arguments=kept),)


def test_arguments_that_are_an_object_are_kept_as_their_source(read: Any) -> None:
    source = '{"n" : 1.50}'
    text = (
        '[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":'
        f'[{{"id":"c","type":"function","function":{{"name":"t","arguments":{source}}}}}]}}]'
    )
    assert read.events(text)[1].parts[0].arguments == source


def test_text_is_kept_unchanged_in_a_string_and_in_parts(read: Any) -> None:
    text = "  first\u2028second\x00\ud83d\n "
    as_string, as_part = read.events(
        json.dumps([user(text), user([{"type": "text", "text": text}, {"type": "text", "text": ""}])])
    )
    assert as_string.parts == (TextPart(text=text),)
    assert as_part.parts == (TextPart(text=text), TextPart(text=""))


@pytest.mark.parametrize("empty", [[], "", None])
def test_an_empty_message_is_an_empty_turn(read: Any, empty: object) -> None:
    events = read.events([user("hi"), {"role": "assistant", "content": empty}, user("still there?")])
    assert events[1] == TurnRecorded(turn=2, role="assistant", parts=())


def test_an_inline_image_becomes_an_artifact_before_its_turn(read: Any) -> None:
    url = "data:image/png;base64," + base64.b64encode(PIXEL).decode()
    image = {"type": "image_url", "image_url": {"url": url, "detail": "high"}}
    conversations, _ = read.all([user([{"type": "text", "text": "what is wrong?"}, image]), user([image])])
    sha256 = hashlib.sha256(PIXEL).hexdigest()
    stored, first, second = conversations[0].events
    assert stored == ArtifactStored(sha256=sha256, size_bytes=len(PIXEL), media_type="image/png")
    assert first.parts[1] == ImagePart(sha256=sha256, media_type="image/png", size_bytes=len(PIXEL))
    assert second.parts == (first.parts[1],)
    assert conversations[0].artifacts == {sha256: PIXEL}


@pytest.mark.parametrize("url", ["data:image/png;base64,AAA", "data:image/png;base64,AA\nAA", "data:image/png,%89", "data:"])
def test_an_inline_image_that_cannot_be_written_again_alike_stays_raw(read: Any, url: str) -> None:
    part = {"type": "image_url", "image_url": {"url": url}}
    [turn] = read.events([user([part])])
    assert turn.parts[0].block == "image_url"
    assert turn.parts[0].raw.value == part


def test_a_linked_image_keeps_its_url(read: Any) -> None:
    [turn] = read.events([user([{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}])])
    assert turn.parts == (ImagePart(url="https://example.org/a.png"),)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "refusal", "refusal": "no"},
        {"type": "brand_new", "x": 1},
        {"no": "type"},
    ],
)
def test_a_block_that_nobody_knows_is_kept_byte_for_byte(read: Any, block: dict[str, object]) -> None:
    source = json.dumps(block, indent=3)
    [turn] = read.events(f'{{"role":"user","content":[{{"type":"text","text":"see"}},{source}]}}', format="openai")
    kept = turn.parts[1]
    assert isinstance(kept, OpaquePart)
    assert (kept.provider, kept.block, kept.raw) == ("openai", block.get("type", "unknown"), source)


def test_custom_calls_and_second_calls_of_one_id_stay_raw(read: Any) -> None:
    custom = {"id": "k", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    message = calls(("c", "one", "{}"), ("c", "two", "{}"))
    message["tool_calls"] += [custom]  # type: ignore[operator]
    turn = read.events([user("go"), message])[1]
    assert [part.type for part in turn.parts] == ["tool_call", "opaque", "opaque"]
    assert [part.block for part in turn.parts[1:]] == ["function", "custom"]
    assert turn.parts[1].raw.value["function"]["name"] == "two"
    assert turn.parts[2].raw.value == custom


def test_the_same_call_id_in_a_later_turn_is_another_call(read: Any) -> None:
    events = read.events(
        [user("go"), calls(("c", "t", "{}")), calls(("c", "t", "{}")), returned("c", "2nd"), returned("c", "1st")]
    )
    assert [(event.turn, event.parts[0].text) for event in events[3:]] == [(3, "2nd"), (2, "1st")]


def test_returns_that_no_call_waits_for_are_orphans(read: Any) -> None:
    events = read.events([user("go"), calls(("c", "t", "{}")), returned("c", "1"), returned("c", "2"), returned("zz", "3")])
    assert [(event.call_id, event.turn, event.orphan) for event in events[2:]] == [
        ("c", 2, False),
        ("c", 2, True),
        ("zz", None, True),
    ]


def test_the_old_form_of_calls_is_paired_by_name(read: Any) -> None:
    call = {"name": "rate", "arguments": '{"x":1}'}
    events = read.events(
        [
            user("go"),
            {"role": "assistant", "content": None, "function_call": call},
            {"role": "function", "name": "rate", "content": "80"},
        ]
    )
    assert events[1].parts == (ToolCallPart(call_id="function_call_2", tool="rate", arguments=JsonText('{"x":1}')),)
    assert events[2] == ToolReturned(turn=2, call_id="function_call_2", parts=(TextPart(text="80"),), tool="rate")


def test_calls_and_returns_without_ids_are_paired_in_order(read: Any) -> None:
    function = {"function": {"name": "t", "arguments": {}}}
    events = read.events(
        [
            user("go"),
            {"role": "assistant", "content": "", "tool_calls": [function, function]},
            {"role": "tool", "content": "first"},
            {"role": "tool", "content": "second"},
            {"role": "tool", "content": "third"},
        ]
    )
    assert [(event.call_id, event.orphan) for event in events[2:]] == [
        ("call_2_0", False),
        ("call_2_1", False),
        ("no-call-id", True),
    ]


def test_reasoning_and_members_that_nobody_knows_are_kept(read: Any) -> None:
    message = (
        '{"role":"assistant","content":"4","reasoning_content":"2 \\u002b 2", "refusal":null,'
        '"annotations":[],"logprobs":{"a": 1.0}, "name":"calc"}'
    )
    turn = read.events(f'[{{"role":"user","content":"2+2"}},{message}]')[1]
    assert turn.name == "calc"
    assert turn.parts == (
        ReasoningPart(provider="openai", raw=JsonText('"2 \\u002b 2"')),
        TextPart(text="4"),
        OpaquePart(provider="openai", block="message.logprobs", raw=JsonText('{"a": 1.0}')),
    )


def test_what_a_message_says_of_itself_is_recorded(read: Any) -> None:
    said = {
        "id": "msg_7",
        "model": "gpt-x-mini",
        "usage": {"prompt_tokens": 11, "completion_tokens": 3},
        "timestamp": "2031-05-01T10:00:00Z",
    }
    turn = read.events([user("hi"), {"role": "assistant", "content": "ho", **said}])[1]
    assert (turn.external_id, turn.model, turn.parts) == ("msg_7", "gpt-x-mini", (TextPart(text="ho"),))
    assert (turn.usage.input_tokens, turn.usage.output_tokens) == (11, 3)
    assert turn.said_at == datetime(2031, 5, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize("time", ["2031-05-01T10:00:00", "0001-01-01T00:00:00+05:30", "9999-12-31T23:59:59-12:00", "now"])
def test_a_time_that_cannot_be_placed_is_kept_raw(read: Any, time: str) -> None:
    [turn] = read.events([user("hi", timestamp=time)])
    assert turn.said_at is None
    assert turn.parts[1].block == "message.timestamp"


def test_the_model_of_a_request_is_that_of_its_assistant_turns_only(read: Any) -> None:
    body = {"model": "gpt-x", "messages": [user("hi"), {"role": "assistant", "content": "ho"}, user("?")]}
    assert [event.model for event in read.events(body)] == [None, "gpt-x", None]


def test_a_structured_result_is_kept_as_json(read: Any) -> None:
    text = json.dumps([user("go"), calls(("c", "t", "{}"))])[:-1] + ',{"role":"tool","tool_call_id":"c","content":{"n":1.0}}]'
    assert read.events(text)[2].parts == (JsonPart(value=JsonText('{"n":1.0}')),)


def test_an_unknown_role_is_reported_and_the_rest_imported(read: Any) -> None:
    conversations, skipped = read.all(
        '[{"role":"user","content":"a"},\n{"role":"critic","content":"b"},\n{"role":"user","content":"c"}]'
    )
    assert [event.turn for event in conversations[0].events] == [1, 2]
    assert [(skip.line, "critic" in skip.reason) for skip in skipped] == [(2, True)]


def test_ids_that_share_a_beginning_stay_apart(read: Any) -> None:
    events = read.events(
        [
            user("go"),
            calls(("call_77|fc_1", "t", "{}"), ("call_77|fc_2", "t", "{}")),
            returned("call_77|fc_2", "two"),
            returned("call_77|fc_1", "one"),
        ]
    )
    assert [part.call_id for part in events[1].parts] == ["call_77|fc_1", "call_77|fc_2"]
    assert [(event.call_id, event.orphan) for event in events[2:]] == [
        ("call_77|fc_2", False),
        ("call_77|fc_1", False),
    ]


def test_names_that_the_ledger_cannot_hold_are_kept_raw(read: Any) -> None:
    long = "x" * 600
    events = read.events([user("go"), calls((long, "t", "{}"), ("c", "", "{}")), returned(long, "r")])
    assert [part.type for part in events[1].parts] == ["opaque", "opaque"]
    assert events[2].orphan
    assert events[2].parts[1] == OpaquePart(provider="openai", block="message.tool_call_id", raw=JsonText(f'"{long}"'))
