"""What goes wrong between a conversation and a provider's request, and must not."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import pytest

from ledger.erased import Forgotten
from ledger.json_text import JsonText
from ledger.parts import DocumentPart, ImagePart, OpaquePart, Unparsed
from projections.invariants import violations
from projections.pieces import NotePiece, Piece, TurnPiece
from projections.policy import Policy
from projections.render.renderer import EMPTY_TURN, INTERRUPTED, Request, measure, plain, request_bytes
from tests.render.building import answering, asking, call, reasoning, returned, system
from tests.render.scenes import FORMS, PROVIDERS, Scene

MANY = pytest.mark.parametrize("form", PROVIDERS)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(1_000_000)
HASH = "c3" * 32


def valid(form: str, scene: Scene, **more: Any) -> Request:
    """A request that its provider would take."""
    request = scene.render(form, **more).request
    assert violations(form, request, reasoning=scene.reasoning) == ()
    return request


def text_of(request: Request) -> str:
    return json.dumps(plain(request), ensure_ascii=False)


@MANY
def test_a_call_and_its_results_are_one_piece_wherever_the_cut_falls(form: str) -> None:
    tariff = answering(
        2,
        call("a", "tariff"),
        call("b", "remark"),
        returns=(returned(31, "b", "Sundays cost more."), returned(35, "a", "berth 7: 120 EUR; " * 400)),
    )
    pieces = (asking(1), tariff, answering(3, "120 EUR."))
    for size in range(4):
        for chosen in combinations(pieces, size):
            found = text_of(valid(form, Scene((), (*chosen, asking(4, "On a Sunday too?")), {})))
            assert ("berth 7: 120" in found) == ("Sundays cost" in found) == (tariff in chosen)
            if tariff in chosen:
                assert found.index("berth 7: 120") < found.index("Sundays cost"), "results stand in the order of their calls"


@MANY
def test_what_stands_in_the_place_of_a_result_is_all_that_is_shown_of_it(form: str) -> None:
    shown = "[tariff: 7,200 characters; whole result: result_id=r_35]"
    piece = answering(2, call("a"), returns=(returned(35, "a", "berth 7; " * 800),), replaced={35: shown})
    found = text_of(valid(form, Scene((), (asking(1), piece), {})))
    assert shown in found
    assert "berth 7" not in found


@MANY
@pytest.mark.parametrize("texts", [["You are Quay-Clerk. Reply in Frisian.\n"], ["Be exact.", " \n", "Be brief.", "Be exact."]])
def test_system_text_stands_once_and_unchanged(form: str, texts: list[str]) -> None:
    pieces: list[Piece] = [
        asking(1),
        NotePiece("[40 turns are left out]"),
        *(answering(number, "ok") for number in range(42, 46)),
    ]
    for size in range(1, len(pieces) + 1):
        request = plain(valid(form, Scene(system(*texts), tuple(pieces[:size]), {})))
        match form:
            case "openai":
                found = [one["content"] for one in request["messages"] if one["role"] == "system"]
            case "gemini":
                found = [part["text"] for part in request["systemInstruction"]["parts"]]
            case "openai_responses":
                found = [request["instructions"]]
            case _:
                content = request["system"]
                found = [content] if isinstance(content, str) else [block["text"] for block in content]
        told = [text for text in dict.fromkeys(texts) if text.strip()]
        assert found == (["\n\n".join(told)] if form == "openai_responses" else told)


@MANY
@pytest.mark.parametrize("nothing", [(), ("",), (" \n",), (reasoning("mistral", '{"hm": 1}'),)])
def test_a_turn_that_says_nothing_does_not_end_the_conversation(form: str, nothing: tuple[Any, ...]) -> None:
    pieces = (asking(1, "Is berth 7 free?"), answering(2, *nothing), asking(3, "Hello?"), asking(4, ""))
    found = text_of(valid(form, Scene((), pieces, {})))
    assert "Is berth 7 free?" in found
    assert "Hello?" in found
    assert EMPTY_TURN in found


@MANY
def test_a_picture_alone_is_a_turn_and_costs_its_fixed_price(form: str) -> None:
    picture = ImagePart(sha256=HASH, media_type="image/png")
    scene = Scene((), (asking(1, "", picture),), {HASH: PNG}, Policy(image_tokens=700))
    request = valid(form, scene)
    assert EMPTY_TURN not in text_of(request)
    assert len(request_bytes(request)) > len(PNG)
    assert 700 < measure(request, len) < 800


@MANY
def test_a_picture_that_is_gone_is_named_by_its_hash(form: str) -> None:
    request = valid(form, Scene((), (asking(1, ImagePart(sha256=HASH, media_type="image/png")),), {}))
    assert HASH in text_of(request)


@MANY
def test_what_a_tool_drew_is_shown_or_named(form: str) -> None:
    picture = ImagePart(sha256=HASH, media_type="image/png")
    piece = answering(2, call("a"), returns=(returned(21, "a", "See:", picture),))
    request = valid(form, Scene((), (asking(1), piece), {HASH: PNG}))
    shows = form in ("anthropic", "openai_responses")
    assert (HASH in text_of(request)) == (not shows)
    assert (len(request_bytes(request)) > len(PNG)) == shows


@MANY
def test_data_in_an_address_that_nobody_takes_is_not_shown_as_text(form: str) -> None:
    scene = Scene((), (asking(1, ImagePart(url="data:image/tiff;base64," + "QUJD" * 200_000)),), {})
    request = valid(form, scene)
    assert len(request_bytes(request)) < 400
    assert "image/tiff" in text_of(request)


@MANY
def test_a_call_without_a_result_gets_a_marked_one(form: str) -> None:
    pieces = (asking(1), answering(2, call("t1"), call("t2"), returns=(returned(21, "t2", "9"),)), asking(3, "Never mind."))
    request = plain(valid(form, Scene((), pieces, {})))
    assert text_of(request).index(INTERRUPTED) < text_of(request).index("Never mind.")
    if form == "anthropic":
        assert request["messages"][2]["content"][0]["is_error"] is True
    if form == "gemini":
        assert request["contents"][2]["parts"][0]["functionResponse"]["response"] == {"error": INTERRUPTED}


@MANY
def test_who_speaks_first_and_last_is_always_allowed(form: str) -> None:
    turns = [answering(1, "Bore da!"), asking(2), answering(3, "Berth 7.")]
    if form in ("anthropic", "gemini"):
        for chosen in ([turns[0]], turns[:2], turns[1:], turns):
            valid(form, Scene((), tuple(chosen), {}))
    else:
        valid(form, Scene((), tuple(turns), {}))


@pytest.mark.parametrize("form", FORMS)
def test_torn_text_is_mended_wherever_it_stands(form: str) -> None:
    torn = JsonText.parse('{"torn": "\\ud83d", "whole": "\\ud83d\\ude00", "long": 1e999}')
    made = call("c1").model_copy(update={"arguments": torn})
    broken = call("c2").model_copy(update={"arguments": Unparsed(unparsed='{"berth": \ud83d')})
    opaque = OpaquePart(provider="mistral", block="thought", raw=JsonText.parse("{}"))
    piece = answering(2, "Torn \udfff.", made, broken, opaque, returns=(returned(21, "c1", "Torn \ud800 result."),))
    document = DocumentPart(url="ftp://a.example/\ud83d", media_type="text/plain")
    pieces = (asking(1, "Torn \ude00", document), piece, NotePiece("Torn \ud83d note."), asking(3, "😀 whole"))
    request = Scene(system("Torn \ud83d system."), pieces, {}).render(form).request
    found = request_bytes(request).decode()
    assert json.loads(found)
    assert found.count("�") >= 5
    assert "😀 whole" in found
    assert violations(form, request) == ()


@pytest.mark.parametrize("form", FORMS)
def test_what_was_forgotten_leaves_its_mark_alone(form: str) -> None:
    mark = Forgotten("job_1", "asked", "2031-04-01T09:00:00Z")
    pieces = (asking(1, mark), answering(2, call("a"), returns=(returned(21, "a", mark),)), asking(3))
    request = Scene((), pieces, {}).render(form).request
    assert text_of(request).count("[forgotten]") == 2
    assert violations(form, request) == ()


@pytest.mark.parametrize("form", FORMS)
def test_the_tools_stand_in_the_request_as_they_were_given(form: str) -> None:
    tools = JsonText.parse('[ {"name":"moorings", "limit": 1.50,\n "big": 18446744073709551617} ]')
    found = request_bytes(Scene((), (asking(1),), {}).render(form, tools=tools).request)
    assert (tools.encode() in found) == (form in PROVIDERS)


def test_notes_and_turns_of_one_side_become_one_message_where_a_provider_wants_it() -> None:
    pieces = (asking(1, "Compare."), NotePiece("[state]"), asking(2, "Both quays."), answering(3, "Both."))
    openai, anthropic, gemini = (plain(valid(form, Scene((), pieces, {}))) for form in ("openai", "anthropic", "gemini"))
    assert [one["content"] for one in openai["messages"]] == ["Compare.\n\n[state]\n\nBoth quays.", "Both."]
    assert [block["text"] for block in anthropic["messages"][0]["content"]] == ["Compare.", "[state]", "Both quays."]
    assert [part["text"] for part in gemini["contents"][0]["parts"]] == ["Compare.", "[state]", "Both quays."]


def test_what_a_turn_says_and_calls_stays_in_its_order() -> None:
    piece = answering(2, "First.", call("a"), "Then.", "Last.", call("b"))
    items = plain(valid("openai_responses", Scene((), (asking(1), piece), {})))["input"]
    assert [item.get("content", item.get("call_id")) for item in items] == [
        "Which mooring?",
        "First.",
        "a",
        "Then.\n\nLast.",
        "b",
        "a",
        "b",
    ]
    parts = plain(valid("gemini", Scene((), (asking(1), piece), {})))["contents"][1]["parts"]
    assert [part.get("text") for part in parts] == ["First.", None, "Then.", "Last.", None]


def test_a_kind_of_picture_that_only_one_does_not_take_is_named_to_that_one() -> None:
    moving = ImagePart(sha256=HASH, media_type="image/gif")
    scene = Scene((), (asking(1, moving),), {HASH: b"GIF89a" + bytes(9_000)})
    assert {form for form in PROVIDERS if HASH in text_of(valid(form, scene))} == {"gemini"}


def test_gemini_gets_results_in_a_content_of_their_own() -> None:
    piece = answering(2, call("a"), returns=(returned(21, "a", "12"),))
    contents = plain(valid("gemini", Scene((), (asking(1), piece, NotePiece("[state]"), asking(3)), {})))["contents"]
    assert [(one["role"], len(one["parts"])) for one in contents] == [("user", 1), ("model", 1), ("user", 1), ("user", 2)]


def test_an_error_says_so_where_the_form_has_a_place_for_it() -> None:
    failed = TurnPiece(answering(2, call("a"), returns=(returned(21, "a", "no such quay", is_error=True),)).turn)
    scene = Scene((), (asking(1), failed), {})
    assert plain(valid("anthropic", scene))["messages"][2]["content"][0]["is_error"] is True
    response = plain(valid("gemini", scene))["contents"][2]["parts"][0]["functionResponse"]["response"]
    assert response == {"error": "no such quay"}


def test_the_result_of_a_failed_call_is_text_where_nothing_else_is_taken() -> None:
    picture = ImagePart(sha256=HASH, media_type="image/png")
    piece = answering(2, call("a"), returns=(returned(21, "a", "No:", picture, is_error=True),))
    result = plain(valid("anthropic", Scene((), (asking(1), piece), {HASH: PNG})))["messages"][2]["content"][0]
    assert [block["type"] for block in result["content"]] == ["text", "text"]
    assert HASH in result["content"][1]["text"]


def test_blocks_beside_a_block_are_no_blocks() -> None:
    cited = OpaquePart(provider="anthropic", block="text.citations", raw=JsonText.parse('{"cited_text": "quay"}'))
    request = plain(valid("anthropic", Scene((), (asking(1), answering(2, "Quay 7.", cited), asking(3)), {})))
    assert [block["type"] for block in request["messages"][1]["content"]] == ["text", "text"]
