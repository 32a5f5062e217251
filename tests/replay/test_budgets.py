"""What a window may cost, and what it costs."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from itertools import pairwise, takewhile
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers
from ledger.parts import ImagePart, TextPart, ToolCallPart, Unparsed, Usage
from projections.errors import BudgetExceeded
from projections.invariants import violations
from projections.policy import Policy, StubRules
from projections.window import Window
from replay import view
from replay.tokens import counter
from tests.projections.counting import tokens_of
from tests.replay.message_blocks import blocks_of

BOTH = pytest.mark.parametrize("form", ["openai", "anthropic"])
O200K = counter("o200k_base")


def call(name: str, tool: str = "read") -> ToolCallPart:
    return ToolCallPart(call_id=name, tool=tool, arguments=JsonText.of({"name": name}))


def results(made: Window) -> list[str]:
    return [message["content"] for message in made.request["messages"] if message["role"] == "tool"]


def words(tokens: int, word: str = " berth") -> str:
    return word.strip() + word * (tokens - 1)


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
def test_the_spelling_of_a_special_token_is_text(store: Ledgers, case: Ledger, encoding: str) -> None:
    said = "Must each page end with <|endoftext|> or <|endofprompt|>?"
    case.record_turn("user", said)
    made = view(store, "case").window(Policy(encoding=encoding))
    assert made.request["messages"] == [{"role": "user", "content": said}]
    exact = 3 + 4 + counter(encoding)("user") + counter(encoding)(said)
    assert exact <= made.tokens <= exact + 6


@BOTH
@pytest.mark.parametrize("size", [200, 900_000])
def test_the_bytes_of_a_picture_are_never_counted(store: Ledgers, case: Ledger, form: str, size: int) -> None:
    picture = case.store_artifact(b"\x89PNG\r\n\x1a\n" + os.urandom(size), media_type="image/png")
    case.record_turn("user", "Photograph the stamp.")
    case.record_turn("assistant", [call("c1")])
    case.record_return("c1", [TextPart(text="Done."), ImagePart(sha256=picture, media_type="image/png")])
    case.record_turn("user", [ImagePart(sha256=picture, media_type="image/png")])
    policy = Policy(budget_tokens=4_000, image_tokens=1_000)
    made = view(store, "case").window(policy, render=form)
    assert (1_000 if form == "openai" else 2_000) < made.tokens < 2_230
    assert {row.verdict for row in made.receipt} == {"keep"}
    assert tokens_of(made, policy) <= made.tokens


def test_what_is_reserved_stays_free(store: Ledgers, case: Ledger) -> None:
    case.record_turn("system", words(700))
    case.record_turn("user", "Go on.")
    for number in range(20):
        case.record_turn("assistant" if number % 2 else "user", words(100))
    window, reply, tools = 3_200, 400, 1_600
    made = view(store, "case").window(Policy(tail_turns=50, budget_tokens=window, reserve_tokens=reply + tools))
    assert made.tokens + reply + tools <= window
    assert made.tokens + reply + tools > window - 110, "no more is left free than one turn would need"


def test_a_reserve_that_leaves_too_little_is_named(store: Ledgers, case: Ledger) -> None:
    case.record_turn("system", words(700))
    case.record_turn("user", "Go on.")
    with pytest.raises(BudgetExceeded, match="less 3,000 in reserve") as refusal:
        view(store, "case").window(Policy(budget_tokens=3_200, reserve_tokens=3_000))
    assert (refusal.value.reserve_tokens, refusal.value.budget_tokens) == (3_000, 3_200)
    assert refusal.value.pins["system"] > 700


def test_pins_that_are_too_large_are_named_one_by_one(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "Find a berth.")
    for number in range(2, 40):
        case.record_turn("assistant" if number % 2 else "user", words(50 + number))
    view(store, "case").window(Policy(tail_turns=1, budget_tokens=900, pins=(3, 6, 38)))
    with pytest.raises(BudgetExceeded, match=r"pin 3: \d\d.*pin 38: \d\d") as refusal:
        view(store, "case").window(Policy(tail_turns=1, budget_tokens=200, pins=(3, 6, 38, 39, 99)))
    pins = refusal.value.pins
    assert list(pins) == ["system", "task", "current", "pin 3", "pin 6", "pin 38", "notes"]
    assert [50 + number <= pins[f"pin {number}"] < 60 + number for number in (3, 6, 38)] == [True] * 3


def test_of_many_pins_the_message_names_the_largest(store: Ledgers, case: Ledger) -> None:
    for number in range(1, 200):
        case.record_turn("assistant" if number % 2 == 0 else "user", words(number))
    with pytest.raises(BudgetExceeded) as refusal:
        view(store, "case").window(Policy(tail_turns=1, budget_tokens=900, pins=tuple(range(2, 190))))
    assert len(refusal.value.pins) > 188
    assert "pin 189:" in str(refusal.value)
    assert "more: " in str(refusal.value)
    assert len(str(refusal.value)) < 500


def test_what_the_provider_once_counted_decides_nothing(store: Ledgers, case: Ledger) -> None:
    for number in range(6):
        usage = Usage(input_tokens=190_000, output_tokens=9) if number % 2 else None
        case.record_turn("assistant" if number % 2 else "user", f"Remark {number}.", usage=usage)
    made = view(store, "case").window()
    assert {row.verdict for row in made.receipt} == {"keep"}
    assert made.tokens < 100


@pytest.mark.parametrize("later", [False, True])
def test_of_parallel_results_that_nobody_answered_the_largest_are_cut_alike(store: Ledgers, case: Ledger, later: bool) -> None:
    sizes = [900, 910, 890, 905, 895, 920, 885, 10]
    case.record_turn("user", "Read all eight.")
    case.record_turn("assistant", [call(f"c{number}") for number in range(8)])
    for number, size in enumerate(sizes):
        case.record_return(f"c{number}", words(size))
    if later:
        case.record_turn("user", "And?")
    made = view(store, "case").window(Policy(budget_tokens=4_000))
    shown = results(made)
    assert len(shown) == 8
    assert shown[7] == words(10), "what is small stays whole"
    counts = [O200K(text) for text in shown[:7]]
    assert max(counts) - min(counts) < 60
    assert 3_500 < made.tokens <= 4_000, "no more is cut than is needed"
    ids = [f"result_id=r_{found.version}" for found in view(store, "case").transcript().transcript.turns[1].returns]
    for text, result_id in zip(shown[:7], ids, strict=False):
        assert text.startswith("berth berth")
        assert text.endswith(" berth")
        assert text.count("characters left out") == text.count(result_id) == 1


def test_of_results_that_were_answered_the_oldest_become_stubs_first(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "Read all four.")
    for number in range(4):
        case.record_turn("assistant", [call(f"c{number}")])
        case.record_return(f"c{number}", words(900))
    case.record_turn("assistant", "Done.")
    case.record_turn("user", "And?")
    made = view(store, "case").window(Policy(budget_tokens=2_500))
    shown = results(made)
    ids = [f"result_id=r_{turn.returns[0].version}" for turn in view(store, "case").transcript().transcript.turns[1:5]]
    assert [result_id in text for text, result_id in zip(shown, ids, strict=True)] == [True, True, False, False]
    assert shown[2:] == [words(900), words(900)]
    assert all(O200K(text) <= 45 for text in shown[:2])
    assert [row.verdict for row in made.receipt] == ["keep", "stub", "stub", "keep", "keep", "keep", "keep"]


def test_of_results_in_the_tail_the_oldest_are_cut_where_other_texts_take_the_room(store: Ledgers, case: Ledger) -> None:
    case.record_turn("system", words(900))
    case.record_turn("user", "Read both.")
    for number in range(2):
        case.record_turn("assistant", [call(f"c{number}")])
        case.record_return(f"c{number}", words(900))
    case.record_turn("assistant", "Done.")
    made = view(store, "case").window(Policy(budget_tokens=2_500))
    first, second = results(made)
    head, mark, tail = first.split("\n")
    assert words(900).startswith(head)
    assert words(900).endswith(tail)
    assert mark.endswith("left out; whole result: result_id=r_4]")
    assert 1_500 < len(first) <= 1_760
    assert second == words(900)
    assert made.tokens <= 2_500


def test_spent_results_give_way_before_those_of_the_tail_and_fresh_ones(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "Read all three.")
    for number in range(3):
        case.record_turn("assistant", [call(f"c{number}")])
        case.record_return(f"c{number}", words(700))
    policy = Policy(budget_tokens=2_100, tail_turns=1, stubs=StubRules(older_than_turns=50))
    made = view(store, "case").window(policy)
    shown = results(made)
    assert shown[0].endswith("; whole result: result_id=r_3]")
    assert shown[1:] == [words(700), words(700)]
    assert made.receipt.gave_way == ("spent results",)


@pytest.mark.parametrize("form", ["openai", "openai_responses", "anthropic", "gemini"])
def test_a_result_that_says_nothing_is_never_cut(store: Ledgers, case: Ledger, form: str) -> None:
    case.record_turn("user", "Look at both.")
    case.record_turn("assistant", [call("c1"), call("c2")])
    case.record_return("c1", "fathom depth " * 1_500)
    case.record_return("c2", "")
    fitted = 0
    for budget_tokens in range(80, 260):
        with suppress(BudgetExceeded):
            made = view(store, "case").window(Policy(budget_tokens=budget_tokens), render=form)
            assert violations(form, made.request) == ()
            fitted += 1
    assert fitted > 100


@pytest.mark.parametrize("form", ["anthropic", "gemini"])
def test_arguments_that_are_no_json_are_counted_as_they_are_written(store: Ledgers, case: Ledger, form: str) -> None:
    written = '{"text": "' + 'a "quoted"\\n\tword ' * 300
    case.record_turn("user", "Write it.")
    case.record_turn("assistant", [ToolCallPart(call_id="c1", tool="write", arguments=Unparsed(unparsed=written))])
    case.record_return("c1", "done")
    made = view(store, "case").window(render=form)
    assert made.tokens >= O200K(json.dumps({"unparsed_arguments": written}))


def test_the_receipt_says_what_was_cut(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "Read both.")
    for number in range(2):
        case.record_turn("assistant", [call(f"c{number}")])
        case.record_return(f"c{number}", words(900 + 2_000 * number))
    made = view(store, "case").window(Policy(budget_tokens=1_500))
    assert made.receipt.gave_way == ("results of the tail", "results not answered yet")
    assert [row.verdict for row in made.receipt] == ["keep", "stub", "stub"]


def test_results_of_a_pinned_turn_are_never_cut(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "Read both.")
    case.record_turn("assistant", [call("c0")])
    case.record_return("c0", words(900))
    case.record_turn("user", words(500))
    assert results(view(store, "case").window(Policy(budget_tokens=1_500, pins=(2,)))) == [words(900)]
    with pytest.raises(BudgetExceeded) as refused:
        view(store, "case").window(Policy(budget_tokens=1_200, pins=(2,)))
    assert refused.value.details["pins"]["pin 2"] > 900


def test_pictures_weigh_what_they_cost_when_results_must_shrink(store: Ledgers, case: Ledger) -> None:
    picture = case.store_artifact(b"\x89PNG\r\n\x1a\n1", media_type="image/png")
    case.record_turn("user", "Photograph both.")
    case.record_turn("assistant", [call("c1"), call("c2")])
    case.record_return("c1", [ImagePart(sha256=picture, media_type="image/png")])
    case.record_return("c2", words(600))
    made = view(store, "case").window(Policy(budget_tokens=900), render="anthropic")
    shown = [block["content"] for block in made.request["messages"][2]["content"][:2]]
    assert "result_id=r_4" in str(shown[0])
    assert picture in str(shown[0])
    assert shown[1] == words(600)


@BOTH
def test_every_build_keeps_to_the_budget_in_the_middle_of_a_run(store: Ledgers, case: Ledger, form: str) -> None:
    case.record_turn("user", "Audit the sixty shelves.")
    policy = Policy(budget_tokens=2_500)
    for number in range(60):
        case.record_turn("assistant", [call(f"c{number}")])
        case.record_return(f"c{number}", words(400))
        made = view(store, "case").window(policy, render=form)
        assert tokens_of(made, policy) <= made.tokens <= 2_500
        assert made.tokens > 2_000 or number < 5


def test_k_counts_turns_and_not_messages(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "Start.")
    for number in range(4):
        case.record_turn("assistant", [call(f"c{number}{place}") for place in range(9)])
        for place in range(9):
            case.record_return(f"c{number}{place}", "ok")
        case.record_turn("user", f"Next, {number}.")
    made = view(store, "case").window(Policy(tail_turns=3, budget_tokens=20_000))
    assert [row.turn for row in made.receipt if row.rule == "tail"] == [6, 7, 8]
    assert [row.turn for row in made.receipt if row.rule == "not compacted yet"] == [2, 3, 4, 5]
    alone = view(store, "case").window(Policy(tail_turns=3, budget_tokens=20_000, compaction=None))
    assert [(row.turn, row.rule) for row in alone.receipt if row.verdict == "drop"] == [
        (number, "outside the tail") for number in (2, 3, 4, 5)
    ]
    assert len(results(alone)) == 18


def common(before: Window, after: Window) -> bytes:
    """The bytes with which both begin, each text as a block, without the marks of what is to be cached."""
    pairs = zip(in_blocks(before), in_blocks(after), strict=False)
    return bytes(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def in_blocks(made: Window) -> bytes:
    messages = [
        [message["role"], [{**block, "cache_control": None} for block in blocks_of(message)]]
        for message in made.request["messages"]
    ]
    return json.dumps(messages, ensure_ascii=False).encode()


def in_json(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False)[1:-1].encode()


@BOTH
def test_successive_windows_begin_alike(store: Ledgers, case: Ledger, form: str) -> None:
    system, task = words(300, " Be exact."), "Reconcile the berth fees of May.\n" + words(200, " fee")
    case.record_turn("system", system)
    case.record_turn("user", task)
    case.record_turn("assistant", "Which harbour?")
    case.record_turn("user", "Ghent.")
    case.set_fact("harbour", "Ghent", source="user", turn=3)
    made: list[Window] = []
    for number in range(8):
        case.record_turn("assistant" if number % 2 == 0 else "user", f"Remark {number}.")
        made.append(view(store, "case").window(Policy(tail_turns=20), render=form))
    for before, after in pairwise(made):
        prefix = common(before, after)
        assert in_json(task) in prefix
        assert in_json(system) in (before.request_bytes if form == "anthropic" else prefix)
        messages = before.request["messages"][:-1]
        assert after.request["messages"][: len(messages)] == messages, "nothing but the end is new"


@BOTH
def test_a_sliding_tail_changes_nothing_before_the_task_ends(store: Ledgers, case: Ledger, form: str) -> None:
    task = "Reconcile the berth fees of May.\n" + words(200, " fee")
    case.record_turn("system", "Be exact.")
    case.record_turn("user", task)
    case.set_fact("harbour", "Ghent", source="user", turn=1)
    made: list[Window] = []
    for number in range(12):
        case.record_turn("assistant" if number % 2 == 0 else "user", f"Remark {number}.")
        made.append(view(store, "case").window(Policy(tail_turns=3), render=form))
    assert all(in_json(task) in common(before, after) for before, after in pairwise(made))


def test_a_turn_without_a_limit_of_text_is_counted_as_it_is(store: Ledgers, case: Ledger) -> None:
    encoded = "QUJD" * 4_000
    case.record_turn("user", "What is in it?")
    case.record_turn("assistant", [call("c1")])
    case.record_return("c1", encoded)
    assert view(store, "case").window(Policy(budget_tokens=50_000)).tokens > O200K(encoded)
    made = view(store, "case").window(Policy(budget_tokens=1_000))
    assert made.tokens <= 1_000
    assert O200K(results(made)[0]) > 800
    assert "characters left out; whole result: result_id=r_3]" in results(made)[0]


def test_policies_that_make_no_sense_are_refused() -> None:
    wrong: list[dict[str, Any]] = [{"tail_turns": -1}, {"budget_tokens": 0}, {"reserve_tokens": -1}, {"tail": 3}]
    for fields in wrong:
        with pytest.raises(ValueError, match=next(iter(fields))):
            Policy(**fields)


def test_each_rule_of_a_policy_changes_its_digest() -> None:
    changed = [Policy(tail_turns=5), Policy(budget_tokens=7_999), Policy(reserve_tokens=1), Policy(encoding="cl100k_base")]
    changed += [Policy(image_tokens=1), Policy(document_tokens=1)]
    assert len({policy.digest for policy in (Policy(), *changed)}) == 7
    assert len({policy.middle_digest for policy in (Policy(), *changed)}) == 7, "what is priced otherwise is made otherwise"
    assert Policy().digest == Policy().digest


@BOTH
def test_what_is_left_out_is_said_before_older_turns_are_kept(store: Ledgers, case: Ledger, form: str) -> None:
    for number in range(12):
        case.record_turn("assistant" if number % 2 else "user", f"Remark {number} about the mooring lines.")
    least = view(store, "case").window(Policy(tail_turns=0, compaction=None), render=form).tokens
    for budget in range(least, least + 140):
        made = view(store, "case").window(Policy(tail_turns=9, budget_tokens=budget), render=form)
        if any(row.verdict in ("compress", "drop") for row in made.receipt):
            says_so = b"not shown here; the record has " in made.request_bytes
            assert says_so or not any(row.rule == "tail" and row.verdict == "keep" for row in made.receipt)
