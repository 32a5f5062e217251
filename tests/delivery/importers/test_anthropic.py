"""Anthropic messages become events."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest

from ledger import JsonText
from ledger.events import ArtifactStored, ToolReturned, TurnRecorded
from ledger.parts import DocumentPart, ImagePart, OpaquePart, ReasoningPart, TextPart, ToolCallPart, Unparsed

PDF = b"%PDF-1.7 not really"
THINKING = '{"type":"thinking",  "thinking":"two\\u0020steps","signature":"EqQB/+=="}'


def text(said: str) -> dict[str, str]:
    """A text block."""
    return {"type": "text", "text": said}


def use(call_id: str, tool: str = "t") -> dict[str, object]:
    """A tool_use block."""
    return {"type": "tool_use", "id": call_id, "name": tool, "input": {"n": 1}}


def result(call_id: str, *content: object, **more: object) -> dict[str, object]:
    """A tool_result block, with or without content."""
    block: dict[str, object] = {"type": "tool_result", "tool_use_id": call_id, **more}
    return block | {"content": content[0]} if content else block


def user(*blocks: object) -> dict[str, object]:
    """A user message of blocks."""
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: object) -> dict[str, object]:
    """An assistant message of blocks."""
    return {"role": "assistant", "content": list(blocks)}


def sourced(kind: str, **source: str) -> dict[str, object]:
    """An image or document block."""
    return {"type": kind, "source": source}


def test_system_text_stands_before_the_messages(read: Any) -> None:
    for system in ("Be brief.", [text("Be brief.") | {"cache_control": {"type": "ephemeral"}}]):
        events = read.events({"system": system, "messages": [{"role": "user", "content": "hi"}]})
        assert events == (
            TurnRecorded(role="system", parts=(TextPart(text="Be brief."),)),
            TurnRecorded(turn=1, role="user", parts=(TextPart(text="hi"),)),
        )


def test_a_system_message_among_the_messages_is_system_text(read: Any) -> None:
    addition = {"type": "tool_addition", "tool": {"name": "look"}}
    events = read.events([user(text("go")), assistant(use("a")), {"role": "system", "content": [addition]}])
    assert events[2].role == "system"
    assert events[2].turn is None
    assert events[2].parts == (OpaquePart(provider="anthropic", block="tool_addition", raw=JsonText(json.dumps(addition))),)


def test_results_are_returns_and_only_other_blocks_make_a_turn(read: Any) -> None:
    events = read.events(
        [
            user(text("go")),
            assistant(text("looking"), use("a"), use("b")),
            user(result("b", "two", is_error=True), result("a", [text("one"), text("more")])),
            assistant(use("c")),
            user(result("c"), text("go on")),
        ]
    )
    assert events[2:4] == (
        ToolReturned(turn=2, call_id="b", parts=(TextPart(text="two"),), is_error=True),
        ToolReturned(turn=2, call_id="a", parts=(TextPart(text="one"), TextPart(text="more"))),
    )
    assert events[5:] == (
        ToolReturned(turn=3, call_id="c", parts=()),
        TurnRecorded(turn=4, role="user", parts=(TextPart(text="go on"),)),
    )


def test_the_same_text_from_a_string_and_a_block_and_a_result_beside_it(read: Any) -> None:
    events = read.events(
        [
            {"role": "user", "content": "list the depots"},
            user(text("list the depots")),
            assistant(use("a")),
            user(result("a", "North"), text("and South?")),
        ]
    )
    assert events[0].parts == events[1].parts
    assert [type(event).__name__ for event in events[3:]] == ["ToolReturned", "TurnRecorded"]


def test_reasoning_is_kept_byte_for_byte_and_in_order(read: Any) -> None:
    redacted = '{"type":"redacted_thinking","data":"a\\/b"}'
    source = (
        '[{"role":"user","content":"go"},{"role":"assistant","content":['
        f'{THINKING},{redacted},{{"type":"text","text":"now"}},'
        '{"type":"tool_use","id":"t1","name":"scan","input":{ "z": 1.0 , "a": 12345678901234567890 }}]},'
        '{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}]'
    )
    assert read.events(source)[1].parts == (
        ReasoningPart(provider="anthropic", raw=JsonText(THINKING)),
        ReasoningPart(provider="anthropic", raw=JsonText(redacted)),
        TextPart(text="now"),
        ToolCallPart(call_id="t1", tool="scan", arguments=JsonText('{ "z": 1.0 , "a": 12345678901234567890 }')),
    )


def test_inline_bytes_become_artifacts_before_what_refers_to_them(read: Any) -> None:
    encoded = base64.b64encode(PDF).decode()
    document = sourced("document", type="base64", media_type="application/pdf", data=encoded) | {"title": "rates"}
    image = sourced("image", type="base64", media_type="image/png", data=encoded)
    conversations, skipped = read.all([user(text("read"), document), assistant(use("a")), user(result("a", [image]))])
    sha256 = hashlib.sha256(PDF).hexdigest()
    stored, asked, _called, answered = conversations[0].events
    assert skipped == []
    assert stored == ArtifactStored(sha256=sha256, size_bytes=len(PDF), media_type="application/pdf", name="rates")
    assert asked.parts[1] == DocumentPart(sha256=sha256, media_type="application/pdf", size_bytes=len(PDF), name="rates")
    assert answered.parts == (ImagePart(sha256=sha256, media_type="image/png", size_bytes=len(PDF)),)
    assert conversations[0].artifacts == {sha256: PDF}


def test_linked_and_written_documents(read: Any) -> None:
    linked = sourced("document", type="url", url="https://example.org/a.pdf")
    written = sourced("document", type="text", media_type="text/plain", data="Zürich\u2028")
    conversations, _ = read.all([user(linked, written)])
    data = "Zürich\u2028".encode()
    turn = conversations[0].events[-1]
    assert turn.parts[0] == DocumentPart(url="https://example.org/a.pdf")
    assert conversations[0].artifacts[turn.parts[1].sha256] == data
    assert turn.parts[1].media_type == "text/plain"


@pytest.mark.parametrize(
    "block",
    [
        sourced("image", type="file", file_id="file_1"),
        sourced("image", type="base64", media_type="image/png", data="AAA"),
        sourced("document", type="content", content="x"),
        {"type": "image"},
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        {"type": "citations_delta", "citation": {"n": 1}},
        {"type": "search_result", "content": []},
        {"untyped": True},
    ],
)
def test_a_block_that_nobody_knows_is_kept_byte_for_byte(read: Any, block: dict[str, object]) -> None:
    source = json.dumps(block, indent=1)
    message = f'{{"role":"user","content":[{{"type":"text","text":"see"}},{source}]}}'
    [turn] = read.events(message, format="anthropic")
    assert turn.parts == (
        TextPart(text="see"),
        OpaquePart(provider="anthropic", block=str(block.get("type", "unknown")), raw=JsonText(source)),
    )


def test_members_of_known_blocks_that_nobody_knows_stay_beside_them(read: Any) -> None:
    said = text("as the page says") | {"citations": [{"cited_text": "x"}], "cache_control": {"type": "e"}}
    called = use("a") | {"caller": {"type": "direct"}}
    turn = read.events([user(text("go")), assistant(said, called)])[1]
    assert [(part.type, getattr(part, "block", None)) for part in turn.parts] == [
        ("text", None),
        ("opaque", "text.citations"),
        ("tool_call", None),
        ("opaque", "tool_use.caller"),
    ]
    assert turn.parts[1].raw == '[{"cited_text": "x"}]'


def test_a_second_call_of_one_id_and_a_call_with_a_double_key_are_kept(read: Any) -> None:
    doubled = '{"type":"tool_use","id":"b","name":"t","input":{"x":1,"x":2}}'
    blocks = f"{json.dumps(use('a'))},{json.dumps(use('a', 'u'))},{doubled}"
    source = f'[{{"role":"user","content":"go"}},{{"role":"assistant","content":[{blocks}]}}]'
    first, second, third = read.events(source)[1].parts
    assert (first.call_id, first.tool) == ("a", "t")
    assert (second.block, second.raw.value["name"]) == ("tool_use", "u")
    assert third.arguments == Unparsed(unparsed='{"x":1,"x":2}')


def test_a_block_in_which_a_key_stands_twice_is_kept_as_its_text(read: Any) -> None:
    block = '{"type":"odd","type":"odder"}'
    turn = read.events(f'[{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"x"}},{block}]}}]')[1]
    assert turn.parts == (OpaquePart(provider="anthropic", block="unparsed", raw=JsonText.of(block)),)


def test_late_and_orphan_results(read: Any) -> None:
    events = read.events(
        [user(text("go")), assistant(use("a")), user(text("wait")), user(result("a", "late"), result("zz", "?"))]
    )
    assert [(event.call_id, event.turn, event.orphan) for event in events[3:]] == [
        ("a", 2, False),
        ("zz", None, True),
    ]


def test_a_response_that_became_a_message(read: Any) -> None:
    usage = {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 0}
    response = assistant(text("ho")) | {
        "id": "msg_1",
        "type": "message",
        "model": "claude-x",
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": usage,
    }
    turn = read.events([user(text("hi")), response], format="anthropic")[1]
    assert (turn.external_id, turn.model, turn.usage.output_tokens) == ("msg_1", "claude-x", 7)
    assert turn.usage.raw.value == usage
    assert turn.parts[1] == OpaquePart(provider="anthropic", block="message.stop_reason", raw=JsonText('"end_turn"'))


@pytest.mark.parametrize("empty", [[], "", None])
def test_an_empty_message_is_an_empty_turn(read: Any, empty: object) -> None:
    message = {"role": "assistant", "content": empty}
    events = read.events([user(text("hi")), message, user(text("?"))], format="anthropic")
    assert events[1] == TurnRecorded(turn=2, role="assistant", parts=())


def test_what_a_message_of_results_alone_says_of_itself_is_not_lost(read: Any) -> None:
    message = user(result("a", "1")) | {"id": "m3", "note": "kept"}
    answered = read.events([user(text("go")), assistant(use("a")), message])[2]
    assert answered.external_id == "m3"
    assert answered.parts[1].raw == '"kept"'
