"""Messages of LangChain, flat and wrapped, and states of LangGraph threads."""

from __future__ import annotations

from typing import Any

import pytest

from delivery.importers.importing import import_file
from ledger import Ledgers
from ledger.events import Event, ToolReturned, TurnRecorded
from ledger.parts import OpaquePart, ReasoningPart, TextPart, ToolCallPart, Unparsed
from tests.delivery.importers.agent_files import said_by
from tests.delivery.importers.conftest import Read, Write

CALL = {"name": "search", "args": {"q": "béans", "n": 1.50}, "id": "c_1", "type": "tool_call"}
HUMAN = {"type": "human", "content": "how many beans?", "id": "h"}
AI = {
    "type": "ai",
    "content": "I look",
    "tool_calls": [CALL],
    "id": "a",
    "usage_metadata": {"input_tokens": 5, "output_tokens": 2},
}
TOOL = {"type": "tool", "content": "42", "tool_call_id": "c_1", "name": "search", "status": "success"}
SAID = [("user", "how many beans?"), ("assistant", "I look"), ("return", "42")]


def constructed(message: dict[str, Any]) -> dict[str, Any]:
    """The message as LangChain serialises an object."""
    names = {"human": "HumanMessage", "ai": "AIMessageChunk", "tool": "ToolMessage"}
    kwargs = {name: value for name, value in message.items() if name != "type"}
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", names[message["type"]]], "kwargs": kwargs}


def state(*messages: dict[str, Any], thread: str = "t_1") -> dict[str, Any]:
    """The state of a thread."""
    return {"values": {"messages": list(messages), "todos": ["count"]}, "metadata": {"thread_id": thread, "step": 3}}


def calls(events: tuple[Event, ...]) -> list[ToolCallPart]:
    """All calls."""
    return [p for event in events if isinstance(event, TurnRecorded) for p in event.parts if isinstance(p, ToolCallPart)]


@pytest.mark.parametrize(
    "document",
    [
        [HUMAN, AI, TOOL],
        {"messages": [HUMAN, AI, TOOL]},
        [{"type": message["type"], "data": message} for message in (HUMAN, AI, TOOL)],
        [constructed(message) for message in (HUMAN, AI, TOOL)],
        {"channel_values": {"messages": [HUMAN, AI, TOOL]}},
        state(HUMAN, AI, TOOL),
        {"state": state(HUMAN, AI, TOOL)},
    ],
    ids=["list", "object", "data", "constructor", "checkpoint", "thread", "inside"],
)
def test_every_way_of_writing_them_says_the_same(document: Any, read: Read) -> None:
    [conversation], skipped = read.all(document)
    assert skipped == []
    assert said_by(conversation.events) == SAID
    [call] = calls(conversation.events)
    assert (call.call_id, call.tool, call.arguments) == ("c_1", "search", '{"q": "béans", "n": 1.5}')
    turn, returned = conversation.events[1:]
    assert isinstance(turn, TurnRecorded)
    assert isinstance(returned, ToolReturned)
    assert (turn.external_id, turn.usage and turn.usage.output_tokens) == ("a", 2)
    assert (returned.turn, returned.tool, returned.is_error, returned.orphan) == (2, "search", False, False)


def test_a_thread_names_its_ledger_and_grows(store: Ledgers, write: Write) -> None:
    assert import_file(store, write(state(HUMAN))).ledgers == ["t_1"]
    assert import_file(store, write(state(HUMAN, AI, TOOL))).events == 2
    assert import_file(store, write(state(HUMAN, AI, TOOL))).events == 0


def test_of_several_states_of_a_thread_the_longest_is_read(store: Ledgers, write: Write) -> None:
    """A history of states is written with the newest first."""
    states = [state(HUMAN, AI, TOOL), state(HUMAN, AI), state(HUMAN), state(HUMAN, thread="t_2")]
    result = import_file(store, write(states))
    assert result.ledgers == ["t_1", "t_2"]
    assert result.events == 4
    assert result.left_out["earlier state of a thread"] == 2
    assert result.left_out["member todos"] == 2


def test_reasoning_and_calls_inside_the_content_are_told_once(read: Read) -> None:
    blocks = [
        {"type": "thinking", "thinking": "so many", "signature": "s=="},
        {"type": "text", "text": "I look"},
        {"type": "tool_use", "id": "c_1", "name": "search", "input": {}},
        {"type": "server_thing", "x": 1},
    ]
    answer = AI | {
        "content": blocks,
        "additional_kwargs": {"reasoning_content": "hm", "tool_calls": [{"id": "c_1"}], "extra": 1},
    }
    events = read.events([HUMAN, answer])
    turn = events[1]
    assert isinstance(turn, TurnRecorded)
    assert [part.type for part in turn.parts] == ["reasoning", "reasoning", "text", "opaque", "tool_call", "opaque"]
    assert [part.provider for part in turn.parts if isinstance(part, ReasoningPart)] == ["openai", "anthropic"]
    assert [part.block for part in turn.parts if isinstance(part, OpaquePart)] == ["server_thing", "additional_kwargs.extra"]


def test_a_call_that_could_not_be_parsed_keeps_its_text(read: Read) -> None:
    broken = {"name": "search", "args": '{"q": ', "id": "c_2", "error": "no JSON", "type": "invalid_tool_call"}
    [call] = calls(read.events([HUMAN, {"type": "ai", "content": "", "tool_calls": [], "invalid_tool_calls": [broken]}]))
    assert call.arguments == Unparsed(unparsed='{"q": ')


def test_a_call_without_an_id_is_answered_by_its_tool(read: Read) -> None:
    events = read.events([HUMAN, AI | {"tool_calls": [CALL | {"id": None}]}, TOOL | {"tool_call_id": None}])
    assert isinstance(events[2], ToolReturned)
    assert (events[2].turn, events[2].orphan) == (2, False)


def test_a_tool_that_failed_is_an_error_and_its_artifact_is_kept(read: Read) -> None:
    events = read.events([HUMAN, AI, TOOL | {"status": "error", "artifact": {"rows": [1]}}])
    assert isinstance(events[2], ToolReturned)
    assert events[2].is_error
    assert [part.type for part in events[2].parts] == ["text", "opaque"]


def test_a_chat_message_has_a_role_of_its_own(read: Read) -> None:
    messages = [
        HUMAN,
        {"type": "chat", "role": "assistant", "content": "yes"},
        {"type": "chat", "role": "critic", "content": "no"},
    ]
    [conversation], [critic] = read.all(messages)
    assert said_by(conversation.events)[1:] == [("assistant", "yes")]
    assert "unknown role 'critic' at $[2]" in critic.reason


def test_what_is_no_message_is_reported_and_a_removal_counted(store: Ledgers, write: Write) -> None:
    odd = [HUMAN, {"type": "weather", "content": "rain"}, {"type": "remove", "content": "", "id": "h"}, AI]
    result = import_file(store, write(odd))
    assert result.events == 2
    assert result.left_out == {"message of type remove": 1}
    assert any("no message of LangChain at $[1]" in skipped.reason for skipped in result.skipped)


def test_text_is_kept_byte_for_byte(read: Read) -> None:
    text = "a\u2028b\r\n\ttrailing \x00 \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")
    [turn] = read.events([{"type": "human", "content": [{"type": "text", "text": text}]}])
    assert isinstance(turn, TurnRecorded)
    assert turn.parts == (TextPart(text=text),)
