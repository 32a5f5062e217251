"""Windows that were served are recorded, built again and compared."""

from __future__ import annotations

import pytest

from ledger import Ledgers
from ledger.errors import InvalidInput
from ledger.events import PolicyRecorded, WindowRecorded
from projections.policy import Policy
from projections.verdicts.registered import register_rule
from projections.verdicts.rules import FunctionRule
from projections.verdicts.verdict import Ruled, Surroundings
from replay import view
from replay.served import verify_windows

TOOLS = [{"type": "function", "function": {"name": "find_ferry", "parameters": {"type": "object"}}}]


def _talk(store: Ledgers, turns: int = 30) -> None:
    case = store.ledger("case")
    for number in range(1, turns + 1):
        case.record_turn("user" if number % 2 else "assistant", f"Sentence {number} about the ferry FRY-{number:03}.")


def _verdicts(store: Ledgers) -> list[str]:
    return [found.verdict for found in verify_windows(store, "case")]


def test_a_served_window_comes_out_again_whatever_came_after(store: Ledgers) -> None:
    _talk(store)
    case = store.ledger("case")
    small = Policy(budget_tokens=700, tail_turns=2)
    served = [
        case.record_window(view(store, "case").window(policy, render=form, tools=tools))
        for policy, form, tools in [(Policy(), "openai", None), (small, "anthropic", TOOLS), (small, "openai", None)]
    ]
    case.classify(3, "drop")
    case.record_turn("user", "And back again?")
    assert [found.id for found in verify_windows(store, "case")] == served
    assert _verdicts(store) == ["same", "same", "same"]


def test_a_policy_is_recorded_once(store: Ledgers) -> None:
    _talk(store)
    case = store.ledger("case")
    for _ in range(3):
        case.record_window(view(store, "case").window(Policy(tail_turns=3)))
    events = [item.event for item in case.events()]
    (policy,) = [event for event in events if isinstance(event, PolicyRecorded)]
    windows = [event for event in events if isinstance(event, WindowRecorded)]
    assert Policy.model_validate_json(policy.declared) == Policy(tail_turns=3)
    assert {window.policy for window in windows} == {policy.digest}
    assert len(windows) == 3


def test_after_a_forgetting_it_is_said_that_a_window_cannot_come_out_again(store: Ledgers) -> None:
    _talk(store)
    case = store.ledger("case")
    case.record_window(view(store, "case").window())
    case.forget(turns=[5], reason="asked to")
    assert _verdicts(store) == ["forgotten"]


def test_a_window_that_did_not_hold_what_was_forgotten_comes_out_again(store: Ledgers) -> None:
    _talk(store)
    case = store.ledger("case")
    case.record_window(view(store, "case").window())
    case.record_turn("user", "My card is 4111.")
    case.record_window(view(store, "case").window())
    case.forget(turns=[view(store, "case").transcript().transcript.turns[-1].number], reason="asked to")
    assert _verdicts(store) == ["same", "forgotten"]


def test_a_window_of_another_ledger_is_refused(store: Ledgers) -> None:
    _talk(store)
    with pytest.raises(InvalidInput, match="of ledger 'case'"):
        store.ledger("other").record_window(view(store, "case").window())


def test_a_digest_that_does_not_fit_is_a_problem(store: Ledgers) -> None:
    _talk(store)
    case = store.ledger("case")
    made = view(store, "case").window()
    served = made.served()
    values = {name: getattr(served, name) for name in served.__slots__ if name not in ("ledger", "tools")}
    case.record_served(**values | {"bytes_digest": "0" * 64})
    (found,) = verify_windows(store, "case")
    assert found.is_problem
    assert found.detail is not None
    assert "000000000000" in found.detail


def test_a_function_that_is_not_registered_is_named(store: Ledgers) -> None:
    _talk(store)
    case = store.ledger("case")

    @register_rule("about ferries", 7)
    def about(surroundings: Surroundings) -> Ruled | None:
        return "keep" if "ferry" in surroundings.turn.text else None

    policy = Policy(rules=(FunctionRule(name="about ferries", version=7),), budget_tokens=700)
    case.record_window(view(store, "case").window(policy))
    assert _verdicts(store) == ["same"]
    unknown = Policy(rules=(FunctionRule(name="about ferries", version=8),), budget_tokens=700)
    served = view(store, "case").window(policy).served()
    values = {name: getattr(served, name) for name in served.__slots__ if name not in ("ledger", "tools")}
    case.record_served(**values | {"policy": unknown.digest, "declared": unknown.model_dump_json()})
    found = list(verify_windows(store, "case"))[-1]
    assert (found.verdict, found.is_problem) == ("policy", False)
    assert "version 8" in str(found.detail)


def test_a_policy_that_this_program_cannot_follow_is_told_of_and_keeps_none_from_being_compared(store: Ledgers) -> None:
    _talk(store)
    case = store.ledger("case")
    served = view(store, "case").window().served()
    values = {name: getattr(served, name) for name in served.__slots__ if name not in ("ledger", "tools")}
    declared = Policy().model_dump_json().replace('"o200k_base"', '"o900k_base"')
    case.record_served(**values | {"policy": "9" * 64, "declared": declared})
    case.record_window(view(store, "case").window())
    strange, plain = verify_windows(store, "case")
    assert (strange.verdict, strange.is_problem, plain.verdict) == ("policy", False, "same")
    assert "encoding: Value error, no token encoding is known for 'o900k_base'" in str(strange.detail)
