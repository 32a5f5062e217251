"""Files: one JSON value or a value a line, told apart by content, with nothing lost without a word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from delivery.importers import NAMES
from delivery.importers import lines as line_reading
from delivery.importers.reading import TranscriptFile
from delivery.importers.recognition import NothingRecognised
from ledger.errors import InvalidInput

HELLO = {"role": "user", "content": "hello"}
CALL = {"type": "tool_use", "id": "a", "name": "t", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "r"}


def lines(*values: object) -> str:
    """JSONL."""
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def texts(conversation: Any) -> list[str]:
    """The text of every turn and return."""
    return ["".join(part.text for part in event.parts) for event in conversation.events]


@pytest.mark.parametrize(
    "content",
    [
        [HELLO],
        {"messages": [HELLO]},
        {"traj": [HELLO], "reward": 1},
        {"conversation": [HELLO]},
        {"history": [HELLO], "trajectory": [{"action": "x"}]},
        {"body": {"messages": [HELLO], "model": "m"}},
        {"method": "POST", "body": json.dumps({"messages": [HELLO]})},
        [[HELLO]],
        [{"messages": [HELLO]}],
        {"conversations": [{"messages": [HELLO]}]},
        json.dumps({"messages": [HELLO]}, indent=2),
        json.dumps([HELLO], indent=1),
        f"[\n{json.dumps(HELLO)}\n]",
        f'{{"messages": [\n{json.dumps(HELLO)}\n]}}',
        lines(HELLO),
        lines([HELLO]),
        lines({"messages": [HELLO]}),
        f"\n\r\n  {json.dumps(HELLO)}",
        b"\xef\xbb\xbf" + json.dumps([HELLO]).encode(),
        b"\xef\xbb\xbf" + json.dumps(HELLO).encode() + b"\r\n",
    ],
)
def test_a_conversation_is_found_wherever_it_stands(read: Any, content: object) -> None:
    assert [texts(found) for found in read.all(content)[0]] == [["hello"]]


def test_many_conversations_keep_their_order_ids_and_places(read: Any) -> None:
    given = [{"id": "one", "messages": [HELLO]}, {"task_id": 7, "traj": [HELLO]}, {"session_id": 9, "messages": [HELLO]}]
    for content in (given, lines(*given), json.dumps(given, indent=1)):
        conversations, skipped = read.all(content)
        assert [found.source_id for found in conversations] == ["one", None, "9"]
        assert skipped == []
    laid_out, _ = read.all(json.dumps(given, indent=1))
    assert [found.line for found in laid_out] == [2, 11, 20]


def test_messages_line_by_line_are_one_conversation_for_each_id(read: Any) -> None:
    conversations, _ = read.all(lines(HELLO, {"role": "assistant", "content": "hi"}))
    assert [texts(found) for found in conversations] == [["hello", "hi"]]
    mixed = [HELLO | {"session_id": "s1", "content": "a"}, HELLO | {"session_id": "s2"}, HELLO | {"session_id": "s1"}]
    conversations, _ = read.all(lines(*mixed))
    assert [(found.source_id, texts(found)) for found in conversations] == [
        ("s1", ["a", "hello"]),
        ("s2", ["hello"]),
    ]


@pytest.mark.parametrize(
    ("content", "provider"),
    [
        ([HELLO, {"role": "assistant", "content": [CALL]}, {"role": "user", "content": [RESULT]}], "anthropic"),
        ({"system": [{"type": "text", "text": "s"}], "messages": [HELLO | {"x": 1}]}, "anthropic"),
        ({"tools": [{"name": "t", "input_schema": {}}], "messages": [HELLO | {"x": 1}]}, "anthropic"),
        ([{"role": "system", "content": "s"}, HELLO | {"x": 1}], "openai"),
        ([{"role": "developer", "content": "s"}, HELLO | {"x": 1}], "openai"),
        ([HELLO | {"content": [{"type": "input_audio", "input_audio": {}}]}], "openai"),
    ],
)
def test_the_format_is_known_by_its_content(read: Any, content: object, provider: str) -> None:
    found = [
        getattr(part, "provider", None) or ("anthropic" if part.type == "tool_call" else None)
        for event in read.events(content)
        for part in event.parts
    ]
    assert provider in found


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n \n",
        b"[]",
        b"7",
        b'"text"',
        b"{}",
        b'{"messages": []}',
        b"not json at all",
        b"\xff\xfe[\x00",
        lines({"question": "x"}, {"question": "y"}),
        [{"role": "user", "content": [{"text": "a block without a type"}]}],
        [{"from": "human", "value": "x"}],
        [{"role": "critic", "content": "x"}],
    ],
)
def test_nothing_recognised_is_an_error_that_names_the_formats(read: Any, content: object) -> None:
    with pytest.raises(NothingRecognised, match="openai, anthropic") as raised:
        read.all(content)
    assert raised.value.formats == list(NAMES)


def test_a_format_can_be_asked_for(read: Any) -> None:
    untyped = [{"role": "user", "content": [{"text": "x"}]}]
    [turn] = read.events(untyped, format="anthropic")
    assert (turn.parts[0].provider, turn.parts[0].block) == ("anthropic", "unknown")
    with pytest.raises(InvalidInput, match="'openai'"):
        read.all(untyped, format="opnai")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no-such-file"):
        list(TranscriptFile(tmp_path / "no-such-file"))
    with pytest.raises(InvalidInput):
        list(TranscriptFile(tmp_path))


def test_one_broken_json_value_is_refused_with_its_line(read: Any) -> None:
    with pytest.raises(InvalidInput, match="line 4") as raised:
        read.all('[\n {"role": "user", "content": "a"},\n {"role": "user", "content": "b"}\n')
    assert raised.value.line == 4


def test_a_torn_last_line_is_reported_and_the_rest_imported(read: Any) -> None:
    torn = '{"type":"user","mess'
    conversations, skipped = read.all(lines(*[HELLO] * 5) + torn)
    assert len(conversations[0].events) == 5
    assert [skip.line for skip in skipped] == [6]
    assert "torn" in skipped[0].reason
    assert f"{len(torn)} bytes" in skipped[0].reason


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'[{"role":"user","content":"a"},{"role":"user","content":Infinity}]', "Infinity is not JSON (at $[1].content,"),
        (b'[{"role":"user","content":' + b"[" * 300 + b"]" * 300 + b"}]", "JSON nests too deep"),
        (b'[{"role":"user","content":"\xff"}]', "not UTF-8 at byte 27 "),
        (b'{"messages":[]}}', "not JSON at character 15 (line 1)"),
        (b"NaN", "NaN is not JSON (at $,"),
    ],
)
def test_a_whole_last_line_is_not_called_torn(read: Any, line: bytes, reason: str) -> None:
    for content, place in ((line, 0), (lines(HELLO).encode() + line, 1)):
        try:
            skipped = read.all(content)[1]
        except NothingRecognised as error:
            skipped = error.skipped
        assert [skip.line for skip in skipped] == [1 + place]
        assert skipped[0].reason.startswith(reason) or place
        assert "torn" not in skipped[0].reason


@pytest.mark.parametrize("torn", [b'[{"role":"user","content":"\xc3', b'{"role":"user","content":"a]}', b'{"a":NaN,"b":[{}'])
def test_whatever_is_wrong_with_a_torn_line_it_is_called_torn(read: Any, torn: bytes) -> None:
    _, skipped = read.all(lines(HELLO).encode() + torn)
    assert skipped[0].reason.startswith(f"torn, the file ends inside it ({len(torn)} bytes): ")


@pytest.mark.parametrize("broken", ["{", '{"role":', '{"role":"user",', "[1, 2 ", "[", '{"role":"user","cont'])
def test_a_broken_line_has_one_number(read: Any, broken: str) -> None:
    _, skipped = read.all(lines(*[HELLO] * 45) + f"{broken}\n" + lines(HELLO))
    assert [skip.line for skip in skipped] == [46]
    assert "(line 46)" in skipped[0].reason


@pytest.mark.parametrize(
    ("around", "path"),
    [
        ('{{"id":"z","messages":[{0}]}}', "$.messages[0]"),
        ('{{"body":{{"messages":[7,{0}]}}}}', "$.body.messages[1]"),
        ("[[{0}]]", "$[0][0]"),
        ("{0}", "$"),
    ],
)
def test_a_key_that_stands_twice_is_named_with_its_path(read: Any, around: str, path: str) -> None:
    content = around.format('{"role":"user","content":"a","content":"b"}')
    _, skipped = read.all(lines(HELLO) + content)
    assert len(skipped) == 1
    assert skipped[0].reason.startswith("duplicate key 'content'")
    assert f"(at {path})" in skipped[0].reason


def test_a_text_that_is_no_json_keeps_nothing_from_being_known(read: Any) -> None:
    _, skipped = read.all(lines(HELLO, "hello", {"request": "hello"}))
    assert [skip.reason for skip in skipped] == ["$: neither a message nor a conversation"] * 2


def test_a_torn_first_line_is_reported_and_the_rest_imported(read: Any) -> None:
    for torn in ('{"role":"user","cont', '{"role":"user",', '{"role":'):
        conversations, skipped = read.all(f"{torn}\n{lines(HELLO, HELLO)}")
        assert [len(found.events) for found in conversations] == [2]
        assert [skip.line for skip in skipped] == [1]


def test_malformed_lines_are_reported_one_by_one(read: Any) -> None:
    whole = [json.dumps({"id": f"c{number}", "messages": [HELLO]}) for number in range(200)]
    broken = {40: "{", 41: "\x00", 60: whole[60][:-3], 77: "[1, 2", 99: whole[99] + "}", 120: "NaN", 150: '{"id" 1}'}
    content = "\n".join(broken.get(number, line) for number, line in enumerate(whole))
    conversations, skipped = read.all(content)
    assert len(conversations) == 193
    assert [skip.line for skip in skipped] == [number + 1 for number in broken]
    assert all(skip.reason for skip in skipped)


def test_bytes_that_are_not_utf8_cost_their_line_only(read: Any) -> None:
    content = lines(HELLO).encode() + b'{"role":"user","content":"\xff"}\n' + lines(HELLO).encode()
    conversations, skipped = read.all(content)
    assert len(conversations[0].events) == 2
    offset = len(lines(HELLO)) + content[len(lines(HELLO)) :].index(b"\xff")
    assert [(skip.line, f"byte {offset} " in skip.reason) for skip in skipped] == [(2, True)]


def test_only_line_feeds_end_a_line(read: Any) -> None:
    said = "first\u2028second\u2029third\u0085fourth\x1c\x0b\x0c fifth"
    conversations, skipped = read.all(lines({"role": "user", "content": said}, HELLO))
    assert skipped == []
    assert texts(conversations[0]) == [said, "hello"]


def test_a_line_over_the_cap_is_passed_over_without_being_held(read: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_reading, "MAX_LINE_BYTES", 200)
    long = {"role": "user", "content": "x" * 1000}
    conversations, skipped = read.all(lines(HELLO, long, HELLO))
    assert len(conversations[0].events) == 2
    assert [skip.line for skip in skipped] == [2]
    assert "200 bytes" in skipped[0].reason


def test_one_long_line_is_one_value(read: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_reading, "MAX_LINE_BYTES", 200)
    conversations, skipped = read.all([HELLO] * 50)
    assert (len(conversations[0].events), skipped) == (50, [])


def test_a_line_that_is_deeper_than_the_limit_is_reported(read: Any) -> None:
    deep = '{"role":"user","content":' + "[" * 5000 + "]" * 5000 + "}"
    conversations, skipped = read.all(f"{lines(HELLO)}{deep}\n")
    assert len(conversations) == 1
    assert [skip.line for skip in skipped] == [2]


def test_lines_that_are_no_conversation_are_reported(read: Any) -> None:
    conversations, skipped = read.all(lines({"messages": [HELLO]}, {"summary": "x"}, 7, {"messages": []}))
    assert len(conversations) == 1
    assert [skip.line for skip in skipped] == [2, 3, 4]


def test_unknown_blocks_are_kept_and_named(read: Any) -> None:
    blocks = [
        {"type": "text", "text": "see"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}},
        {"type": "server_tool_use", "id": "s", "name": "n", "input": {}},
        {"type": "citations_delta", "citation": {}},
    ]
    events = read.events([{"role": "user", "content": blocks}])
    assert [part.type for part in events[-1].parts] == ["text", "image", "document", "opaque", "opaque"]
    assert [part.block for part in events[-1].parts[3:]] == ["server_tool_use", "citations_delta"]
    assert events[-1].parts[3].raw.value == blocks[3]
