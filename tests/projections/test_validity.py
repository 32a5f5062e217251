"""Every rule of validity catches what it is there for, and lets a proper request pass."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.projections.sdk_types import refusals_of
from tests.projections.validity import RULES, Sent, faults_of

RAW = '{"type": "thinking", "thinking": "Two.", "signature": "EqQB+/=="}'


def openai() -> dict[str, Any]:
    """A proper request with parallel calls and a picture."""
    return {
        "messages": [
            {"role": "system", "content": "Answer in Welsh."},
            {"role": "user", "content": [{"type": "text", "text": "Compare."}, picture("https://a.example/x.png")]},
            {"role": "assistant", "content": None, "tool_calls": [call("a"), call("b")]},
            {"role": "tool", "tool_call_id": "a", "content": "12"},
            {"role": "tool", "tool_call_id": "b", "content": "14"},
            {"role": "assistant", "content": "The second."},
            {"role": "user", "content": "Sure?"},
        ]
    }


def call(name: str, *, tool: str = "stock", arguments: Any = "{}") -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": tool, "arguments": arguments}}


def picture(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def anthropic() -> dict[str, Any]:
    """A proper request with reasoning, parallel calls and a picture."""
    thinking = {"type": "thinking", "thinking": "Two.", "signature": "EqQB+/=="}
    return {
        "system": "Answer in Welsh.",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Compare."}, image("image/png", "iVBO")]},
            {"role": "assistant", "content": [thinking, use("a"), use("b")]},
            {"role": "user", "content": [result("a", "12"), result("b", "14"), {"type": "text", "text": "Quick!"}]},
            {"role": "assistant", "content": "The second."},
            {"role": "user", "content": "Sure?"},
        ],
    }


def use(name: str, *, tool: str = "stock", given: Any = None) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": tool, "input": {} if given is None else given}


def result(name: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": content, **more}


def image(kind: str, data: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


Plant = Callable[[list[Any]], object]

OPENAI_FAULTS: list[tuple[str, Plant]] = [
    ("HasMessages", lambda sent: sent.clear()),
    ("IsUnicode", lambda sent: sent[6].update(content="torn \ud83d")),
    ("OpenAIRoles", lambda sent: sent.insert(6, {"role": "system", "content": "late"})),
    ("OpenAIRoles", lambda sent: sent[6].update(role="developer?")),
    ("OpenAIRoles", lambda sent: (sent.pop(6), sent.pop(1))),
    ("OpenAICallsAreAnswered", lambda sent: sent.pop(2)),
    ("OpenAICallsAreAnswered", lambda sent: sent.pop(4)),
    ("OpenAICallsAreAnswered", lambda sent: sent.insert(4, sent[3])),
    ("OpenAICallsAreAnswered", lambda sent: sent.insert(3, {"role": "user", "content": "Stop."})),
    ("OpenAICalls", lambda sent: sent[2]["tool_calls"].append(call("a"))),
    ("OpenAICalls", lambda sent: sent[2]["tool_calls"].append(call("c" * 41))),
    ("OpenAICalls", lambda sent: sent[2]["tool_calls"].append(call("c", tool="Claims Desk"))),
    ("OpenAICalls", lambda sent: sent[2]["tool_calls"].append(call("c", arguments={}))),
    ("OpenAICalls", lambda sent: sent[6].update(tool_calls=[call("c")])),
    ("OpenAICalls", lambda sent: sent[5].update(tool_calls=[])),
    ("OpenAIContent", lambda sent: sent[5].update(content=None)),
    ("OpenAIContent", lambda sent: sent[5].update(content=[])),
    ("OpenAIContent", lambda sent: sent[5].update(content=" \n")),
    ("OpenAIContent", lambda sent: sent[3].update(content="")),
    ("OpenAIContent", lambda sent: sent[5].update(content=[picture("https://a.example/x.png")])),
    ("OpenAIContent", lambda sent: sent[6].update(content=[picture("data:image/png;base64,")])),
    ("UsersDoNotFollowUsers", lambda sent: sent.append({"role": "user", "content": "Hello?"})),
]

ANTHROPIC_FAULTS: list[tuple[str, Plant]] = [
    ("HasMessages", lambda sent: sent.clear()),
    ("IsUnicode", lambda sent: sent[4].update(content="torn \ud83d")),
    ("AnthropicRoles", lambda sent: sent.insert(0, {"role": "system", "content": "Be brief."})),
    ("AnthropicRoles", lambda sent: sent.pop(0)),
    ("AnthropicRoles", lambda sent: sent.pop()),
    ("AnthropicRoles", lambda sent: sent.append({"role": "user", "content": "Hello?"})),
    ("AnthropicCallsAreAnswered", lambda sent: sent[2]["content"].pop(1)),
    ("AnthropicCallsAreAnswered", lambda sent: sent[2]["content"].reverse()),
    ("AnthropicCallsAreAnswered", lambda sent: sent[2]["content"].insert(0, result("a", "12"))),
    ("AnthropicCallsAreAnswered", lambda sent: sent[4].update(content=[result("z", "12")])),
    ("AnthropicCalls", lambda sent: sent[1]["content"].append(use("a"))),
    ("AnthropicCalls", lambda sent: sent[1]["content"].append(use("call_77|fc_1"))),
    ("AnthropicCalls", lambda sent: sent[1]["content"].append(use("c", tool="Claims Desk"))),
    ("AnthropicCalls", lambda sent: sent[1]["content"].append(use("c", given=[1]))),
    ("AnthropicContent", lambda sent: sent[3].update(content=[])),
    ("AnthropicContent", lambda sent: sent[3].update(content="\t")),
    ("AnthropicContent", lambda sent: sent[0].update(content=[image("image/png", "")])),
    ("AnthropicContent", lambda sent: sent[0].update(content=[image("image/tiff", "SUkq")])),
    ("AnthropicContent", lambda sent: sent[3].update(content=[image("image/png", "iVBO")])),
    ("AnthropicContent", lambda sent: sent[2]["content"][0].update(content="")),
    ("AnthropicContent", lambda sent: sent[2]["content"][0].update(content=[image("image/png", "iVBO")], is_error=True)),
    ("AnthropicThinking", lambda sent: sent[1]["content"][0].update(signature="EqQB")),
    ("AnthropicThinking", lambda sent: sent[4].update(content=[sent[1]["content"][0]])),
    ("AnthropicThinking", lambda sent: sent[3].update(content=[sent[1]["content"][0]])),
]


def sent_of(request: dict[str, Any]) -> Sent:
    import json

    thinking = {"type": "thinking", "thinking": "Two.", "signature": "EqQB+/=="}
    return Sent.of(request, reasoning=frozenset({json.dumps(thinking, separators=(",", ":"))}))


@pytest.mark.parametrize(("form", "make"), [("openai", openai), ("anthropic", anthropic)])
def test_a_proper_request_passes(form: str, make: Callable[[], dict[str, Any]]) -> None:
    assert faults_of(sent_of(make()), form) == []


@pytest.mark.parametrize(
    ("form", "rule", "plant"),
    [("openai", *fault) for fault in OPENAI_FAULTS] + [("anthropic", *fault) for fault in ANTHROPIC_FAULTS],
)
def test_a_planted_fault_is_found(form: str, rule: str, plant: Plant) -> None:
    request = copy.deepcopy(openai() if form == "openai" else anthropic())
    plant(request["messages"])
    encodable = sent_of(request) if rule != "IsUnicode" else Sent(request, b"{}")
    assert rule in {fault.partition(":")[0] for fault in faults_of(encodable, form)}


def test_reasoning_that_was_written_again_is_found() -> None:
    sent = Sent.of(anthropic(), reasoning=frozenset({RAW}))
    assert [fault.partition(":")[0] for fault in faults_of(sent, "anthropic")] == ["AnthropicThinking"]


def test_every_rule_has_a_planted_fault() -> None:
    planted = {"openai": OPENAI_FAULTS, "anthropic": ANTHROPIC_FAULTS}
    for form, rules in RULES.items():
        assert {type(rule).__name__ for rule in rules} == {rule for rule, _ in planted[form]}


@pytest.mark.parametrize(("form", "make"), [("openai", openai), ("anthropic", anthropic)])
def test_the_official_types_judge_alike(form: str, make: Callable[[], dict[str, Any]]) -> None:
    assert refusals_of(make(), form) == []


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("openai", {"role": "tool", "content": "12"}),
        ("openai", {"role": "user", "content": [{"type": "text"}]}),
        ("openai", {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "x"}}]}),
        ("anthropic", {"role": "user", "content": [{"type": "tool_result", "content": "12"}]}),
        ("anthropic", {"role": "user", "content": [{"type": "image", "source": {"type": "base64", "data": "iVBO"}}]}),
        ("anthropic", {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "x"}]}),
    ],
)
def test_the_official_types_refuse_what_is_incomplete(form: str, message: dict[str, Any]) -> None:
    assert refusals_of({"messages": [message]}, form) != []
