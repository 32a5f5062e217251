"""Runs of OpenHands: actions are turns with calls, observations what they returned."""

from __future__ import annotations

import base64
from typing import Any

from ledger.events import Event, OutcomeRecorded, ToolReturned, TurnRecorded
from ledger.parts import ImagePart, ToolCallPart
from tests.delivery.importers.agent_files import said_by
from tests.delivery.importers.conftest import Read


def asked(text: str, **given: Any) -> dict[str, Any]:
    """A message of the user."""
    return {"id": 0, "source": "user", "action": "message", "args": {"content": text, **given}}


def answer(name: str, text: str, *tools: str) -> dict[str, Any]:
    """The answer of a model that calls tools, each with an id of its name."""
    called = [
        {"id": tool, "type": "function", "function": {"name": "bash", "arguments": f'{{"c": "{tool}"}}'}} for tool in tools
    ]
    message = {"role": "assistant", "content": text, "tool_calls": called}
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    return {"id": name, "model": "some-model", "choices": [{"message": message}], "usage": usage}


def action(number: int, tool: str, response: dict[str, Any] | None) -> dict[str, Any]:
    """An action of the agent that a model's answer led to."""
    metadata = {"function_name": "bash", "tool_call_id": tool, "model_response": response}
    given = {"command": tool, "thought": "I look"}
    return {"id": number, "source": "agent", "action": "run", "args": given, "tool_call_metadata": metadata}


def observed(number: int, cause: int, text: str, **members: Any) -> dict[str, Any]:
    """What an action showed."""
    return {"id": number, "source": "agent", "observation": "run", "cause": cause, "content": text, "extras": {}, **members}


def calls(events: tuple[Event, ...]) -> list[tuple[str, str, str]]:
    """All calls."""
    turns = [event for event in events if isinstance(event, TurnRecorded)]
    return [(p.call_id, p.tool, str(p.arguments)) for turn in turns for p in turn.parts if isinstance(p, ToolCallPart)]


def test_several_actions_of_one_answer_are_one_turn(read: Read) -> None:
    response = answer("r1", "both", "a", "b")
    events = read.events(
        [asked("go"), action(1, "a", response), observed(2, 1, "A"), action(3, "b", response), observed(4, 3, "B")]
    )
    assert said_by(events) == [("user", "go"), ("assistant", "both"), ("return", "A"), ("return", "B")]
    assert calls(events) == [("a", "bash", '{"c": "a"}'), ("b", "bash", '{"c": "b"}')]
    turn, *returns = events[1:]
    assert isinstance(turn, TurnRecorded)
    assert (turn.model, turn.usage and turn.usage.input_tokens, turn.external_id) == ("some-model", 7, "1")
    assert [(event.call_id, event.turn, event.orphan) for event in returns if isinstance(event, ToolReturned)] == [
        ("a", 2, False),
        ("b", 2, False),
    ]


def test_an_action_without_the_models_answer_is_its_own_call(read: Read) -> None:
    events = read.events([asked("go"), action(1, "a", None), observed(2, 1, "A")])
    assert said_by(events) == [("user", "go"), ("assistant", "I look"), ("return", "A")]
    assert calls(events) == [("a", "bash", '{"command": "a"}')]


def test_pairs_of_the_older_form_are_told_one_after_the_other(read: Read) -> None:
    pairs = [
        [{"action": "message", "content": "go", "wait_for_response": False}],
        [{"action": "run", "command": "ls", "thought": "I look"}, {"observation": "run", "content": "a", "exit_code": 0}],
        [{"action": "message", "content": "which one?", "wait_for_response": True}],
        [{"action": "message", "content": "a", "wait_for_response": False}],
        [{"action": "run", "command": "rm a", "thought": ""}, {"observation": "run", "content": "no", "exit_code": 1}],
        [{"action": "finish", "thought": "done", "outputs": {}}],
    ]
    events = read.events({"history": pairs})
    assert said_by(events) == [
        ("user", "go"),
        ("assistant", "I look"),
        ("return", "a"),
        ("assistant", "which one?"),
        ("user", "a"),
        ("assistant", ""),
        ("return", "no"),
        ("assistant", "done"),
    ]
    assert [arguments for _id, _tool, arguments in calls(events)] == ['{"command": "ls"}', '{"command": "rm a"}']
    assert [event.is_error for event in events if isinstance(event, ToolReturned)] == [False, True]


def test_what_failed_is_an_error(read: Read) -> None:
    failures = [observed(2, 1, "no", success=False), observed(2, 1, "no") | {"observation": "error"}]
    for failure in failures:
        events = read.events([asked("go"), action(1, "a", answer("r", "x", "a")), failure])
        assert isinstance(events[-1], ToolReturned)
        assert (events[-1].is_error, events[-1].call_id) == (True, "a")


def test_an_observation_of_something_else_than_a_call_answers_none(read: Read) -> None:
    recall = {"id": 1, "source": "user", "action": "recall", "args": {"query": "go"}}
    seen = observed(2, 1, "workspace") | {"observation": "recall", "source": "environment"}
    state = observed(3, 1, "") | {"observation": "agent_state_changed"}
    [conversation], _ = read.all([asked("go"), recall, seen, state])
    [returned] = [event for event in conversation.events if isinstance(event, ToolReturned)]
    assert (returned.orphan, returned.turn, returned.tool) == (True, None, "recall")


def test_a_picture_is_an_artifact(read: Read) -> None:
    url = "data:image/png;base64," + base64.b64encode(b"\x89PNG").decode()
    events = read.events([asked("see", image_urls=[url, "https://example.org/a.png"])])
    turn = events[-1]
    assert isinstance(turn, TurnRecorded)
    pictures = [part for part in turn.parts if isinstance(part, ImagePart)]
    assert [(part.media_type, part.size_bytes, part.url) for part in pictures] == [
        ("image/png", 4, None),
        (None, None, "https://example.org/a.png"),
    ]


def test_what_a_judge_said_is_the_outcome(read: Read) -> None:
    events = read.events({"history": [asked("go")], "success": True, "result_explanation": "it works"})
    assert events[-1] == OutcomeRecorded(status="completed", judge="openhands", detail="it works")
    assert not any(isinstance(event, OutcomeRecorded) for event in read.events({"history": [asked("go")]}))
