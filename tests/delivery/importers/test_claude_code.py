"""Sessions of Claude Code: what the user said, what the tool put there, and what belongs to one message."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from delivery.importers.importing import TranscriptDiverged, import_file
from delivery.importers.recognition import NothingRecognised
from ledger import Ledgers
from ledger.events import Event, ToolReturned, TurnRecorded
from ledger.json_text import JsonText
from ledger.parts import OpaquePart, ReasoningPart, TextPart, ToolCallPart
from tests.delivery.importers.conftest import Held

SESSION = "c0ffee00-1111-4222-8333-444455556666"


class Session:
    """Writes the records of a session, each following the one before unless it is told otherwise."""

    def __init__(self, session: str = SESSION) -> None:
        self.records: list[dict[str, Any]] = []
        self._session = session

    def add(self, kind: str, uuid: str, **members: Any) -> None:
        """A record as it stands in the file."""
        parent = self.records[-1]["uuid"] if self.records else None
        minute = len(self.records)
        given = {"sessionId": self._session, "timestamp": f"2026-03-01T10:{minute:02}:00.500Z", "isSidechain": False}
        self.records.append({"type": kind, "uuid": uuid, "parentUuid": parent, **given, **members})

    def user(self, uuid: str, content: Any, **members: Any) -> None:
        """A record of the user's."""
        self.add("user", uuid, message={"role": "user", "content": content}, **members)

    def block(
        self, uuid: str, message: str, block: dict[str, Any], *, usage: Any = None, stop: Any = None, **members: Any
    ) -> None:
        """A record with one block of a message of the assistant's."""
        said = {"id": message, "type": "message", "role": "assistant", "model": "claude-x-1", "content": [block]}
        self.add(
            "assistant", uuid, message={**said, "stop_reason": stop, "usage": usage}, requestId=f"req_{message}", **members
        )

    def text(self, uuid: str, message: str, text: str, **members: Any) -> None:
        """A block of text."""
        self.block(uuid, message, {"type": "text", "text": text}, **members)

    def call(self, uuid: str, message: str, call_id: str, **members: Any) -> None:
        """A block that calls a tool."""
        given = {"command": f"run {call_id}"}
        self.block(uuid, message, {"type": "tool_use", "id": call_id, "name": "Bash", "input": given}, **members)

    def result(self, uuid: str, call_id: str, content: Any = "done", **members: Any) -> None:
        """What a call returned."""
        self.user(uuid, [{"tool_use_id": call_id, "type": "tool_result", "content": content}], **members)

    def __str__(self) -> str:
        return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in self.records)


def told(conversation: Held) -> list[str]:
    """The turns and returns of a conversation in a few words each."""
    return [_in_short(event) for event in conversation.events if isinstance(event, TurnRecorded | ToolReturned)]


def _in_short(event: TurnRecorded | ToolReturned) -> str:
    if isinstance(event, ToolReturned):
        return f"{event.call_id} -> {texts(event)}"
    calls = "".join(f" {part.call_id}()" for part in event.parts if isinstance(part, ToolCallPart))
    return f"{event.name or event.role}: {texts(event)}{calls}"


def texts(event: Event) -> str:
    """The text of a turn or a return."""
    assert isinstance(event, TurnRecorded | ToolReturned)
    return " ".join(part.text for part in event.parts if isinstance(part, TextPart))


def one(read: Any, content: object) -> tuple[Held, list[str]]:
    """The only conversation, and what was reported."""
    [conversation], skipped = read.all(content)
    return conversation, [f"{skip.line}: {skip.reason}" for skip in skipped]


def test_streamed_blocks_are_one_turn_with_the_usage_of_the_last(read: Any) -> None:
    session = Session()
    session.user("u1", "  What is here?\n")
    thought = {"type": "thinking", "thinking": "look \u2028 first", "signature": "EpcD+/=="}
    session.block("a1", "msg_1", thought, usage={"input_tokens": 9, "output_tokens": 1})
    session.text("a2", "msg_1", "I look.", usage={"input_tokens": 9, "output_tokens": 1})
    usage = {"input_tokens": 9, "output_tokens": 41, "cache_read_input_tokens": 12834}
    session.call("a3", "msg_1", "toolu_1", usage=usage, stop="tool_use")
    session.result("u2", "toolu_1", "a.txt")
    conversation, reported = one(read, str(session))
    assert (conversation.source_id, reported) == (SESSION, [])
    prompt, answer, returned = conversation.events
    assert isinstance(prompt, TurnRecorded)
    assert (prompt.turn, prompt.role, texts(prompt), prompt.external_id) == (1, "user", "  What is here?\n", "u1")
    assert prompt.said_at == datetime(2026, 3, 1, 10, 0, 0, 500_000, UTC)
    assert isinstance(answer, TurnRecorded)
    reasoning, text, call = answer.parts
    assert isinstance(reasoning, ReasoningPart)
    assert (reasoning.provider, reasoning.raw) == ("anthropic", json.dumps(thought, ensure_ascii=False))
    assert text == TextPart(text="I look.")
    assert isinstance(call, ToolCallPart)
    assert (call.tool, call.arguments) == ("Bash", '{"command": "run toolu_1"}')
    assert (answer.external_id, answer.model, answer.said_at) == (
        "msg_1",
        "claude-x-1",
        datetime(2026, 3, 1, 10, 1, 0, 500_000, UTC),
    )
    assert answer.usage is not None
    assert (answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.raw) == (9, 41, json.dumps(usage))
    assert isinstance(returned, ToolReturned)
    assert (returned.turn, returned.call_id, returned.orphan, texts(returned)) == (2, "toolu_1", False, "a.txt")


def test_content_may_be_a_text_a_list_or_results_with_text(read: Any) -> None:
    session = Session()
    session.user("u1", "one")
    session.call("a1", "msg_1", "toolu_1")
    session.user(
        "u2",
        [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "out", "is_error": True},
            {"type": "text", "text": "two"},
        ],
    )
    session.user("u3", [{"type": "text", "text": "three"}])
    conversation, _ = one(read, str(session))
    assert told(conversation) == ["user: one", "assistant:  toolu_1()", "toolu_1 -> out", "user: two", "user: three"]
    assert [event.is_error for event in conversation.events if isinstance(event, ToolReturned)] == [True]


def test_what_the_tool_inserts_is_no_word_of_the_users(read: Any) -> None:
    session = Session()
    session.user("u1", "<command-name>/init</command-name>")
    session.user("u2", [{"type": "text", "text": "Please analyse this codebase"}], isMeta=True)
    session.call("a1", "msg_1", "toolu_1")
    session.result("u3", "toolu_1", "The user doesn't want to proceed with this tool use.")
    session.user("u4", [{"type": "text", "text": "[Request interrupted by user for tool use]"}])
    session.user("u5", "<local-command-stdout>Goodbye!</local-command-stdout>")
    session.user("u6", "I was [Request interrupted by user] there")
    conversation, _ = one(read, str(session))
    assert told(conversation) == [
        "user: <command-name>/init</command-name>",
        "inserted: Please analyse this codebase",
        "assistant:  toolu_1()",
        "toolu_1 -> The user doesn't want to proceed with this tool use.",
        "interrupted: [Request interrupted by user for tool use]",
        "inserted: <local-command-stdout>Goodbye!</local-command-stdout>",
        "user: I was [Request interrupted by user] there",
    ]
    users = [event for event in conversation.events if isinstance(event, TurnRecorded) and event.role == "user"]
    assert [user.external_id for user in users] == ["u1", "u6"]


def test_a_compaction_leaves_the_history_and_marks_its_summary(read: Any) -> None:
    session = Session()
    session.user("u1", "Never touch main.c")
    session.text("a1", "msg_1", "I will not.")
    session.add(
        "system", "s1", subtype="compact_boundary", content="Conversation compacted", logicalParentUuid="a1", parentUuid=None
    )
    session.user("u2", "The user asked not to touch main.c.", isCompactSummary=True)
    session.user("u3", "Go on.")
    conversation, _ = one(read, str(session))
    assert told(conversation) == [
        "user: Never touch main.c",
        "assistant: I will not.",
        "compact_summary: The user asked not to touch main.c.",
        "user: Go on.",
    ]


def test_a_prompt_that_waited_is_the_users(read: Any) -> None:
    session = Session()
    session.user("u1", "start")
    session.add("attachment", "q1", attachment={"type": "queued_command", "prompt": "and use conda", "commandMode": "prompt"})
    waiting = {
        "type": "queued_command",
        "prompt": "<task-notification>b1</task-notification>",
        "commandMode": "task-notification",
    }
    session.add("attachment", "q2", attachment=waiting)
    session.text("a1", "msg_1", "done")
    conversation, _ = one(read, str(session))
    assert told(conversation) == [
        "user: start",
        "user: and use conda",
        "inserted: <task-notification>b1</task-notification>",
        "assistant: done",
    ]


def test_an_error_of_the_provider_is_marked(read: Any) -> None:
    session = Session()
    session.user("u1", "hi")
    said = {"id": "e-1", "role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 529"}]}
    session.add("assistant", "a1", message=said, isApiErrorMessage=True)
    conversation, _ = one(read, str(session))
    assert told(conversation) == ["user: hi", "inserted: API Error: 529"]


def test_other_records_are_counted_by_their_type(write: Any, store: Ledgers) -> None:
    session = Session()
    session.user("u1", "hi")
    for number in range(3):
        session.add("system", f"s{number}", subtype="stop_hook_summary")
    session.add("progress", "p1", data={"type": "hook_progress"})
    session.text("a1", "msg_1", "hello", newMember={"x": 1})
    session.records.append({"type": "brand-new", "payload": 1})
    result = import_file(store, write(str(session)))
    assert result.left_out == {
        "a record of type system/stop_hook_summary": 3,
        "a record of type progress": 1,
        "a record of type brand-new": 1,
        "the member newMember of a record": 1,
    }
    assert [(skip.line, "brand-new" in skip.reason) for skip in result.skipped] == [
        (2, False),
        (5, False),
        (6, False),
        (7, True),
    ]
    assert result.events == 2


def test_what_is_no_record_is_reported_by_its_line_and_the_rest_is_told(read: Any) -> None:
    session = Session()
    session.user("u1", "one")
    session.add("user", "u2", message="error")
    session.user("u3", "two")
    broken = f'{session}"a text"\n42\n{{"silly": "this"}}\n{{"type":"user","mess'
    conversation, reported = one(read, broken)
    assert told(conversation) == ["user: one", "user: two"]
    by_line = {int(report.partition(":")[0]): report for report in reported}
    assert sorted(by_line) == [2, 3, 4, 5, 6, 7]
    assert "whose message has no content" in by_line[2]
    assert "'u2' is not in the file" in by_line[3]
    assert "no record, but a JSON string" in by_line[4]
    assert "no record, but a JSON number" in by_line[5]
    assert "without a type" in by_line[6]
    assert "torn" in by_line[7]


def test_unknown_blocks_are_kept_raw(read: Any) -> None:
    session = Session()
    block = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "ü"}}
    session.user("u1", ["a bare text", {"type": "container_upload", "file_id": "f"}])
    session.block("a1", "msg_1", block, stop="end_turn")
    conversation, _ = one(read, str(session))
    parts = [part for event in conversation.events if isinstance(event, TurnRecorded) for part in event.parts]
    assert [(part.block, part.raw) for part in parts if isinstance(part, OpaquePart)] == [
        ("unknown", '"a bare text"'),
        ("container_upload", '{"type": "container_upload", "file_id": "f"}'),
        ("server_tool_use", json.dumps(block, ensure_ascii=False)),
    ]


def test_a_call_by_the_model_itself_is_no_more_than_a_call(read: Any) -> None:
    session = Session()
    session.user("u1", "go")
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"a": 1.50}}
    session.block("a1", "msg_1", {**call, "caller": {"type": "direct"}})
    session.block("a2", "msg_1", {**call, "id": "t2", "caller": {"type": "code_execution"}}, stop="tool_use")
    conversation, _ = one(read, str(session))
    answer = conversation.events[1]
    assert isinstance(answer, TurnRecorded)
    assert [part.type for part in answer.parts] == ["tool_call", "tool_call", "opaque"]
    assert answer.parts[2] == OpaquePart(
        provider="anthropic", block="tool_use.caller", raw=JsonText('{"type": "code_execution"}')
    )


def test_records_without_ids_are_told_in_the_order_of_the_file(read: Any) -> None:
    records = [
        {"type": "user", "timestamp": "2024-01-01T10:00:00Z", "message": {"content": "Fix it"}, "cwd": "/code"},
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}]}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}]}},
        {"type": "user", "message": {"content": "Fix it"}},
    ]
    conversation, reported = one(read, "".join(f"{json.dumps(record)}\n" for record in records))
    assert (conversation.source_id, reported) == (None, [])
    assert told(conversation) == ["user: Fix it", "assistant:  t1()", "t1 -> x", "user: Fix it"]


def test_a_session_may_begin_with_any_number_of_other_records(read: Any) -> None:
    session = Session()
    for number in range(200):
        session.add("attachment", f"h{number}", attachment={"type": "hook_success"})
    session.user("u1", "at last")
    conversation, reported = one(read, f'{{"uuid": "x", "uuid": "y"}}\n{session}')
    assert told(conversation) == ["user: at last"]
    assert len(reported) == 1
    assert reported[0].startswith("1: duplicate key 'uuid'")


def test_a_log_of_hooks_is_no_session(read: Any) -> None:
    with pytest.raises(NothingRecognised, match="claude_code"):
        read.all('{"ts": "2026-01-02T19:11:26Z", "event": "Stop"}\n{"ts": "2026-01-02T19:11:27Z", "event": "Stop"}\n')


def growing() -> Session:
    """A session in which messages have several blocks and calls run side by side."""
    session = Session()
    session.user("u1", "go")
    session.block("a1", "msg_1", {"type": "thinking", "thinking": "hm", "signature": "s"})
    session.call("a2", "msg_1", "t1")
    session.call("a3", "msg_1", "t2")
    session.result("u2", "t2", parentUuid="a3")
    session.result("u3", "t1", parentUuid="a2")
    session.text("a4", "msg_2", "It is done.", parentUuid="u2")
    session.user("u4", "thanks")
    session.text("a5", "msg_3", "Bye.")
    return session


def test_a_session_that_grows_line_by_line_ends_as_the_whole_does(write: Any, store: Ledgers) -> None:
    lines = str(growing()).splitlines(keepends=True)
    appended = [import_file(store, write("".join(lines[:length]))).events for length in range(1, len(lines) + 1)]
    # A message whose calls have not all returned may still grow: it is told with the last of its results.
    assert appended == [1, 0, 0, 0, 0, 3, 1, 1, 1]
    assert import_file(store, write("".join(lines))).events == 0
    whole = import_file(store, write("".join(lines)), ledger="whole")
    assert [item.event for item in store.ledger(SESSION).events()] == [item.event for item in store.ledger("whole").events()]
    assert whole.events == 7


def test_a_message_that_has_not_ended_is_reported(read: Any) -> None:
    session = growing()
    session.records = session.records[:4]
    conversation, reported = one(read, str(session))
    assert told(conversation) == ["user: go"]
    assert reported == ["2: the last message has not ended: it is told when it goes on, or its calls have returned"]
    session.user("u9", "[Request interrupted by user for tool use]")
    conversation, reported = one(read, str(session))
    assert told(conversation)[1:] == ["assistant:  t1() t2()", "interrupted: [Request interrupted by user for tool use]"]


def test_a_text_that_was_told_and_goes_on_is_refused_and_changes_nothing(write: Any, store: Ledgers) -> None:
    session = Session()
    session.user("u1", "go")
    session.text("a1", "msg_1", "I look.")
    assert import_file(store, write(str(session))).events == 2
    session.call("a2", "msg_1", "t1", stop="tool_use")
    with pytest.raises(TranscriptDiverged) as raised:
        import_file(store, write(str(session)))
    assert (raised.value.turn, store.ledger(SESSION).version) == (2, 2)


def test_the_format_can_be_asked_for(write: Any, store: Ledgers, tmp_path: Path) -> None:
    session = Session()
    session.user("u1", "go")
    path = tmp_path / "no-suffix"
    path.write_text(str(session), encoding="utf-8")
    assert import_file(store, path, format="claude_code").ledgers == [SESSION]
    with pytest.raises(NothingRecognised):
        import_file(store, path, format="openai")
