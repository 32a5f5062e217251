"""Trajectories of SWE-agent and mini-swe-agent: what a shell prints is what a call returned."""

from __future__ import annotations

from typing import Any

from ledger.events import ToolReturned, TurnRecorded
from ledger.parts import ToolCallPart
from tests.delivery.importers.agent_files import said_by
from tests.delivery.importers.conftest import Read


def said(role: str, content: str, **members: Any) -> dict[str, Any]:
    """A message of SWE-agent."""
    return {"role": role, "content": content, "agent": "main", **members}


START = [
    said("system", "be brief", message_type="system_prompt"),
    said("user", "how many beans?", message_type="observation"),
    said("assistant", "let me see\n```\nwc beans\n```", thought="let me see\n", action="wc beans\n"),
]


def calls(turn: object) -> list[tuple[str, str]]:
    """The tools that a turn calls, with their arguments."""
    assert isinstance(turn, TurnRecorded)
    return [(part.tool, str(part.arguments)) for part in turn.parts if isinstance(part, ToolCallPart)]


def test_an_action_is_a_call_and_the_next_message_its_return(read: Read) -> None:
    events = read.events({"history": [*START, said("user", "42 beans\n(Open file: n/a)")]})
    assert calls(events[2]) == [("shell", '{"command": "wc beans\\n"}')]
    [returned] = [event for event in events if isinstance(event, ToolReturned)]
    assert (returned.turn, returned.orphan) == (2, False)
    assert said_by(events)[2:] == [("assistant", START[2]["content"]), ("return", "42 beans\n(Open file: n/a)")]


def test_calls_that_the_model_wrote_keep_their_ids_and_arguments(read: Read) -> None:
    call = {"id": "c_1", "type": "function", "function": {"name": "open", "arguments": '{"path" : "a"}'}}
    action = said("assistant", "look", thought="look", action='open "a"', tool_calls=[call])
    events = read.events({"history": [START[1], action, said("tool", "text", tool_call_ids=["c_1"])]})
    assert calls(events[1]) == [("open", '{"path" : "a"}')]
    assert isinstance(events[2], ToolReturned)
    assert (events[2].call_id, events[2].orphan) == ("c_1", False)


def test_nothing_is_the_users_word_once_the_agent_acts(read: Read) -> None:
    no_action = said("assistant", "hm", thought="hm", action="")
    events = read.events({"history": [*START[:2], no_action, said("user", "Your output could not be parsed")]})
    assert said_by(events)[-1] == ("return", "Your output could not be parsed")
    assert isinstance(events[-1], ToolReturned)
    assert events[-1].orphan


def test_a_demonstration_is_system_text(read: Read) -> None:
    demo = [said("user", "a demonstration", is_demo=True), said("assistant", "as shown", action="ls", is_demo=True)]
    events = read.events({"history": [START[0], *demo, *START[1:]]})
    assert [role for role, _text in said_by(events)] == ["system", "system", "system", "user", "assistant"]


def test_what_the_last_action_showed_is_taken_from_the_last_step_of_a_run_that_ended(read: Read) -> None:
    steps = [{"action": "wc beans\n", "observation": "42", "response": "…", "thought": "…"}]
    still_running, _ = read.all({"history": START, "trajectory": steps, "info": {}})
    ended, _ = read.all({"history": START, "trajectory": steps, "info": {"exit_status": "submitted"}})
    assert said_by(still_running[0].events) == said_by(ended[0].events)[:-1]
    assert said_by(ended[0].events)[-1] == ("return", "42")


def test_steps_without_a_history_are_turns_and_returns(read: Read) -> None:
    steps = [
        {"action": "ls", "observation": "a b", "response": "list\n```\nls\n```"},
        {"action": "", "observation": "", "response": "done"},
    ]
    events = read.events({"trajectory": steps})
    assert said_by(events) == [("assistant", "list\n```\nls\n```"), ("return", "a b"), ("assistant", "done")]


MINI = [
    {"role": "system", "content": "one block"},
    {"role": "user", "content": "how many beans?"},
    {"role": "assistant", "content": "THOUGHT: count\n\n```mswea_bash_command\nwc beans\n```"},
    {"role": "user", "content": "<returncode>2</returncode>\n<output>\nno beans\n</output>"},
]


def test_a_single_fenced_block_is_a_call_of_bash(read: Read) -> None:
    events = read.events(MINI)
    assert calls(events[2]) == [("bash", '{"command":"wc beans"}')]
    assert said_by(events) == [
        (role, text) for role, text in zip(["system", "user", "assistant", "return"], [m["content"] for m in MINI], strict=True)
    ]
    assert isinstance(events[3], ToolReturned)
    assert (events[3].turn, events[3].is_error, events[3].orphan) == (2, True, False)


def test_a_message_without_a_single_block_calls_nothing(read: Read) -> None:
    twice = {"role": "assistant", "content": "```mswea_bash_command\nls\n```\n```mswea_bash_command\nls\n```"}
    events = read.events([*MINI, twice, {"role": "user", "content": "Please give exactly one action"}])
    assert calls(events[4]) == []
    assert isinstance(events[5], ToolReturned)
    assert events[5].orphan


def test_a_trajectory_that_says_its_format_may_call_tools(read: Read) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}
    messages = [
        MINI[1],
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "a"},
    ]
    [conversation], skipped = read.all(
        {"trajectory_format": "mini-swe-agent-1.1", "info": {"exit_status": "Submitted"}, "messages": messages}
    )
    assert skipped == []
    assert said_by(conversation.events) == [("user", "how many beans?"), ("assistant", ""), ("return", "a")]


def test_ordinary_messages_with_bash_in_them_are_no_trajectory(read: Read) -> None:
    """Somebody who pastes what a shell printed has said so."""
    messages = [
        MINI[1],
        {"role": "assistant", "content": "Run\n```bash\nwc beans\n```"},
        {"role": "user", "content": "it prints 42"},
    ]
    assert said_by(read.events(messages))[-1] == ("user", "it prints 42")


def test_an_observation_answers_no_call_of_an_earlier_turn(read: Read) -> None:
    """Models use one id again, and a call of a turn before may never have been answered."""
    call = {"id": "c_1", "type": "function", "function": {"name": "open", "arguments": "{}"}}
    action = said("assistant", "look", thought="look", action="open", tool_calls=[call])
    events = read.events({"history": [START[1], action, action, said("user", "a"), said("user", "b")]})
    returns = [event for event in events if isinstance(event, ToolReturned)]
    assert [(event.turn, event.orphan) for event in returns] == [(3, False), (None, True)]
