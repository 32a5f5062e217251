"""What a window tells of turns that were forgotten."""

from __future__ import annotations

import pytest

from ledger import Ledger, Ledgers
from projections.policy import Policy
from replay import view


@pytest.fixture
def case(store: Ledgers) -> Ledger:
    """A new ledger."""
    return store.ledger("case")


def rows(store: Ledgers, policy: Policy) -> list[tuple[int, str, str]]:
    return [(row.turn, row.verdict, row.rule) for row in view(store, "case").window(policy).receipt]


def test_what_gave_way_is_told_of_as_far_as_it_is_not_forgotten(store: Ledgers, case: Ledger) -> None:
    for number in range(1, 9):
        case.record_turn("user" if number % 2 else "assistant", f"Remark {number}. " + "It rained all day long. " * 20)
    case.forget(turns=[3, 5], reason="asked to")
    made = view(store, "case").window(Policy(tail_turns=1, budget_tokens=570, state=None))
    assert "[of turns 2-6, 5 are not shown here; the record has them, but 2 that were forgotten]" in made.text
    assert rows(store, made.policy) == [
        (1, "keep", "task"),
        (2, "compress", "budget"),
        (3, "never", "forgotten"),
        (4, "compress", "budget"),
        (5, "never", "forgotten"),
        (6, "compress", "budget"),
        (7, "keep", "tail"),
        (8, "keep", "current"),
    ]


def test_the_note_does_not_promise_what_is_gone(store: Ledgers, case: Ledger) -> None:
    for number in range(1, 6):
        case.record_turn("user" if number % 2 else "assistant", f"Remark {number}. " + "It rained all day long. " * 20)
    case.forget(turns=[2, 3], reason="asked to")
    made = view(store, "case").window(Policy(tail_turns=0, budget_tokens=420, state=None))
    assert "the record has them, but 2 that were forgotten]" in made.text
    case.forget(turns=[4], reason="asked to")
    made = view(store, "case").window(Policy(tail_turns=0, budget_tokens=420, state=None))
    assert "the record has them" not in made.text
