"""Every rule catches what it is there for, and lets a proper request pass."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.errors import InvalidInput
from ledger.json_text import JsonText
from projections.invariants import RULES, violations
from projections.render.renderer import plain
from tests.projections.sdk_types import PLACES, refusals_of
from tests.render.scenes import PROVIDERS, SCENES, Scene

PNG = "data:image/png;base64,iVBORw0KGgo="
THINKING = {"type": "thinking", "thinking": "Two.", "signature": "EqQB"}
ITEM = {"type": "reasoning", "id": "rs_1", "summary": []}


def chat_call(name: str, tool: str = "quays", arguments: Any = "{}") -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": tool, "arguments": arguments}}


def use(name: str, tool: str = "quays", given: Any = None) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": tool, "input": {} if given is None else given}


def result(name: str, content: Any = "12", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": content, **more}


def item(name: str, tool: str = "quays") -> dict[str, Any]:
    return {"type": "function_call", "call_id": name, "name": tool, "arguments": "{}"}


def output(name: str, told: Any = "12") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": name, "output": told}


def asked(name: str, tool: str = "quays") -> dict[str, Any]:
    return {"functionCall": {"id": name, "name": tool, "args": {}}}


def answered(name: str, tool: str = "quays") -> dict[str, Any]:
    return {"functionResponse": {"id": name, "name": tool, "response": {"output": "12"}}}


def proper(form: str) -> dict[str, Any]:
    """A proper request with a picture, parallel calls, and reasoning where the form has it."""
    tool = {"role": "tool", "content": "12"}
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    made: dict[str, dict[str, Any]] = {
        "openai": {
            "messages": [
                {"role": "system", "content": "Be exact."},
                {"role": "user", "content": [text("Compare."), {"type": "image_url", "image_url": {"url": PNG}}]},
                {"role": "assistant", "content": None, "tool_calls": [chat_call("a"), chat_call("b")]},
                {**tool, "tool_call_id": "a"},
                {**tool, "tool_call_id": "b"},
                {"role": "assistant", "content": "The second."},
                {"role": "user", "content": "Sure?"},
            ]
        },
        "openai_responses": {
            "instructions": "Be exact.",
            "input": [
                {"role": "user", "content": [{"type": "input_image", "image_url": PNG, "detail": "auto"}]},
                ITEM,
                item("a"),
                item("b"),
                output("a"),
                output("b"),
                {"role": "assistant", "content": "The second."},
                {"role": "user", "content": "Sure?"},
            ],
        },
        "anthropic": {
            "system": [{**text("Be exact."), "cache_control": {"type": "ephemeral"}}],
            "messages": [
                {"role": "user", "content": [text("Compare."), {"type": "image", "source": source}]},
                {"role": "assistant", "content": [THINKING, use("a"), use("b")]},
                {"role": "user", "content": [result("a"), result("b", is_error=True), text("Quick!")]},
                {"role": "assistant", "content": "The second."},
                {"role": "user", "content": "Sure?"},
            ],
        },
        "gemini": {
            "systemInstruction": {"parts": [{"text": "Be exact."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "Compare."}, {"inlineData": {"mimeType": "image/png", "data": "iVBO"}}]},
                {"role": "model", "parts": [asked("a"), asked("b")]},
                {"role": "user", "parts": [answered("a"), answered("b")]},
                {"role": "user", "parts": [{"text": "Quick!"}]},
                {"role": "model", "parts": [{"text": "The second."}]},
                {"role": "user", "parts": [{"text": "Sure?"}]},
            ],
        },
    }
    return copy.deepcopy(made[form])


def text(told: str) -> dict[str, Any]:
    return {"type": "text", "text": told}


Plant = Callable[[Any], object]

OPENAI: list[tuple[str, Plant]] = [
    ("HasMessages", lambda sent: sent.clear()),
    ("IsUnicode", lambda sent: sent[6].update(content="torn \ud83d")),
    ("KnownRoles", lambda sent: sent[6].update(role="human")),
    ("KnownRoles", lambda sent: sent.insert(6, {"role": "system", "content": "late"})),
    ("UserSpeaks", lambda sent: (sent.pop(6), sent.pop(1))),
    ("RolesAlternate", lambda sent: sent.append(sent[6])),
    ("BlocksFitRoles", lambda sent: sent[5].update(content=sent[1]["content"])),
    ("BlocksFitRoles", lambda sent: sent[6].update(tool_calls=[chat_call("c")])),
    ("CallsAreAnswered", lambda sent: sent.pop(2)),
    ("CallsAreAnswered", lambda sent: sent.pop(4)),
    ("CallsAreAnswered", lambda sent: sent.insert(4, sent[3])),
    ("CallsAreAnswered", lambda sent: sent.insert(3, {"role": "user", "content": "Stop."})),
    ("CallsAreAnswered", lambda sent: sent.insert(4, {"role": "assistant", "content": "Well."})),
    ("CallsAreAnswered", lambda sent: sent.append({"role": "assistant", "tool_calls": [chat_call("c")]})),
    ("CallsAreNamed", lambda sent: sent[2]["tool_calls"].append(chat_call("a"))),
    ("CallsAreNamed", lambda sent: sent[2]["tool_calls"][0].update(id="c" * 41)),
    ("CallsAreNamed", lambda sent: sent[2]["tool_calls"][0]["function"].update(name="a tool")),
    ("CallsAreNamed", lambda sent: sent[2]["tool_calls"][0].update(type="tool")),
    ("CallsAreNamed", lambda sent: sent[5].update(tool_calls=[])),
    ("ArgumentsAre", lambda sent: sent[2]["tool_calls"][0]["function"].update(arguments={})),
    ("NothingIsEmpty", lambda sent: sent[6].update(content=" \n")),
    ("NothingIsEmpty", lambda sent: sent[5].update(content=None)),
    ("NothingIsEmpty", lambda sent: sent[3].update(content="")),
    ("MediaAreKnown", lambda sent: sent[1]["content"][1]["image_url"].update(url="file:///x.png")),
    ("MediaAreKnown", lambda sent: sent[1]["content"][1]["image_url"].update(url=PNG.replace("png", "tiff"))),
]

RESPONSES: list[tuple[str, Plant]] = [
    ("HasMessages", lambda sent: sent.clear()),
    ("KnownRoles", lambda sent: sent[0].update(role="system2")),
    ("UserSpeaks", lambda sent: (sent.pop(7), sent.pop(0))),
    ("CallsAreAnswered", lambda sent: sent.pop(2)),
    ("CallsAreAnswered", lambda sent: sent.pop(5)),
    ("BlocksFitRoles", lambda sent: sent[6].update(content=sent[0]["content"])),
    ("CallsAreAnswered", lambda sent: sent.insert(5, {"role": "assistant", "content": "Well."})),
    ("CallsAreNamed", lambda sent: sent[3].update(call_id="a")),
    ("CallsAreNamed", lambda sent: sent[3].update(name="a tool")),
    ("ArgumentsAre", lambda sent: sent[3].update(arguments={})),
    ("NothingIsEmpty", lambda sent: sent[4].update(output=[])),
    ("ReasoningIsFollowed", lambda sent: sent.insert(7, ITEM)),
    ("MediaAreKnown", lambda sent: sent[0]["content"][0].update(image_url="x.png")),
]

ANTHROPIC: list[tuple[str, Plant]] = [
    ("HasMessages", lambda sent: sent.clear()),
    ("KnownRoles", lambda sent: sent[3].update(role="tool")),
    ("UserBeginsAndEnds", lambda sent: sent.pop(4)),
    ("UserBeginsAndEnds", lambda sent: sent.pop(0)),
    ("RolesAlternate", lambda sent: sent.append(sent[4])),
    ("BlocksFitRoles", lambda sent: sent[0]["content"].append(THINKING)),
    ("BlocksFitRoles", lambda sent: sent[1]["content"].append(sent[0]["content"][1])),
    ("CallsAreAnswered", lambda sent: sent[2]["content"].pop(0)),
    ("CallsAreAnswered", lambda sent: sent[2]["content"].append(result("c"))),
    ("CallsAreAnswered", lambda sent: sent[1]["content"].append(use("c"))),
    ("ResultsStandFirst", lambda sent: sent[2]["content"].insert(0, text("Well:"))),
    ("CallsAreNamed", lambda sent: sent[1]["content"][1].update(id="a|1")),
    ("CallsAreNamed", lambda sent: sent[1]["content"][1].update(id="b")),
    ("CallsAreNamed", lambda sent: sent[1]["content"][1].update(name="Zoë")),
    ("ArgumentsAre", lambda sent: sent[1]["content"][1].update(input=[1])),
    ("NothingIsEmpty", lambda sent: sent[0]["content"][0].update(text="")),
    ("NothingIsEmpty", lambda sent: sent[3].update(content=[])),
    ("FailuresAreText", lambda sent: sent[2]["content"][1].update(content=[sent[0]["content"][1]])),
    ("ReasoningIsFollowed", lambda sent: sent[3].update(content=[THINKING])),
    ("ReasoningIsSigned", lambda sent: sent[1]["content"][0].pop("signature")),
    ("CacheMarks", lambda sent: [block.update(cache_control={}) for block in sent[1]["content"][1:] + sent[2]["content"]]),
    ("CacheMarks", lambda sent: sent[1]["content"][0].update(cache_control={})),
    ("MediaAreKnown", lambda sent: sent[0]["content"][1]["source"].update(data="")),
    ("MediaAreKnown", lambda sent: sent[0]["content"][1]["source"].update(media_type="image/bmp")),
]

GEMINI: list[tuple[str, Plant]] = [
    ("HasMessages", lambda sent: sent.clear()),
    ("KnownRoles", lambda sent: sent[4].update(role="function")),
    ("UserBeginsAndEnds", lambda sent: sent.pop(0)),
    ("UserBeginsAndEnds", lambda sent: sent.pop(5)),
    ("RolesAlternate", lambda sent: sent.insert(4, sent[4])),
    ("BlocksFitRoles", lambda sent: sent[0]["parts"].append(asked("c"))),
    ("BlocksFitRoles", lambda sent: sent[2]["parts"].append({"text": "Quick!"})),
    ("CallsAreAnswered", lambda sent: sent[2]["parts"].pop(1)),
    ("CallsAreAnswered", lambda sent: sent.insert(3, sent[2])),
    ("ResultsNameTheirTool", lambda sent: sent[2]["parts"][0]["functionResponse"].update(name="berths")),
    ("CallsAreNamed", lambda sent: sent[1]["parts"][0]["functionCall"].update(name="7seas")),
    ("CallsAreNamed", lambda sent: sent[1]["parts"][0]["functionCall"].update(id="b")),
    ("ArgumentsAre", lambda sent: sent[1]["parts"][0]["functionCall"].update(args="{}")),
    ("ArgumentsAre", lambda sent: sent[2]["parts"][0]["functionResponse"].update(response="12")),
    ("NothingIsEmpty", lambda sent: sent[5]["parts"][0].update(text=" ")),
    ("NothingIsEmpty", lambda sent: sent[4].update(parts=[])),
    ("MediaAreKnown", lambda sent: sent[0]["parts"][1]["inlineData"].update(mimeType="image/gif")),
]

FAULTS = {"openai": OPENAI, "openai_responses": RESPONSES, "anthropic": ANTHROPIC, "gemini": GEMINI}
PLANTED = [(form, rule, plant) for form in PROVIDERS for rule, plant in FAULTS[form]]


@pytest.mark.parametrize("form", PROVIDERS)
def test_a_proper_request_passes(form: str) -> None:
    assert violations(form, proper(form)) == ()
    assert refusals_of(proper(form), form) == []


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
    assert refusals_of({PLACES[form]: [message]}, form) != []


@pytest.mark.parametrize(("form", "rule", "plant"), PLANTED)
def test_a_planted_fault_is_found(form: str, rule: str, plant: Plant) -> None:
    request = proper(form)
    plant(request[PLACES[form]])
    assert rule in {found.rule for found in violations(form, request)}


FOREIGN = {"openai": "system", "openai_responses": "messages", "anthropic": "instructions", "gemini": "system"}


@pytest.mark.parametrize("form", PROVIDERS)
def test_what_another_form_has_beside_its_messages_is_found(form: str) -> None:
    request = proper(form) | {FOREIGN[form]: "Be exact.", "temperature": 0}
    assert [(found.rule, found.path) for found in violations(form, request)] == [("NothingOfAnotherForm", FOREIGN[form])]


@pytest.mark.parametrize("empty", ["", " ", [], [text("")]])
def test_system_text_that_says_nothing_is_found(empty: Any) -> None:
    for form, name in (("anthropic", "system"), ("openai_responses", "instructions")):
        assert "NothingIsEmpty" in {found.rule for found in violations(form, proper(form) | {name: empty})}


@pytest.mark.parametrize("form", PROVIDERS)
def test_every_rule_has_a_fault_that_it_finds(form: str) -> None:
    found = {rule for rule, _ in FAULTS[form]} | {"NothingOfAnotherForm"}
    assert {type(rule).__name__ for rule in RULES[form]} <= found


def test_edited_reasoning_is_found() -> None:
    raw = '{"type":"thinking","thinking":"Two.","signature":"EqQB"}'
    request = proper("anthropic")
    for block, passes in [(raw, True), (raw.replace(":", ": "), False), (raw.replace("Two", "2"), False)]:
        request["messages"][1]["content"][0] = JsonText.parse(block)
        assert (violations("anthropic", request, reasoning=frozenset({raw})) == ()) == passes
    request["messages"][1]["content"][0] = json.loads(raw)
    assert violations("anthropic", request, reasoning=frozenset({raw})), "written again, even with the same bytes"


@pytest.mark.parametrize("form", PROVIDERS)
def test_a_number_beyond_every_machine_is_json_all_the_same(form: str) -> None:
    request = proper(form)
    request["tools"] = [{"most": 2**70}]
    assert violations(form, request) == ()


def test_a_form_for_people_has_no_rules() -> None:
    assert violations("markdown", {"text": ""}) == ()


def test_no_request_passes_by_a_mistake_in_the_name_of_its_form() -> None:
    with pytest.raises(InvalidInput, match="no renderer 'antropic'"):
        violations("antropic", {"messages": []})


@settings(deadline=None, max_examples=60)
@given(SCENES, st.data())
def test_a_lost_or_doubled_piece_of_a_call_is_found(scene: Scene, data: st.DataObject) -> None:
    """Whatever request: without one of its calls or results, or with one twice, its provider would refuse it."""
    for form in PROVIDERS:
        request = plain(scene.render(form).request)
        spots = [spot for spot in _spots(request[PLACES[form]]) if _is_of_a_call(spot[0][spot[1]])]
        if not spots:
            continue
        within, at = data.draw(st.sampled_from(spots))
        if data.draw(st.booleans()):
            within.insert(at, within[at])
        else:
            within.pop(at)
        assert violations(form, request)


def _spots(value: Any) -> list[tuple[list[Any], int]]:
    found: list[tuple[list[Any], int]] = []
    if isinstance(value, dict):
        for name in ("content", "parts", "tool_calls"):
            found += _spots(value.get(name))
    elif isinstance(value, list):
        for at, each in enumerate(value):
            found += [(value, at), *_spots(each)]
    return found


def _is_of_a_call(value: Any) -> bool:
    """Whether it is a call or a result, and not a message around one."""
    if not isinstance(value, dict):
        return False
    kinds = {"function", "tool_use", "tool_result", "function_call", "function_call_output"}
    return value.get("type") in kinds or value.get("role") == "tool" or "functionCall" in value or "functionResponse" in value
