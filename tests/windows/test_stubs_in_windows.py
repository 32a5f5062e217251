"""When results become stubs, what these show, and that this never changes."""

from __future__ import annotations

from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers
from ledger.parts import ToolCallPart, Unparsed
from projections.pieces import TurnPiece
from projections.policy import Compaction, Policy, StubRules
from projections.window import Window
from replay import view

ROWS = "\n".join(f"row {row}: shelf S-{row:03d} holds TRK-{row:05d}" for row in range(60))
SOON = StubRules(clear_at_least_tokens=0)


@pytest.fixture
def case(store: Ledgers) -> Ledger:
    """A ledger whose third turn looks something up."""
    found = store.ledger("case")
    found.record_turn("user", "Bring the parcels to gate 9.")
    found.record_turn("user", "Which shelves are there?")
    call = ToolCallPart(call_id="c1", tool="find_shelves", arguments=JsonText.of({"query": "all"}))
    found.record_turn("assistant", ["I look them up.", call])
    return found


def talk(case: Ledger, number: int, said: str = "Remark {}.") -> None:
    for place in range(number):
        case.record_turn("user" if place % 2 else "assistant", said.format(place))


def shown(store: Ledgers, policy: Policy, **more: Any) -> str | None:
    """What stands in the place of the result; None where it is whole, or does not stand in the window."""
    return replaced(view(store, "case", **more).window(policy))


def replaced(window: Window) -> str | None:
    pieces = [piece for piece in window.plan.pieces if isinstance(piece, TurnPiece) and piece.turn.number == 3]
    return next(iter(pieces[0].replaced.values()), None) if pieces else None


def test_a_result_is_spent_when_somebody_answered_it(store: Ledgers, case: Ledger) -> None:
    policy = Policy(tail_turns=0, stubs=SOON)
    case.record_return("c1", ROWS)
    assert shown(store, policy) is None
    case.record_turn("user", "Well?")
    assert shown(store, policy) is None
    case.record_turn("assistant", "S-004 has TRK-00004.")
    stub = shown(store, policy)
    assert stub is not None
    assert stub.startswith('[find_shelves "all": 60 lines; used S-004, TRK-00004')
    assert stub.endswith("; whole result: result_id=r_4]")


def test_what_was_asked_for_is_no_news_in_arguments_that_are_no_json_either(store: Ledgers) -> None:
    case = store.ledger("case")
    case.record_turn("user", "Bring the parcels to gate 9.")
    case.record_turn("user", "Which shelves are there?")
    broken = Unparsed(unparsed="type C:\\all.log")
    case.record_turn("assistant", [ToolCallPart(call_id="c1", tool="shell", arguments=broken)])
    case.record_return("c1", f"C:\\all.log\n{ROWS}")
    case.record_turn("assistant", "C:\\all.log names S-004.")
    stub = shown(store, Policy(tail_turns=0, stubs=SOON))
    assert stub is not None
    assert stub.startswith('[shell "type C:\\\\all.log": 61 lines; used S-004; whole result')


def test_a_result_that_comes_late_is_shown_to_somebody_first(store: Ledgers, case: Ledger) -> None:
    policy = Policy(tail_turns=1, stubs=SOON)
    talk(case, 6)
    assert "[interrupted" in view(store, "case").window(policy).text
    case.record_return("c1", ROWS, turn=3)
    assert shown(store, policy) is None
    assert "shelf S-059 holds" in view(store, "case").window(policy).text
    case.record_turn("user", "Any news?")
    assert shown(store, policy) is None
    case.record_turn("assistant", "Yes, S-009 is free.")
    assert "result_id=r_10]" in (shown(store, policy) or "")


def test_nothing_is_a_stub_while_a_call_of_its_turn_is_open(store: Ledgers) -> None:
    case = store.ledger("case")
    calls = [ToolCallPart(call_id=name, tool="find_shelves", arguments=JsonText.of({})) for name in ("c1", "c2")]
    case.record_turn("user", "Bring the parcels to gate 9.")
    case.record_turn("user", "Which shelves are there?")
    case.record_turn("assistant", calls)
    case.record_return("c1", ROWS)
    talk(case, 8)
    policy = Policy(tail_turns=1, stubs=SOON)
    assert shown(store, policy) is None
    case.record_return("c2", "none", turn=3)
    talk(case, 2)
    assert shown(store, policy) is not None


@pytest.mark.parametrize("exchanges", [0, 1])
@pytest.mark.parametrize("clear", [0, 100_000])
def test_a_stub_never_changes(store: Ledgers, case: Ledger, exchanges: int, clear: int) -> None:
    case.record_return("c1", ROWS)
    case.record_turn("assistant", "S-004 has TRK-00004.")
    case.classify(3, "keep", because="it is asked for again")
    rules = StubRules(clear_at_least_tokens=clear)
    shares = Compaction(segment_turns=8, live_percent=10, kept_percent=50)
    policy = Policy(tail_turns=2, tail_exchanges=exchanges, budget_tokens=1_500, state=None, stubs=rules, compaction=shares)
    seen, through = [], []
    for number in range(40):
        said = f"Then S-0{number:02d} with TRK-000{number:02d} matters, and "
        said += "S-055 S-055 S-055, " * (number > 3) + "the rain falls on the quay. " * 5
        case.record_turn("assistant" if number % 2 else "user", said)
        window = view(store, "case").window(policy)
        row = window.receipt.turns()[2]
        if row.rule not in ("tail", "current"):
            seen.append(replaced(window))
            through.append(window.receipt.through)
    assert 0 in through, "at first it is live"
    assert through[-1] > 8, "in the end its segment is compacted"
    stubs = [stub for stub in seen if stub is not None]
    assert len(stubs) > 20
    assert len(set(stubs)) == 1
    assert seen[len(seen) - len(stubs) :] == stubs, "once a stub, it stays one"


def test_results_of_excluded_tools_stay_whole(store: Ledgers, case: Ledger) -> None:
    case.record_return("c1", ROWS)
    talk(case, 9)
    policy = Policy(tail_turns=1, stubs=StubRules(clear_at_least_tokens=0, excluded_tools=("find_shelves",)))
    assert shown(store, policy) is None
    assert shown(store, policy.model_copy(update={"stubs": SOON})) is not None


def test_what_cannot_be_told_of_is_not_said_to_be(store: Ledgers, case: Ledger) -> None:
    case.record_return("c1", ROWS)
    talk(case, 12, "Remark {} on the long way to the quay, where it rains all day and the gulls cry over the roofs.")
    shares = Compaction(live_percent=20, kept_percent=20, text_percent=0, exact_percent=10)
    window = view(store, "case").window(Policy(tail_turns=1, budget_tokens=220, state=None, compaction=shares))
    assert window.receipt.gave_way
    assert {row.verdict for row in window.receipt if row.rule == "budget"} == {"drop"}


def test_what_was_kept_and_gave_way_is_told_of_in_a_line(store: Ledgers) -> None:
    case = store.ledger("case")
    case.record_turn("user", "Bring the parcels to gate 9.")
    for number in range(2, 60):
        said = (
            f"Remember that parcel PCL-{number:04d} goes by road."
            if number % 10 == 3
            else f"Remark {number}. " + "It rains. " * 12
        )
        case.record_turn("user" if number % 2 else "assistant", said)
    shares = Compaction(segment_turns=4, live_percent=20, kept_percent=3, text_percent=45, exact_percent=10)
    window = view(store, "case").window(Policy(tail_turns=2, budget_tokens=1_400, state=None, compaction=shares))
    kept = [row for row in window.receipt if row.turn % 10 == 3 and row.turn <= window.receipt.through]
    assert {row.verdict for row in kept} >= {"keep", "compress"}
    for row in kept:
        assert f"PCL-{row.turn:04d}" in window.text
        if row.verdict == "compress":
            assert f'\n{row.turn}: "user: Remember that parcel PCL-{row.turn:04d}' in window.text


@pytest.mark.parametrize("place", ["before_tail", "after_system"])
def test_a_stub_that_the_budget_presses_for_in_the_tail_stays_as_it_is_there(store: Ledgers, case: Ledger, place: Any) -> None:
    policy = Policy(tail_turns=8, budget_tokens=700, state_place=place)
    case.record_return("c1", ROWS)
    case.record_turn("assistant", "S-004 has TRK-00004.")
    stubs = []
    for number in range(10, 16):
        stubs.append(shown(store, policy))
        case.record_turn("user" if number % 2 else "assistant", f"S-0{number} matters too, and so does TRK-000{number}.")
    assert stubs == ['[find_shelves "all": 60 lines; used S-004, TRK-00004; whole result: result_id=r_4]'] * 6
