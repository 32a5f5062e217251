"""Faults that others had with windows and compaction, each as what must not happen here."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger.parts import DocumentPart, ImagePart, JsonPart, TextPart, ToolCallPart, Usage
from projections.errors import BudgetExceeded
from projections.policy import Compaction, Policy
from projections.window import Window
from replay import Turn, view
from replay.tokens import counter
from tests.windows.promises import faults

FORMS = pytest.mark.parametrize("form", ["openai", "openai_responses", "anthropic", "gemini"])
O200K = counter("o200k_base")


@pytest.fixture
def case(store: Ledgers) -> Ledger:
    """A new ledger."""
    return store.ledger("case")


def call(name: str, tool: str = "measure", **arguments: Any) -> ToolCallPart:
    return ToolCallPart(call_id=name, tool=tool, arguments=JsonText.of(arguments or {"name": name}))


def words(tokens: int, word: str = " quay") -> str:
    return word.strip() + word * (tokens - 1)


def made(store: Ledgers, policy: Policy, form: str = "openai", **more: Any) -> Window:
    """A window that keeps what is promised."""
    seen = view(store, "case")
    window = seen.window(policy, render=form, **more)
    assert faults(seen, window, policy) == []
    return window


TOOLS = [
    {"type": "function", "function": {"name": f"tool_{number}", "description": words(300), "parameters": {"type": "object"}}}
    for number in range(5)
]


def test_definitions_of_tools_count_and_are_named(store: Ledgers, case: Ledger) -> None:
    case.record_turn("system", words(700))
    case.record_turn("user", "Survey the quays.")
    for number in range(40):
        case.record_turn("user" if number % 2 else "assistant", f"Remark {number}. " + words(60))
    policy = Policy(budget_tokens=4_000, reserve_tokens=500)
    with_tools = made(store, policy, tools=TOOLS)
    assert with_tools.tokens + 500 <= 4_000
    assert with_tools.receipt.blocks["tools"] >= 1_500
    assert json.loads(with_tools.request_bytes)["tools"] == TOOLS
    with pytest.raises(BudgetExceeded, match="tools: ") as refusal:
        made(store, Policy(budget_tokens=2_000), tools=TOOLS)
    assert refusal.value.pins["tools"] >= 1_500
    assert refusal.value.pins["system"] >= 700
    assert sum(refusal.value.pins.values()) > 2_000


def test_fixed_parts_that_fill_the_budget_compact_nothing(store: Ledgers, case: Ledger) -> None:
    case.record_turn("system", words(900))
    case.record_turn("user", "Survey the quays.")
    seen = [made(store, Policy(budget_tokens=1_000, state=None)) for _ in range(3)]
    assert {window.receipt.through for window in seen} == {0}
    case.record_turn("assistant", "Which ones?")
    assert made(store, Policy(budget_tokens=1_000, state=None)).receipt.through == 0


def test_a_policy_that_leaves_no_room_is_refused_when_it_is_made() -> None:
    with pytest.raises(ValueError, match="at most 90"):
        Compaction(live_percent=40, kept_percent=30, text_percent=15, exact_percent=10)
    with pytest.raises(ValueError, match="nothing is left for the request"):
        Policy(budget_tokens=2_000, reserve_tokens=2_000)


@FORMS
def test_the_budget_holds_before_every_call_of_a_long_run(store: Ledgers, case: Ledger, form: str) -> None:
    case.record_turn("user", "Sound the depth of all forty basins.")
    policy = Policy(budget_tokens=3_000)
    through = []
    for number in range(40):
        case.record_turn("assistant", [call(f"c{number}")])
        case.record_return(f"c{number}", f"basin {number}: " + words(500))
        window = made(store, policy, form)
        through.append(window.receipt.through)
        assert "Sound the depth of all forty basins." in json.dumps(window.request)
        assert f"basin {number}: quay" in json.dumps(window.request), "what nobody answered yet is shown"
    assert through == sorted(through)
    assert through[-1] > 20


@FORMS
def test_a_group_of_parallel_results_shares_what_is_left(store: Ledgers, case: Ledger, form: str) -> None:
    case.record_turn("user", "Read all six logs.")
    case.record_turn("assistant", [call(f"c{number}") for number in range(6)])
    for number in range(6):
        case.record_return(f"c{number}", f"log {number} begins. " + words(1_500) + f" log {number} ends.")
    window = made(store, Policy(budget_tokens=4_500), form)
    text = json.dumps(window.request)
    places = [text.index(f"log {number} begins.") for number in range(6)]
    assert places == sorted(places)
    assert all(f"log {number} ends." in text for number in range(6))
    assert window.tokens > 4_000


NAMES = (
    "quay-eu-north-7",
    "IR-55310",
    "2031-04-09 17:00",
    "acct-logs-b",
    "10.20.30.40",
    "/etc/quay/limits.toml",
    "4,050.10 EUR",
    "v2.31.4",
)


def test_exact_values_survive_however_often_it_is_compacted(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "Look into the outage.")
    for number, name in enumerate(NAMES):
        case.record_turn("user" if number % 2 == 0 else "assistant", f"Note that it concerns {name} here.")
    for number in range(60):
        case.record_turn("user" if number % 2 else "assistant", f"Then we talked of the weather, {words(30)}, point {number}.")
    policy = Policy(tail_turns=4, budget_tokens=1_600, compaction=Compaction(segment_turns=4))
    window = made(store, policy)
    assert window.receipt.through > 40
    stated = [name for number, name in enumerate(NAMES) if number % 2 == 0]
    assert [name for name in stated if name not in window.text] == []
    for number in range(10, 70, 7):
        view(store, "case", at=Turn(number)).window(policy)
    assert made(store, policy).request_bytes == window.request_bytes


def test_the_beginning_stays_from_call_to_call(store: Ledgers, case: Ledger) -> None:
    case.record_turn("system", words(200))
    case.record_turn("user", "Survey the quays.")
    policy = Policy(tail_turns=4, budget_tokens=3_000)
    shares = []
    before: Window | None = None
    for number in range(60):
        case.record_turn("user" if number % 2 else "assistant", f"Remark {number}. " + words(80))
        case.set_fact("last point", number, source="inferred")  # the state changes at every turn
        window = made(store, policy)
        if before is not None:
            pairs = list(zip(before.request["messages"], window.request["messages"], strict=False))
            same = next((place for place, both in enumerate(pairs) if both[0] != both[1]), len(pairs))
            shares.append(sum(O200K(str(one["content"])) for one, _ in pairs[:same]) / window.tokens)
        before = window
    assert sorted(shares)[len(shares) // 4] > 0.25, "three windows in four share what stands before the state"
    assert min(shares) > 0.08, "system text and task are shared by all"


def test_compaction_takes_nothing_from_the_record(tmp_path: Any) -> None:
    policy = Policy(tail_turns=2, budget_tokens=900)
    path = str(tmp_path / "record.db")
    with connect(path) as store:
        case = store.ledger("case")
        for number in range(1, 61):
            case.record_turn("user" if number % 2 else "assistant", f"Remark {number} about berth {number}. " + words(20))
        whole, events = view(store, "case").transcript().to_json(), case.version
        then = view(store, "case", at=Turn(39)).window(policy).request_bytes
        assert view(store, "case").window(policy).receipt.through > 30
        assert case.version == events
    with connect(path) as store:
        assert view(store, "case").transcript().to_json() == whole
        assert view(store, "case", at=Turn(39)).window(policy).request_bytes == then
        assert len(view(store, "case").window(Policy(budget_tokens=50_000)).receipt.rows) == 60


def test_compacting_twice_in_a_row_is_compacting_once(store: Ledgers, case: Ledger) -> None:
    for number in range(1, 51):
        usage = Usage(input_tokens=180_000, output_tokens=7) if number % 2 == 0 else None
        case.record_turn("user" if number % 2 else "assistant", f"Remark {number}. " + words(40), usage=usage)
    policy = Policy(tail_turns=4, budget_tokens=1_500)
    first, second = made(store, policy), made(store, policy)
    assert first.request_bytes == second.request_bytes
    assert [row.turn for row in second.receipt if row.rule == "tail"] == [46, 47, 48, 49]
    assert all(f"Remark {number}. quay" in second.text for number in (46, 47, 48, 49, 50))


def test_exchanges_are_counted_by_what_the_user_said(store: Ledgers, case: Ledger) -> None:
    for number in range(6):
        case.record_turn("user", f"Question {number}?")
        for place in range(12):
            case.record_turn("assistant", [call(f"c{number}_{place}")])
            case.record_return(f"c{number}_{place}", f"result {number}.{place}")
        case.record_turn("assistant", f"Answer {number}.")
    window = made(store, Policy(tail_turns=0, tail_exchanges=2, budget_tokens=30_000, compaction=None))
    shown = [row.turn for row in window.receipt if row.rule in ("tail", "current")]
    assert shown == list(range(57, 85)), "the last two questions with all that followed them"
    steps = []
    for number in range(4):
        case.record_turn("user", f"Question {6 + number}?")
        case.record_turn("assistant", f"Answer {6 + number}.")
        steps.append(made(store, Policy(tail_turns=0, tail_exchanges=2, budget_tokens=3_000)).receipt.through)
    assert steps == sorted(steps)
    assert steps[-1] > 60, "what left the tail does not pile up"


def test_an_import_of_any_length_is_compacted_in_pieces(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "Read the logs.")
    for number in range(120):
        case.record_turn("assistant", [call(f"c{number}")])
        case.record_return(f"c{number}", f"log {number}: " + words(2_500))
    window = made(store, Policy(budget_tokens=8_000))
    assert window.receipt.through > 80
    last = view(store, "case")
    policy = Policy(budget_tokens=8_000)
    prices = []
    for number in range(120, 130):
        case.record_turn("assistant", [call(f"c{number}")])
        case.record_return(f"c{number}", f"log {number}: " + words(2_500))
        prices.append(made(store, policy).tokens)
    assert max(prices) <= 8_000
    assert last.window(policy).request_bytes == window.request_bytes


@FORMS
def test_encoded_bytes_in_an_address_are_no_text(store: Ledgers, case: Ledger, form: str) -> None:
    address = "data:image/png;base64," + "iVBORw0K" * 40_000
    case.record_turn("user", "What is on the sign?")
    case.record_turn("assistant", [call("c1")])
    case.record_return("c1", [TextPart(text="One picture."), ImagePart(url=address, media_type="image/png")])
    window = made(store, Policy(budget_tokens=4_000), form)
    assert window.tokens < 2_500
    assert [row.verdict for row in window.receipt] == ["keep", "keep"]


ENCODED = "iVBORw0K" * 40_000


@FORMS
@pytest.mark.parametrize("encoded", [ENCODED, f"{ENCODED[:-6]}\\/%3D"], ids=["plain", "escaped"])
@pytest.mark.parametrize("is_json", [True, False])
def test_encoded_bytes_inside_a_result_are_measured(
    store: Ledgers, case: Ledger, form: str, encoded: str, *, is_json: bool
) -> None:
    given = f'{{"files": [{{"url": "data:image/png;base64,{encoded}"}}], "sign": "Quay 7"}}'
    case.record_turn("user", "What is on the sign?")
    case.record_turn("assistant", [call("c1")])
    case.record_return("c1", JsonPart(value=JsonText(given)) if is_json else TextPart(text=given))
    window = made(store, Policy(budget_tokens=4_000), form)
    mark = f"[\u2026 {len(encoded):,} characters left out; whole result: result_id=r_3]"
    shown = given.replace(encoded, mark)
    assert json.loads(shown)["sign"] == "Quay 7"
    assert any(way in window.request_bytes.decode() for way in (shown, json.dumps(shown, ensure_ascii=False)[1:-1]))
    assert window.tokens < 200
    assert view(store, "case").fetch("r_3").text == given


@FORMS
def test_few_encoded_bytes_inside_a_result_stay(store: Ledgers, case: Ledger, form: str) -> None:
    case.record_turn("user", "Which icon is it?")
    case.record_turn("assistant", [call("c1")])
    case.record_return("c1", f".quay {{ background: url(data:image/png;base64,{ENCODED[:1_000]}) }}")
    assert ENCODED[:1_000] + ")" in json.dumps(made(store, Policy(), form).request)


@FORMS
def test_encoded_bytes_in_a_text_are_counted_and_cut(store: Ledgers, case: Ledger, form: str) -> None:
    case.record_turn("user", "Fetch the scan.")
    case.record_turn("assistant", [call("c1")])
    case.record_return("c1", "QmFzZTY0" * 30_000)
    assert made(store, Policy(budget_tokens=300_000), form).tokens > 60_000
    window = made(store, Policy(budget_tokens=2_000), form)
    assert "characters left out; whole result: result_id=r_3]" in json.dumps(window.request)
    case.record_turn("assistant", "It is a scan.")
    for number in range(9):
        case.record_turn("user" if number % 2 == 0 else "assistant", f"Remark {number}.")
    later = made(store, Policy(budget_tokens=2_000), form)
    assert later.receipt.turns()[1].verdict == "stub"


@FORMS
def test_scripts_without_spaces_are_counted_for_what_they_cost(store: Ledgers, case: Ledger, form: str) -> None:
    said = "货物已经到达码头。" * 60
    case.record_turn("user", said)
    window = made(store, Policy(), form)
    assert window.tokens >= O200K(said) >= 240


def test_the_encoding_of_a_model_that_is_new_stands_in_the_window(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "Survey the quays.")
    window = view(store, "case").window(Policy(encoding="gpt-4o-mini-2031-05-05"))
    assert window.encoding == "o200k_base"


@FORMS
def test_a_turn_of_the_user_that_is_blank_reads_alike_now_and_later(store: Ledgers, case: Ledger, form: str) -> None:
    sheet = case.store_artifact(b"row 1\nrow 2\n", media_type="text/plain")
    case.record_turn("user", [TextPart(text=""), DocumentPart(sha256=sheet, media_type="text/plain", name="rows.txt")])
    live = made(store, Policy(), form).request_bytes
    case.record_turn("assistant", "Two rows.")
    case.record_turn("user", "")
    case.record_turn("user", "Thanks.")
    made(store, Policy(), form)
    assert view(store, "case", at=1 + 1).window(Policy(), render=form).request_bytes == live
    assert b"row 2" in live


def test_successive_windows_cost_alike_after_an_old_summary(store: Ledgers, case: Ledger) -> None:
    for number in range(1, 161):
        case.record_turn("user" if number % 2 else "assistant", f"Remark {number}. " + words(60))
    policy = Policy(tail_turns=6, budget_tokens=3_000)
    windows = []
    for number in range(161, 171):
        case.record_turn("user" if number % 2 else "assistant", f"Remark {number}. " + words(60))
        windows.append(made(store, policy))
    assert max(window.tokens for window in windows) <= 3_000
    assert windows[0].receipt.through > 130, "nothing stays whole behind what was compacted once"
    for before, after in pairwise(windows):
        if after.receipt.through == before.receipt.through:
            upto = before.plan.breakpoints[-1] + 1
            assert after.plan.pieces[:upto] == before.plan.pieces[:upto]
