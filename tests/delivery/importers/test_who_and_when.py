"""Runs of several agents with a judgement of where they failed."""

from __future__ import annotations

from typing import Any

from ledger.events import OutcomeRecorded, ToolReturned, TurnRecorded
from ledger.parts import ToolCallPart
from tests.delivery.importers.agent_files import said_by
from tests.delivery.importers.conftest import Read

FAILED = {"mistake_agent": "Counter", "mistake_step": "1", "mistake_reason": "it miscounted"}
GROUP: dict[str, Any] = {
    "question": "How many beans?",
    "history": [
        {"role": "assistant", "name": "Counter", "content": "I count\n```python\nprint(42)\n```"},
        {"role": "user", "name": "Computer_terminal", "content": "exitcode: 1 (execution failed)\nCode output: no"},
        {"role": "user", "name": "Checker", "content": "That failed."},
        {"role": "user", "name": "Computer_terminal", "content": "There is no code"},
    ],
    "system_prompt": {"Counter": "You count.", "Checker": ""},
    **FAILED,
}
WEB: dict[str, Any] = {
    "question": "How many beans?",
    "history": [
        {"role": "human", "content": "How many beans? Think."},
        {"role": "Orchestrator (-> WebSurfer)", "content": "Look at ```the page```"},
        {"role": "WebSurfer", "content": "42"},
    ],
    **FAILED,
}


def test_agents_speak_under_their_names_and_never_as_the_user(read: Read) -> None:
    events = read.events(GROUP)
    assert said_by(events)[:3] == [
        ("system", "You count."),
        ("user", "How many beans?"),
        ("assistant", GROUP["history"][0]["content"]),
    ]
    turns = [event for event in events if isinstance(event, TurnRecorded)]
    assert [(turn.role, turn.name) for turn in turns] == [
        ("system", "Counter"),
        ("user", None),
        ("assistant", "Counter"),
        ("assistant", "Checker"),
    ]
    assert [turn.name for turn in read.events(WEB) if isinstance(turn, TurnRecorded)] == [
        None,
        "Orchestrator (-> WebSurfer)",
        "WebSurfer",
    ]


def test_what_the_terminal_prints_is_what_the_code_returned(read: Read) -> None:
    events = read.events(GROUP)
    [call] = [p for event in events if isinstance(event, TurnRecorded) for p in event.parts if isinstance(p, ToolCallPart)]
    assert (call.tool, call.arguments) == ("Computer_terminal", '{"code":["print(42)\\n"]}')
    printed, refused = [event for event in events if isinstance(event, ToolReturned)]
    assert (printed.turn, printed.is_error, printed.orphan) == (2, True, False)
    assert (refused.turn, refused.is_error, refused.orphan) == (None, False, True)


def test_a_question_that_a_human_asks_is_not_asked_twice(read: Read) -> None:
    assert [role for role, _text in said_by(read.events(WEB))] == ["user", "assistant", "assistant"]


def test_a_question_that_the_human_put_otherwise_is_counted_as_left_out(read: Read) -> None:
    [conversation], _ = read.all(WEB | {"question": "How many peas?"})
    assert [role for role, _text in said_by(conversation.events)] == ["user", "assistant", "assistant"]


def test_the_failure_is_the_outcome(read: Read) -> None:
    [outcome] = [event for event in read.events(WEB) if isinstance(event, OutcomeRecorded)]
    assert (outcome.status, outcome.judge) == ("failed", "who_and_when")
    assert outcome.detail == "mistake of Counter in step 1 of the history (from 0): it miscounted"
    assert not any(isinstance(event, OutcomeRecorded) for event in read.events(WEB | {"is_correct": True}))
