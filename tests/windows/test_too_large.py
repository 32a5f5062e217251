"""A turn whose words alone are more than the budget: no window can show it, and none of the others has to go for it."""

from __future__ import annotations

import pytest

from ledger import JsonText, Ledgers, connect
from ledger.parts import ToolCallPart
from projections.errors import BudgetExceeded
from projections.pieces import TurnPiece
from projections.policy import Compaction, Policy
from projections.window import Window
from replay import View, view

POLICY = Policy(budget_tokens=1_500, tail_turns=4, compaction=Compaction(segment_turns=4))
LARGE = "The log says: all pumps run. " * 300


def shown(window: Window) -> list[int]:
    return [piece.turn.number for piece in window.plan.pieces if isinstance(piece, TurnPiece)]


def talk(store: Ledgers, turns: int) -> None:
    case = store.ledger("case")
    case.record_turn("user", "Empty the lock LK-4 before noon.")
    for number in range(2, turns + 1):
        case.record_turn("user" if number % 2 else "assistant", f"Gate G-{number:02d} is half open and its pump runs. " * 4)


def test_it_is_left_out_alone(store: Ledgers) -> None:
    talk(store, 40)
    case = store.ledger("case")
    before = view(store, "case").window(POLICY)
    assert before.receipt.through > 0
    assert before.receipt.gave_way == ()
    case.record_turn("assistant", LARGE)
    with pytest.raises(BudgetExceeded):
        view(store, "case").window(POLICY)
    for number in range(42, 46):
        case.record_turn("user", f"And gate G-{number}?")
        window = view(store, "case").window(POLICY)
        assert window.receipt.gave_way == ("turn 41",)
        assert [turn for turn in range(number - 4, number + 1) if turn not in shown(window)] == [41]
        assert '\n41: "assistant: The log says: all pumps run.' in window.text
        assert window.tokens > POLICY.budget_tokens // 2


def test_it_presses_on_nothing_and_crowds_nothing_out(store: Ledgers) -> None:
    talk(store, 40)
    case = store.ledger("case")
    case.record_turn("assistant", LARGE)
    case.record_turn("user", "Go on.")
    with_it = view(store, "case").window(POLICY)
    rows = {row.turn: row for row in with_it.receipt.rows}
    assert (rows[41].verdict, rows[41].rule, rows[41].tokens) == ("compress", "budget", 0)
    assert {rows[number].verdict for number in range(38, 43) if number != 41} == {"keep"}


def berths(store: Ledgers) -> View:
    case = store.ledger("case")
    case.record_turn("user", "Find a berth.")
    look = ToolCallPart(call_id="c1", tool="look", arguments=JsonText.of({"q": "berths"}))
    case.record_turn("assistant", ["A berth is free. " * 100, look])
    case.record_return("c1", "fathom " * 1_500)
    for number in range(8):
        case.record_turn("user" if number % 2 else "assistant", f"Turn {number} says something.")
    return view(store, "case")


def test_it_is_too_large_for_one_budget_and_not_for_another(store: Ledgers) -> None:
    large, small = Policy(budget_tokens=30_000), Policy(budget_tokens=350)
    alone = berths(store).window(large)
    with connect(":memory:") as other:
        seen = berths(other)
        assert seen.window(small).receipt.gave_way == ("turn 2",)
        assert seen.window(large).request_bytes == alone.request_bytes


def test_it_is_compacted_like_any_other(store: Ledgers) -> None:
    talk(store, 12)
    case = store.ledger("case")
    case.record_turn("assistant", LARGE)
    for number in range(14, 60):
        case.record_turn("user" if number % 2 else "assistant", f"Gate G-{number:02d} is half open and its pump runs. " * 4)
        assert view(store, "case").window(POLICY).tokens <= POLICY.budget_tokens
    receipt = view(store, "case").window(POLICY).receipt
    assert receipt.through > 13
    assert receipt.gave_way == ()
