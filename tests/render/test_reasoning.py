"""Reasoning and blocks of a provider pass byte for byte, to that provider alone, and only where it takes them."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.json_text import JsonText
from ledger.parts import OpaquePart, ToolCallPart
from projections.invariants import violations
from projections.render.renderer import plain, request_bytes
from tests.render.building import answering, asking, call, reasoning, returned
from tests.render.scenes import FORMS, PROVIDERS, Scene

SIGNED = [
    '{"type":"thinking","thinking":"Two \\u2014 or 3.10?","signature":"EqQB/+8=="}',
    '{ "signature": "Zm9v", "type": "thinking",  "thinking": "" }',
    '{"type":"redacted_thinking","data":"AAA\\/B=="}',
]
ITEM = '{ "type":"reasoning", "id":"rs_58", "summary":[], "encrypted_content":"gAAA\\/Q==" }'
THOUGHT = '{ "text": "Two\\u0020quays.", "thought": true, "thoughtSignature": "CtwB=" }'


def rendered(form: str, *parts: Any) -> bytes:
    """A request with such an assistant turn, that its provider would take."""
    calls = [part for part in parts if isinstance(part, ToolCallPart)]
    returns = tuple(returned(21 + at, made.call_id, "berth 7") for at, made in enumerate(calls))
    scene = Scene((), (asking(1), answering(2, *parts, returns=returns), asking(3, "Sure?")), {})
    request = scene.render(form).request
    assert violations(form, request, reasoning=scene.reasoning) == ()
    return request_bytes(request)


def test_signed_blocks_pass_untouched_and_in_order() -> None:
    found = rendered("anthropic", *(reasoning("anthropic", raw) for raw in SIGNED), call("t1"))
    places = [found.index(raw.encode()) for raw in SIGNED]
    assert places == sorted(places)
    assert places[-1] < found.index(b'"tool_use"')


def test_reasoning_items_pass_untouched_before_what_follows_them() -> None:
    found = rendered("openai_responses", reasoning("openai", ITEM), call("fc_1"))
    assert found.index(ITEM.encode()) < found.index(b"function_call")


def test_a_reasoning_item_that_nothing_follows_is_left_out() -> None:
    assert b"rs_58" not in rendered("openai_responses", reasoning("openai", ITEM))
    second = ITEM.replace("rs_58", "rs_59")
    found = rendered("openai_responses", reasoning("openai", ITEM), call("fc_1"), reasoning("openai", second))
    assert (b"rs_58" in found, b"rs_59" in found) == (True, False)


@pytest.mark.parametrize("raw", ['{"type":"reasoning","text":"Hm."}', '{"type":"reasoning","id":"rs_1","summary":[]}'])
def test_reasoning_of_another_interface_or_kept_elsewhere_is_left_out(raw: str) -> None:
    assert b'"reasoning"' not in rendered("openai_responses", reasoning("openai", raw), call("fc_1"))


def test_an_answer_of_reasoning_alone_is_not_the_end_of_a_message() -> None:
    assert SIGNED[0].encode() in rendered("anthropic", reasoning("anthropic", SIGNED[0]))


def test_a_thought_passes_untouched_to_gemini() -> None:
    assert THOUGHT.encode() in rendered("gemini", reasoning("gemini", THOUGHT), call("c1"))


@pytest.mark.parametrize("spelling", ['{"thoughtSignature":"CtwB\\/8Y="}', '\n{ "thoughtSignature" : "CtwB\\/8Y=" }'])
def test_a_signature_stands_in_the_part_that_it_signs(spelling: str) -> None:
    scene = Scene((), (asking(1), answering(2, "Let me see.", reasoning("gemini", spelling), call("c1"))), {})
    request = scene.render("gemini").request
    first, second = plain(request)["contents"][1]["parts"]
    assert first == {"text": "Let me see."}
    assert (second["functionCall"]["id"], second["thoughtSignature"]) == ("c1", "CtwB/8Y=")
    assert b'"CtwB\\/8Y="' in request_bytes(request), "as it was written"


def test_a_signature_that_signs_nothing_more_stands_in_an_empty_part() -> None:
    found = rendered("gemini", reasoning("gemini", '{"thoughtSignature":"CtwB"}'))
    assert b'{"text":"","thoughtSignature":"CtwB"}' in found


@pytest.mark.parametrize(("provider", "raw"), [("anthropic", SIGNED[0]), ("openai", ITEM), ("gemini", THOUGHT)])
def test_reasoning_is_shown_to_its_own_provider_alone(provider: str, raw: str) -> None:
    shown = {form for form in FORMS if raw.encode() in request_bytes(scene_with(reasoning(provider, raw)).render(form).request)}
    assert shown == {{"anthropic": "anthropic", "openai": "openai_responses", "gemini": "gemini"}[provider]}


OWN = {
    "openai": ("refusal", '{"type": "refusal",  "refusal": "No."}'),
    "openai_responses": ("web_search_call", '{"type":"web_search_call","id":"ws_1",  "status":"completed"}'),
    "anthropic": ("server_tool_use", '{"type":"server_tool_use","id":"srvtoolu_1",  "name":"web_search","input":{}}'),
    "gemini": ("executableCode", '{"executableCode":{"language":"PYTHON",  "code":"1"}}'),
}


@pytest.mark.parametrize("owner", PROVIDERS)
def test_a_block_of_a_provider_is_named_to_the_others(owner: str) -> None:
    block, raw = OWN[owner]
    provider = owner.partition("_")[0]
    scene = scene_with(OpaquePart(provider=provider, block=block, raw=JsonText.parse(raw)))
    for form in FORMS:
        found = request_bytes(scene.render(form).request)
        assert (raw.encode() in found) == (form == owner)
        assert (f"[unsupported block: {block}]".encode() in found) == (form != owner)


def scene_with(part: Any) -> Scene:
    """A short talk with a part in the assistant's turn."""
    return Scene((), (asking(1), answering(2, part, "Berth 7."), asking(3, "Sure?")), {})


@pytest.mark.parametrize(
    "raw", ['{"type":"thinking","thinking":"unsigned"}', '{"type":"thinking","thinking":"a","signature":""}']
)
def test_reasoning_without_a_signature_is_left_out(raw: str) -> None:
    assert raw.encode() not in rendered("anthropic", reasoning("anthropic", raw), "Berth 7.")
    assert b"assistant" not in rendered("anthropic", reasoning("anthropic", raw))


@pytest.mark.parametrize(
    ("form", "block", "raw"),
    [
        ("anthropic", "tool_use", '{"type":"tool_use","name":"scan","input":{}}'),
        ("anthropic", "unknown", '{"wow": 1}'),
        ("openai", "refusal", '{"type":"refusal"}'),
    ],
)
def test_a_broken_block_is_named_and_not_sent(form: str, block: str, raw: str) -> None:
    found = rendered(form, OpaquePart(provider=form, block=block, raw=JsonText.parse(raw)))
    assert raw.encode() not in found
    assert f"[unsupported block: {block}]".encode() in found
