"""Windows keep the shape that providers demand, whatever the history went through."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers
from ledger.events import ToolReturned
from ledger.parts import DocumentPart, ImagePart, OpaquePart, ReasoningPart, TextPart, ToolCallPart
from projections.errors import BudgetExceeded
from projections.invariants import READERS, violations
from projections.policy import Policy
from projections.render.renderer import INTERRUPTED
from projections.window import Window
from replay import view
from replay.tokens import counter
from tests.replay.message_blocks import blocks_of

WHOLE = Policy(tail_turns=100, budget_tokens=1_000_000)
BOTH = pytest.mark.parametrize("form", ["openai", "anthropic"])


def call(name: str, tool: str = "stock", **arguments: Any) -> ToolCallPart:
    return ToolCallPart(call_id=name, tool=tool, arguments=JsonText.of(arguments))


def window(store: Ledgers, form: str, policy: Policy = WHOLE, *, reasoning: frozenset[str] = frozenset()) -> Window:
    """A window that its provider would take."""
    made = view(store, "case").window(policy, render=form)
    assert violations(form, made.exact, reasoning=reasoning) == ()
    assert made.tokens <= policy.budget_tokens
    return made


def verdicts(made: Window) -> dict[int, str]:
    return {row.turn: row.verdict for row in made.receipt}


def blocks(made: Window, kind: str) -> list[dict[str, Any]]:
    return [block for message in made.request["messages"] for block in blocks_of(message) if block["type"] == kind]


def results(made: Window, form: str) -> list[str]:
    if form == "openai":
        return [message["content"] for message in made.request["messages"] if message["role"] == "tool"]
    return [block["content"] for block in blocks(made, "tool_result")]


@BOTH
def test_a_call_and_its_result_stay_together(store: Ledgers, case: Ledger, form: str) -> None:
    case.record_turn("user", "Compare the two quarries.")
    case.record_turn("assistant", [call("c1", quarry="Upper")])
    case.record_return("c1", "granite 14 t, basalt 3 t\n" * 300)
    case.record_turn("user", "And the lower one?")
    case.record_turn("assistant", "It is shut until May.")
    table = window(store, form).receipt.turns()[1].tokens
    seen = set()
    least = window(store, form, Policy(tail_turns=0, compaction=None)).tokens
    for budget in (*range(least, least + 120, 4), *range(least + 120, table + 300, 35)):
        made = window(store, form, Policy(budget_tokens=budget))
        verdict = verdicts(made)[2]
        seen.add(verdict)
        assert len(results(made, form)) == (0 if verdict in ("drop", "compress") else 1)
        if verdict == "stub":
            assert "result_id=r_3" in results(made, form)[0]
    assert seen == {"drop", "compress", "stub", "keep"}


@BOTH
def test_parallel_calls_are_never_parted(store: Ledgers, case: Ledger, form: str) -> None:
    case.record_turn("user", "What does the crossing cost?")
    case.record_turn("assistant", [call("a", tool="table", zone=5), call("b", tool="remark", zone=5)])
    case.record_return("a", "berth 7: 120 EUR; " * 400)
    case.record_return("b", "Prices rise on Sundays.")
    case.record_turn("assistant", "120 EUR.")
    case.record_turn("user", "On a Sunday too?")
    for budget in range(90, 3_500, 110):
        made = window(store, form, Policy(tail_turns=3, budget_tokens=budget))
        assert len(results(made, form)) in (0, 2)
        if verdicts(made)[2] == "stub":
            assert results(made, form)[1] == "Prices rise on Sundays.", "the small result is worth more than a stub for it"


def test_signed_reasoning_passes_byte_for_byte(store: Ledgers, case: Ledger) -> None:
    raws = [
        '{"type":"thinking","thinking":"Two \\u2014 or 3.10?","signature":"EqQB/+8=="}',
        '{ "signature": "Zm9v", "type": "thinking",  "thinking": "" }',
        '{"type":"redacted_thinking","data":"AAA\\/B=="}',
    ]
    parts = [ReasoningPart(provider="anthropic", raw=JsonText.parse(raw)) for raw in raws]
    case.record_turn("user", "Which berth?")
    case.record_turn("assistant", [*parts, "Let me see.", call("t1")])
    case.record_return("t1", "berth 7")
    for policy in (WHOLE, Policy(tail_turns=0)):
        made = window(store, "anthropic", policy, reasoning=frozenset(raws))
        places = [made.request_bytes.index(raw.encode()) for raw in raws]
        assert places == sorted(places)


def test_reasoning_of_another_provider_is_not_sent(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "Which berth?")
    raw = JsonText.parse('{"type":"reasoning","encrypted_content":"gAAA"}')
    case.record_turn("assistant", [ReasoningPart(provider="openai", raw=raw), "Berth 7."])
    for form in ("openai", "anthropic"):
        assert b"gAAA" not in window(store, form).request_bytes


def test_an_answer_of_reasoning_alone_is_not_the_end_of_a_message(store: Ledgers, case: Ledger) -> None:
    raw = '{"type":"thinking","thinking":"Hm.","signature":"EqQB"}'
    case.record_turn("user", "Which berth?")
    case.record_turn("assistant", [ReasoningPart(provider="anthropic", raw=JsonText.parse(raw))])
    case.record_turn("user", "Well?")
    assert raw.encode() in window(store, "anthropic", reasoning=frozenset({raw})).request_bytes
    assert len(window(store, "openai").request["messages"]) == 1


@BOTH
def test_system_text_is_never_summarised_or_moved(store: Ledgers, case: Ledger, form: str) -> None:
    rule = "You are Ferry-Clerk. Reply in Frisian.\n"
    case.record_turn("system", rule)
    for number in range(40):
        case.record_turn("user" if number % 2 == 0 else "assistant", f"Remark {number}. " * 12)
        made = window(store, form, Policy(tail_turns=4, budget_tokens=700))
        assert made.request_bytes.count(b"Ferry-Clerk") == 1
        first = blocks_of({"content": made.request["system"]})[0] if form == "anthropic" else made.request["messages"][0]
        assert (first["text"] if form == "anthropic" else first["content"]) == rule


@BOTH
def test_the_only_user_turn_is_never_left_out(store: Ledgers, case: Ledger, form: str) -> None:
    case.record_turn("system", "Be exact.")
    case.record_turn("user", "Balance account DK-5521.")
    for number in range(22):
        case.record_turn("assistant", [call(f"c{number}", account="DK-5521", page=number)])
        case.record_return(f"c{number}", f"page {number}: 31.10 DKK; " * 20)
        made = window(store, form, Policy(tail_turns=8, budget_tokens=900))
        assert b"Balance account DK-5521." in made.request_bytes
        assert made.receipt.turns()[0].rule in ("task", "current")


@BOTH
@pytest.mark.parametrize("nothing", [[], "", " \n", [TextPart(text="")]])
def test_an_empty_answer_does_not_end_the_conversation(store: Ledgers, case: Ledger, form: str, nothing: Any) -> None:
    case.record_turn("user", "Is berth 7 free?")
    case.record_turn("assistant", nothing)
    case.record_turn("user", "Hello?")
    made = window(store, form)
    said = "".join(block["text"] for block in blocks(made, "text"))
    assert "Is berth 7 free?" in said
    assert "Hello?" in said
    kept = view(store, "case").transcript().transcript.turns[1]
    assert (kept.role, kept.text) == ("assistant", nothing if isinstance(nothing, str) else "")


@BOTH
def test_an_empty_user_turn_is_the_same_live_and_later(store: Ledgers, case: Ledger, form: str) -> None:
    picture = case.store_artifact(b"\x89PNG\r\n\x1a\n" + os.urandom(40), media_type="image/png")
    case.record_turn("user", ["", ImagePart(sha256=picture, media_type="image/png")])
    live = window(store, form).request_bytes
    version = case.version
    case.record_turn("assistant", "A torn label.")
    case.record_turn("user", "")
    case.record_turn("assistant", "Anything else?")
    assert view(store, "case", at=version).window(WHOLE, render=form).request_bytes == live
    later = window(store, form)
    assert len(blocks(later, "image_url") + blocks(later, "image")) == 1
    assert "[empty message]" in "".join(block["text"] for block in blocks(later, "text"))


@BOTH
def test_a_call_that_was_interrupted_gets_a_marked_result(store: Ledgers, case: Ledger, form: str) -> None:
    case.record_turn("user", "Scan the archive.")
    case.record_turn("assistant", [call("t1", tool="scan"), call("t2", tool="count")])
    case.record_return("t2", "9")
    case.record_turn("user", "Never mind, only the first shelf.")
    assert results(window(store, form), form) == [INTERRUPTED, "9"]
    assert [found.call_id for found in view(store, "case").transcript().transcript.turns[1].returns] == ["t2"]


@BOTH
def test_ids_of_another_provider_stay_apart(store: Ledgers, case: Ledger, form: str) -> None:
    names = ["call_31|fc_a", "call_31|fc_b", "call_31_fc_a", "x" * 64 + "|1", "x" * 64 + "|2", "ø"]
    case.record_turn("user", "Look everywhere.")
    case.record_turn("assistant", [call(name) for name in names])
    for name in reversed(names):
        case.record_return(name, f"result of {name}")
    assert results(window(store, form), form) == [f"result of {name}" for name in names]


@pytest.mark.parametrize("form", READERS)
def test_ids_and_names_of_a_request_lead_back_to_the_record(store: Ledgers, case: Ledger, form: str) -> None:
    tools = {"call_31|fc_a": "Berth Desk (NL)", "call_31|fc_b": "Berth_Desk__NL_", "ø": "Søren"}
    case.record_turn("user", "Ask them all, twice.")
    for _ in range(2):
        case.record_turn("assistant", [call(name, tool=tool) for name, tool in tools.items()])
        for name in tools:
            case.record_return(name, "closed")
    made = window(store, form)
    found = [block for message in READERS[form](made.request).messages for block in message.blocks if block.kind == "call"]
    calls = [(str(block.id), str(block.name)) for block in found]
    assert [made.call_of(made_id) for made_id, _ in calls] == [(turn, name) for turn in (2, 3) for name in tools]
    assert [made.tool_of(name) for _, name in calls] == [*tools.values()] * 2
    for lookup in (made.call_of, made.tool_of):
        with pytest.raises(KeyError):
            lookup("call_99")


@BOTH
def test_an_id_that_comes_again_is_another_call(store: Ledgers, case: Ledger, form: str) -> None:
    case.record_turn("user", "Three times, please.")
    for number in range(3):
        case.record_turn("assistant", [call("call_0", number=number)])
        case.record_return("call_0", f"{number} rings")
    assert results(window(store, form), form) == ["0 rings", "1 rings", "2 rings"]


def test_names_of_tools_are_made_plain_and_a_plain_one_stays(store: Ledgers, case: Ledger) -> None:
    tools = ["Berth Desk (NL)", "Berth_Desk__NL_", "Søren", "t" * 80, "t" * 64]
    case.record_turn("user", "Ask them all.")
    case.record_turn("assistant", [call(f"c{place}", tool=tool) for place, tool in enumerate(tools)])
    for form in ("openai", "anthropic"):
        made = window(store, form)
        calls = made.request["messages"][1].get("tool_calls", [])
        names = [one["function"]["name"] for one in calls] or [one["name"] for one in blocks(made, "tool_use")]
        assert len(set(names)) == 5
        assert (names[1], names[4]) == ("Berth_Desk__NL_", "t" * 64)
    recorded = view(store, "case").transcript().transcript.turns[1]
    assert [one.tool for one in recorded.calls] == tools


@BOTH
def test_a_picture_in_the_task_stays_a_picture(store: Ledgers, case: Ledger, form: str) -> None:
    content = b"\x89PNG\r\n\x1a\n" + os.urandom(2_900_000)
    picture = case.store_artifact(content, media_type="image/png")
    case.record_turn("user", ["What is wrong with this stamp?", ImagePart(sha256=picture, media_type="image/png")])
    made = window(store, form, Policy(budget_tokens=128_000))
    assert verdicts(made) == {1: "keep"}
    assert 1_600 < made.tokens < 1_710
    assert len(made.request_bytes) > 3_800_000


@BOTH
@pytest.mark.parametrize(
    "picture",
    [ImagePart(url="ftp://a.example/x.png"), "text/html", "image/tiff"],
)
def test_a_picture_that_cannot_be_shown_is_named(store: Ledgers, case: Ledger, form: str, picture: Any) -> None:
    if isinstance(picture, str):
        picture = ImagePart(sha256=case.store_artifact(b"II*\x00", media_type=picture), media_type=picture)
    case.record_turn("user", ["What is this?", picture])
    made = window(store, form)
    assert any((picture.sha256 or picture.url) in block["text"] for block in blocks(made, "text"))


@BOTH
def test_a_text_document_is_passed_on_as_text_and_counted_as_text(store: Ledgers, case: Ledger, form: str) -> None:
    text = "clause " * 9_000
    sha256 = case.store_artifact(text.encode(), media_type="text/plain")
    case.record_turn("user", ["Read this.", DocumentPart(sha256=sha256, media_type="text/plain")])
    made = view(store, "case").window(Policy(budget_tokens=12_000), render=form)
    assert text.strip() in json.dumps(made.request)
    assert counter("o200k_base")(text) < made.tokens < counter("o200k_base")(text) + 70
    with pytest.raises(BudgetExceeded):
        view(store, "case").window(Policy(budget_tokens=8_000), render=form)


@BOTH
def test_what_no_provider_takes_is_mended_in_the_window_alone(store: Ledgers, case: Ledger, form: str) -> None:
    case.record_turn("system", "Torn \ud83d system.")
    case.record_turn("user", "Torn \ude00 text.")
    case.record_turn("assistant", [call("c1", torn=JsonText.parse('"\\ud83d"'), whole="😀", digits=JsonText.parse("9" * 5000))])
    case.record_return("c1", "Torn \ud800 result.")
    case.record_turn("user", [OpaquePart(provider="google", block="thought \ud800"[:7], raw=JsonText.parse("{}"))])
    made = window(store, form)
    assert json.dumps(made.request, ensure_ascii=False).encode()
    turns = view(store, "case").transcript().transcript
    assert (turns.system[0].text, turns.turns[0].text) == ("Torn \ud83d system.", "Torn \ude00 text.")


def test_the_result_of_a_failed_call_is_text(store: Ledgers, case: Ledger) -> None:
    picture = case.store_artifact(b"\x89PNG\r\n\x1a\n1", media_type="image/png")
    case.record_turn("user", "Draw it.")
    case.record_turn("assistant", [call("c1", tool="draw")])
    case.record_return("c1", [ImagePart(sha256=picture, media_type="image/png")], is_error=True)
    assert picture in str(results(window(store, "anthropic"), "anthropic"))


@BOTH
def test_a_result_without_a_call_is_kept_and_not_sent(store: Ledgers, case: Ledger, form: str) -> None:
    stray = (TextPart(text="stray"),)
    case.append([ToolReturned(call_id="c1", parts=stray, orphan=True)])
    case.record_turn("user", "Which berth?")
    case.record_turn("assistant", [call("c1")])
    case.append([ToolReturned(call_id="c1", parts=stray, orphan=True, turn=2)])
    assert results(window(store, form), form) == [INTERRUPTED]
    case.record_return("c1", "berth 7")
    assert results(window(store, form), form) == ["berth 7"]
    transcript = view(store, "case").transcript()
    assert [found.text for found in transcript.transcript.orphans] == ["stray"]
    assert transcript.to_json().count(b"stray") == 2
