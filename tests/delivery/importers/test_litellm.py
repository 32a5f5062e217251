"""Logs of single completions: request and answer."""

from __future__ import annotations

from typing import Any

from delivery.importers.importing import import_file
from ledger import Ledgers
from ledger.events import TurnRecorded
from tests.delivery.importers.agent_files import said_by
from tests.delivery.importers.conftest import Read, Write

CALL = {"id": "c_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
ASKED: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": "how many?"}]}]


def log(messages: list[dict[str, Any]], **answer: Any) -> dict[str, Any]:
    """A log with the answer to some messages."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "function_call": None, **answer}}
    response = {"id": "r_1", "model": "some-model", "choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 4}}
    return {"messages": messages, "response": response, "cost": 0.1}


def test_the_answer_is_the_last_turn_with_its_model_and_usage(read: Read) -> None:
    events = read.events(log(ASKED, content="42"))
    assert said_by(events) == [("user", "how many?"), ("assistant", "42")]
    turn = events[-1]
    assert isinstance(turn, TurnRecorded)
    assert (turn.model, turn.external_id, turn.usage and turn.usage.output_tokens) == ("some-model", "r_1", 4)


def test_the_next_log_goes_on_from_the_answer(store: Ledgers, write: Write) -> None:
    first = import_file(store, write(log(ASKED, content="I look", tool_calls=[CALL | {"index": 1}])))
    repeated = {"role": "assistant", "content": [{"type": "text", "text": "I look"}], "tool_calls": [CALL]}
    messages = [*ASKED, repeated, {"role": "tool", "tool_call_id": "c_1", "content": "42"}]
    second = import_file(store, write(log(messages, content="It is 42")))
    assert second.ledgers == first.ledgers
    assert (first.events, second.events) == (2, 2)
    assert second.left_out == {"member cost": 1}


def test_an_answer_that_a_request_does_not_repeat_as_it_is_is_counted(store: Ledgers, write: Write) -> None:
    result = import_file(store, write(log(ASKED, content="42", reasoning_content="so many")))
    assert result.events == 1
    assert result.left_out["response with members that a request does not repeat"] == 1
