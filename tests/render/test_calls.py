"""Ids of calls and names of tools: a provider's own where another takes them, never two alike, the same in a longer window."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings

from projections.render.renderer import Request, plain
from tests.render.building import asking, call, calling
from tests.render.scenes import PROVIDERS, SCENES, Scene, without

MANY = pytest.mark.parametrize("form", PROVIDERS)
SHORT = {"openai": 40, "openai_responses": 64, "anthropic": 64, "gemini": 64}


def pairs(request: Request, form: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The calls of a request with their arguments, and the results with what they say, by the ids that they have there."""
    found = plain(request)
    match form:
        case "openai":
            calls = {one["id"]: one["function"] for said in found["messages"] for one in said.get("tool_calls", ())}
            return calls, {said["tool_call_id"]: said["content"] for said in found["messages"] if said["role"] == "tool"}
        case "openai_responses":
            calls = {item["call_id"]: item for item in found["input"] if item.get("type") == "function_call"}
            outputs = [item for item in found["input"] if item.get("type") == "function_call_output"]
            return calls, {item["call_id"]: item["output"] for item in outputs}
        case "anthropic":
            blocks = [block for said in found["messages"] if isinstance(said["content"], list) for block in said["content"]]
            results = {block["tool_use_id"]: block["content"] for block in blocks if block["type"] == "tool_result"}
            return {block["id"]: block for block in blocks if block["type"] == "tool_use"}, results
    parts = [part for content in found["contents"] for part in content["parts"]]
    answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
    calls = {part["functionCall"]["id"]: part["functionCall"] for part in parts if "functionCall" in part}
    return calls, {one["id"]: next(iter(one["response"].values())) for one in answers}


@MANY
def test_ids_that_another_provider_shortens_stay_apart(form: str) -> None:
    names = ["call_58|fc_a", "call_58|fc_b", "call_58_fc_a", "q" * 80 + "|1", "q" * 80 + "|2", "ÿ", "call_58"]
    scene = Scene((), (asking(1), calling(2, *map(call, names))), {})
    rendered = scene.render(form)
    _, results = pairs(rendered.request, form)
    assert results == {rendered.call_ids[2, name]: f"of 2: {name}" for name in names}
    assert len(results) == len(names)
    assert rendered.call_ids[2, "call_58"] == "call_58"
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", given) and len(given) <= SHORT[form] for given in results)


@MANY
def test_an_id_that_comes_again_bears_its_turn(form: str) -> None:
    pieces = (asking(1), calling(2, call("call_0")), calling(14, call("call_0")), calling(15, call("call_0_14")))
    ids = Scene((), pieces, {}).render(form).call_ids
    assert dict(ids) == {(2, "call_0"): "call_0", (14, "call_0"): "call_0_14", (15, "call_0_14"): "call_0_14_15"}


@settings(deadline=None, max_examples=60)
@given(SCENES)
def test_ids_are_reversible_and_stay_as_a_window_grows(scene: Scene) -> None:
    for form in PROVIDERS:
        ids, names = scene.render(form).call_ids, scene.render(form).tool_names
        assert len(set(ids.values())) == len(ids)
        assert len(set(names.values())) == len(names)
        assert list(ids) == [(turn.number, made.call_id) for turn in scene.turns for made in turn.calls]
        for at in range(len(scene.pieces)):
            assert without(scene, at).render(form).call_ids.items() <= ids.items()


@MANY
def test_a_name_that_fits_stays_and_others_are_made_plain(form: str) -> None:
    tools = ["Berth Desk (NL)", "Berth_Desk__NL_", "Søren", "t" * 80, "t" * 64, "7seas"]
    scene = Scene((), (asking(1), calling(2, *(call(f"c{at}", tool) for at, tool in enumerate(tools)))), {})
    rendered = scene.render(form)
    names = [rendered.tool_names[tool] for tool in tools]
    assert len(set(names)) == len(tools)
    assert (names[1], names[4]) == ("Berth_Desk__NL_", "t" * 64)
    assert names[5] == ("_7seas" if form == "gemini" else "7seas")
    calls, _ = pairs(rendered.request, form)
    said = [made.get("name") for made in calls.values()]
    assert said == names


@MANY
def test_an_id_depends_on_the_pieces_alone(form: str) -> None:
    early, late = (Scene((), (asking(1), calling(number, call("call_0"))), {}) for number in (2, 90_002))
    assert {*early.render(form).call_ids.values()} == {*late.render(form).call_ids.values()} == {"call_0"}
