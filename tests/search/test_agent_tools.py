"""The tools by which a model looks into its own record, and nobody else's."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from delivery.agent_tools import FETCH_RESULT, SEARCH_RECORD, TOOLS, answer_call, tool_definitions
from ledger import JsonText, Ledger, Ledgers
from ledger.errors import InvalidInput
from ledger.parts import ImagePart, TextPart, ToolCallPart
from replay import view

FORMS = ("openai", "openai_responses", "anthropic", "gemini")


@pytest.fixture
def long(store: Ledgers, case: Ledger) -> str:
    """The text of a long result, r_2."""
    text = "".join(f"{number:05}\n" for number in range(4_000))
    case.record_turn("assistant", [ToolCallPart(call_id="c1", tool="list_all", arguments=JsonText("{}"))])
    case.record_return("c1", text)
    return text


def asked(store: Ledgers, name: str, arguments: dict[str, Any] | str, ledger: str = "case") -> dict[str, Any]:
    """What a call is answered with, which is no error."""
    answer = answer_call(view(store, ledger), name, arguments)
    assert not answer.is_error, answer.text
    found: dict[str, Any] = json.loads(answer.text)
    return found


def test_definitions_have_the_form_of_each_vendor() -> None:
    openai, anthropic = tool_definitions("openai"), tool_definitions("anthropic")
    assert (
        [tool["function"]["name"] for tool in openai] == [FETCH_RESULT, SEARCH_RECORD] == [tool["name"] for tool in anthropic]
    )
    assert [tool["function"]["parameters"] for tool in openai] == [tool["input_schema"] for tool in anthropic]
    assert {tool["type"] for tool in openai} == {"function"}
    with pytest.raises(InvalidInput, match="openai, openai_responses, anthropic, gemini"):
        tool_definitions("other")  # type: ignore[arg-type]


@pytest.mark.parametrize("form", FORMS)
def test_the_official_libraries_take_the_definitions(form: Any) -> None:
    adapter = TypeAdapter(_definition(form))
    for tool in tool_definitions(form):
        adapter.validate_python(tool)


@pytest.mark.parametrize("form", FORMS)
def test_the_definitions_go_with_a_request_and_count(store: Ledgers, case: Ledger, form: Any) -> None:
    case.record_turn("user", "Where is my parcel?")
    tools = tool_definitions(form)
    made = view(store, "case").window(render=form, tools=tools)
    assert made.request["tools"] == tools
    assert made.receipt.blocks["tools"] > 300
    assert made.tokens - view(store, "case").window(render=form).tokens >= made.receipt.blocks["tools"]


def _definition(form: str) -> Any:
    """The type that a provider's own library has for one of the tools of a request."""
    if form == "openai":
        from openai.types.chat import ChatCompletionToolParam

        return ChatCompletionToolParam
    if form == "openai_responses":
        from openai.types.responses import FunctionToolParam

        return FunctionToolParam
    if form == "anthropic":
        from anthropic.types import ToolParam

        return ToolParam
    types: Any = pytest.importorskip("google.genai.types", reason="google-genai is not installed")
    return types.Tool


def test_a_long_result_is_read_piece_by_piece(store: Ledgers, long: str) -> None:
    pieces, start = [], 0
    while start < len(long):
        answer = asked(store, FETCH_RESULT, {"id": "r_2", "start": start, "length": 7_001})
        assert (answer["start"], answer["characters"], answer["tool"]) == (start, len(long), "list_all")
        pieces.append(answer["text"])
        start = answer["end"]
    assert "".join(pieces) == long
    assert asked(store, FETCH_RESULT, {"id": "r_2"})["end"] == 8_000
    assert asked(store, FETCH_RESULT, {"id": "r_2", "start": len(long)})["text"] == ""


def test_a_search_shows_ids_that_can_be_fetched(store: Ledgers, case: Ledger, long: str) -> None:
    case.record_turn("user", "which number comes after 03999?")
    answer = asked(store, SEARCH_RECORD, '{"query": "03999", "kind": "result"}')
    assert [(place["id"], place["kind"], place["turn"]) for place in answer["places"]] == [("r_2", "result", 1)]
    assert "03999" in answer["places"][0]["text"]
    assert (answer["matched"], answer["more"]) == ("all", False)
    found = asked(store, SEARCH_RECORD, {"query": "03999", "first_turn": 2, "role": None})
    assert [place["role"] for place in found["places"]] == ["user"]
    assert asked(store, SEARCH_RECORD, {"query": "03999", "last_turn": 1})["places"][0]["turn"] == 1


def test_what_has_no_text_is_described(store: Ledgers, case: Ledger) -> None:
    sha256 = case.store_artifact(b"\x89PNG" * 30)
    case.record_turn("assistant", [ToolCallPart(call_id="c1", tool="shot", arguments=JsonText("{}"))])
    case.record_return("c1", [TextPart(text="done"), ImagePart(sha256=sha256, media_type="image/png", size_bytes=120)])
    answer = asked(store, FETCH_RESULT, {"id": "r_3"})
    assert answer["text"] == "done"
    assert answer["attachments"][0]["type"] == "image"
    assert answer["attachments"][0]["size_bytes"] == 120


def test_a_forgotten_result_says_so(store: Ledgers, case: Ledger, long: str) -> None:
    case.forget(ids=["r_2"], reason="asked to", scrub=False)
    answer = asked(store, FETCH_RESULT, {"id": "r_2"})
    assert answer == {"id": "r_2", "tool": "list_all", "turn": 1, "forgotten": True, "reason": "asked to"}
    assert asked(store, SEARCH_RECORD, {"query": "03999"})["places"] == []


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        (FETCH_RESULT, {"id": "r_7"}, "the nearest are r_2"),
        (FETCH_RESULT, {}, "needs id"),
        (FETCH_RESULT, {"id": 2}, "id is a text, not 2"),
        (FETCH_RESULT, {"id": "r_2", "start": -1}, "start is a whole number from 0"),
        (FETCH_RESULT, {"id": "r_2", "start": True}, "start is a whole number"),
        (FETCH_RESULT, '{"id": "r_2", "start": 1.5}', "start is a whole number"),
        (FETCH_RESULT, {"id": "r_2", "start": 99_999}, "has 24,000 characters"),
        (FETCH_RESULT, {"id": "r_2", "length": 60_000}, "length is a whole number from 1 to 50,000"),
        (FETCH_RESULT, {"id": "r_2", "path": "/etc/passwd"}, "takes no 'path'"),
        (FETCH_RESULT, "[1]", "no JSON object"),
        (FETCH_RESULT, "{", "not JSON"),
        (SEARCH_RECORD, {"query": "?"}, "no word"),
        (SEARCH_RECORD, {"query": "x", "ledger": "other"}, "takes no 'ledger'"),
        (SEARCH_RECORD, {"query": "x", "kind": "secret"}, "kind is one of turn"),
        (SEARCH_RECORD, {"query": "x", "first_turn": 5, "last_turn": 2}, "first_turn 5 is after last_turn 2"),
    ],
)
def test_a_wrong_call_is_answered_with_the_way_out(
    store: Ledgers, long: str, name: str, arguments: dict[str, Any] | str, says: str
) -> None:
    answer = answer_call(view(store, "case"), name, arguments)
    assert answer.is_error
    assert says in json.loads(answer.text)["error"]


def test_another_tool_is_not_ours_to_answer(store: Ledgers, long: str) -> None:
    with pytest.raises(InvalidInput, match="fetch_result, search_record"):
        answer_call(view(store, "case"), "delete_everything", {})


def test_a_model_reaches_its_own_ledger_alone(store: Ledgers, case: Ledger, long: str) -> None:
    other = store.ledger("other")
    other.record_turn("user", "the secret of the other is 03999")
    assert asked(store, SEARCH_RECORD, {"query": "secret"}, "case")["places"] == []
    assert asked(store, SEARCH_RECORD, {"query": "03999"}, "other")["places"][0]["kind"] == "turn"
    assert answer_call(view(store, "other"), FETCH_RESULT, {"id": "r_2"}).is_error


def test_what_is_required_and_taken_is_what_is_described() -> None:
    for tool in TOOLS:
        assert set(tool.parameters["required"]) <= set(tool.parameters["properties"])
        assert tool.parameters["additionalProperties"] is False
        assert all(known["description"] for known in tool.parameters["properties"].values())
