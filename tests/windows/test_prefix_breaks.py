"""A report on what a cache serves says at which turn the beginning of a request changed, and what changed it."""

from __future__ import annotations

import re

import pytest

from ledger import Ledger, Ledgers
from ledger.json_text import JsonText
from ledger.parts import ToolCallPart
from projections.policy import Compaction, Policy, StubRules
from replay.prefix import prefix_report

ROOMY = Policy(budget_tokens=50_000, tail_turns=2, stubs=StubRules(spent=False))


@pytest.fixture
def case(store: Ledgers) -> Ledger:
    """A ledger with a task."""
    opened = store.ledger("case")
    opened.record_turn("system", "You plan berths.")
    opened.record_turn("user", "Find a berth for the Elsa.")
    return opened


def read_page(case: Ledger, number: int) -> None:
    case.record_turn("assistant", [ToolCallPart(call_id=f"c{number}", tool="read", arguments=JsonText.of({"page": number}))])
    case.record_return(f"c{number}", f"Berth B-{number:02} has a depth of {number} fathoms. " * 40)


def changes(store: Ledgers, policy: Policy) -> list[tuple[int, str]]:
    return [(change.turn, change.because) for change in prefix_report(store, "case", policy).breaks]


def test_a_system_text_that_came_later(store: Ledgers, case: Ledger) -> None:
    for number in range(1, 6):
        read_page(case, number)
    case.record_turn("system", "Prefer berths with cranes.")
    for number in range(6, 11):
        read_page(case, number)
    assert changes(store, ROOMY) == [(7, "the system text changed")]


def test_a_result_that_came_late(store: Ledgers, case: Ledger) -> None:
    case.record_turn("assistant", [ToolCallPart(call_id="slow", tool="ask", arguments=JsonText.of({"whom": "harbour"}))])
    for number in range(1, 6):
        read_page(case, number)
    case.record_return("slow", "The harbour master says: B-05.")
    for number in range(6, 9):
        read_page(case, number)
    assert changes(store, ROOMY) == [(8, "turns read otherwise, since more was recorded of them")]


def test_a_state_that_stands_after_the_system_text(store: Ledgers, case: Ledger) -> None:
    for number in range(1, 6):
        read_page(case, number)
    case.set_fact("berth", "B-05", source="tool")
    for number in range(6, 9):
        read_page(case, number)
    assert changes(store, ROOMY) == []
    first = ROOMY.model_copy(update={"state_place": "after_system"})
    assert changes(store, first) == [(7, "the state changed, which stands after the system text")]


def test_a_segment_that_was_compacted_while_the_state_changed(store: Ledgers, case: Ledger) -> None:
    for number in range(1, 16):
        read_page(case, number)
        case.set_fact("page", number, source="tool")
    small = {"state_place": "after_system", "budget_tokens": 6_000, "compaction": Compaction(segment_turns=4)}
    found = [because for _, because in changes(store, ROOMY.model_copy(update=small))]
    assert found[0] == "the state changed, which stands after the system text"
    assert any("were compacted" in because for because in found)
    assert not any("turns read otherwise" in because for because in found)


def test_a_batch_of_results_that_was_cleared(store: Ledgers, case: Ledger) -> None:
    for number in range(1, 12):
        read_page(case, number)
    cleared = ROOMY.model_copy(update={"stubs": StubRules(clear_at_least_tokens=1_000)})
    assert {because for _, because in changes(store, cleared)} == {"spent results were cleared"}


def test_a_segment_that_was_compacted(store: Ledgers, case: Ledger) -> None:
    for number in range(1, 16):
        read_page(case, number)
    small = ROOMY.model_copy(update={"budget_tokens": 6_000, "compaction": Compaction(segment_turns=4)})
    assert re.fullmatch(r"turns up to (4|8|12) were compacted", changes(store, small)[0][1])
