"""State, handoff and window take the same turn for the task: the first user turn that no drop rule claims."""

from __future__ import annotations

import pytest

from ledger import Ledgers
from projections.policy import Policy
from projections.task_turn import LOOKED_FOR_TASK
from replay import Turn, view


def window_task(store: Ledgers, turn: int) -> int | None:
    rows = view(store, "case", at=Turn(turn)).window(Policy()).receipt.turns()
    return next((row.turn for row in rows if row.rule == "task"), None)


@pytest.mark.parametrize("beginning", [["hi"], ["", "hi", "thanks!"], []], ids=["a greeting", "several", "none"])
def test_a_greeting_is_no_task_once_there_is_another_turn(store: Ledgers, beginning: list[str]) -> None:
    case = store.ledger("case")
    for text in beginning:
        case.record_turn("user", text)
        case.record_turn("assistant", "Hello! What can I do for you?")
    case.record_turn("user", "Find berth 7 for the Elsa.")
    case.record_turn("assistant", "Found.")
    case.record_turn("user", "And berth 9 for the Nore.")
    stated = 2 * len(beginning) + 1
    seen = view(store, "case")
    assert (seen.state().task, seen.state().task_turn) == ("Find berth 7 for the Elsa.", stated)
    assert seen.handoff().brief["goal"] == "Find berth 7 for the Elsa."
    assert window_task(store, stated + 1) == stated


def test_the_first_greeting_is_the_task_while_nothing_else_was_said(store: Ledgers) -> None:
    case = store.ledger("case")
    case.record_turn("user", "hi")
    case.record_turn("assistant", "Hello!")
    case.record_turn("user", "thanks")
    assert view(store, "case").state().task == "hi"
    case.record_turn("user", "Find berth 7 for the Elsa.")
    assert view(store, "case").state().task == "Find berth 7 for the Elsa."
    assert view(store, "case", at=Turn(3)).state().task == "hi", "as it was then"


def test_after_many_greetings_the_first_is_the_task(store: Ledgers) -> None:
    case = store.ledger("case")
    for _ in range(LOOKED_FOR_TASK + 3):
        case.record_turn("user", "hello")
    case.record_turn("user", "Find berth 7 for the Elsa.")
    assert view(store, "case").state().task_turn == 1
