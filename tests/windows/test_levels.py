"""How hard the budget pressed at turns that are no longer read has no part in a window, whoever asked for windows before."""

from __future__ import annotations

from typing import Final

from ledger import JsonText, Ledger, Ledgers, connect
from ledger.parts import ToolCallPart
from projections.policy import Compaction, Policy
from projections.window import Window
from replay import view

SEGMENT: Final = 70
PRESSED: Final = 2 * SEGMENT - 4
"""A turn that leaves the compressed text no room; by now turns that are not compacted are too many to be all read."""

LOOKED: Final = PRESSED + 2
ANSWERED: Final = PRESSED + 4
"""Where what was found at the turn ``LOOKED`` was answered, and is too much for the budget unless it is cut."""

LENGTHS: Final = {PRESSED: 340, LOOKED + 1: 100, ANSWERED: 100}
POLICY: Final = Policy(budget_tokens=1_500, tail_turns=2, rules=(), state=None, compaction=Compaction(segment_turns=SEGMENT))


def rain(times: int) -> str:
    return "It is raining. " * times


def record(case: Ledger, number: int) -> None:
    """The turn of a number, with what it found."""
    if number == LOOKED:
        case.record_turn("assistant", [ToolCallPart(call_id="c", tool="find", arguments=JsonText.of({}))])
        case.record_return("c", rain(175))
    else:
        case.record_turn("user" if number % 2 else "assistant", f"Turn {number}. {rain(LENGTHS.get(number, 15))}")


def from_scratch(last: int) -> Window:
    """The window that a process gives which was never asked before."""
    with connect(":memory:") as fresh:
        case = fresh.ledger("case")
        for number in range(1, last + 1):
            record(case, number)
        return view(fresh, "case").window(POLICY)


def test_a_level_is_not_taken_on_from_turns_that_are_no_longer_read(store: Ledgers) -> None:
    case, gave_way = store.ledger("case"), dict[int, tuple[str, ...]]()
    for number in range(1, ANSWERED + 2):
        record(case, number)
        if number >= PRESSED:
            window = view(store, "case").window(POLICY)
            assert window.request_bytes == from_scratch(number).request_bytes, f"turn {number}"
            gave_way[number] = window.receipt.gave_way
    assert "compressed text: bare" in gave_way[PRESSED + 1]
    assert gave_way[ANSWERED] == (f"turns {SEGMENT + 1}-{LOOKED - 1}: too far back", "results of the tail")
