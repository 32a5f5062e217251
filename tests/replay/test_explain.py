"""The audit of a field says everything that was said of it, in the words in which it was said; a diff says what changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from ledger import Ledger, Ledgers, connect
from ledger.erased import Forgotten
from ledger.schema import Money, StateModel, declared
from projections.explanation import Step
from replay import Turn, diff, view


class Refund(StateModel):
    """An amount with its currency."""

    amount: Money | None = declared(currencies=["INR"], aliases=["sum"])


@pytest.fixture
def store() -> Iterator[Ledgers]:
    """A store in memory."""
    with connect(":memory:") as made:
        yield made


@pytest.fixture
def case(store: Ledgers) -> Ledger:
    """An amount that is told, repeated by a tool, disputed, and put right."""
    made = store.ledger("case")
    made.record_turn("user", "Hello! I was charged twice. It was 4,180 INR each time.\nPlease refund one.")
    made.set_fact("amount", "4,180 INR", source="user", turn=1)
    made.record_turn("assistant", "I see.")
    made.set_fact("amount", "4,050 INR", source="tool", turn=2)
    made.record_turn("user", "My mistake: the statement says 4,050 INR.")
    made.set_fact("amount", "4,050 INR", source="user", turn=3, supersedes="4,180 INR", because="the statement", actor="ana")
    return made


def steps(store: Ledgers, name: str = "amount") -> tuple[Step, ...]:
    return view(store, "case").explain(name).steps


def test_every_step_is_told_in_order(store: Ledgers, case: Ledger) -> None:
    told = [(step.kind, step.turn, step.contradiction) for step in steps(store)]
    assert told == [("set", 1, None), ("disputed", 2, "con_4"), ("superseded", 3, None), ("resolved", 3, "con_4")]
    corrected = steps(store)[2]
    assert (corrected.replaces, corrected.because, corrected.actor) == (2, "the statement", "ana")


def test_the_sentence_is_the_one_that_holds_the_value(store: Ledgers, case: Ledger) -> None:
    text = view(store, "case").transcript().turns[0].text
    first = steps(store)[0].told
    assert first is not None
    assert (first.turn, first.role, first.sentence) == (1, "user", "It was 4,180 INR each time.")
    assert text[first.start : first.end] == first.sentence
    assert steps(store)[1].told is None, "the assistant's turn does not say it"


def test_other_spellings_confirm_what_means_the_same(store: Ledgers, case: Ledger) -> None:
    case.declare(Refund)
    case.record_turn("user", "Yes, INR 4050.")
    case.set_fact("sum", "INR 4050", source="user", turn=4)
    confirmed = steps(store, "sum")[-1]
    assert (confirmed.kind, confirmed.turn) == ("confirmed", 4)
    assert confirmed.told is not None
    assert confirmed.told.sentence == "Yes, INR 4050."


def test_what_was_refused_is_told_with_its_reasons(store: Ledgers, case: Ledger) -> None:
    case.declare(Refund)
    case.set_fact("amount", "4,050 USD", source="tool", turn=2)
    refused = steps(store)[-1]
    assert (refused.kind, [problem.rule for problem in refused.problems]) == ("rejected", ["currency"])
    assert [rejected.version for rejected in view(store, "case").rejected()] == [refused.version]


def test_what_was_said_under_a_name_that_became_an_alias_belongs_to_it(store: Ledgers) -> None:
    case = store.ledger("case")
    case.set_fact("sum", "7 INR", source="tool")
    case.declare(Refund)
    assert [step.kind for step in steps(store)] == ["set"]
    standing = view(store, "case").explain("amount").standing
    assert standing is not None
    assert standing.value.value == "7 INR"


def test_a_forgotten_claim_keeps_its_place(store: Ledgers, case: Ledger) -> None:
    case.forget(turns=[1], reason="asked to")
    kinds = {step.kind for step in steps(store)}
    assert kinds == {"forgotten", "superseded"}
    forgotten = steps(store)[0]
    assert isinstance(forgotten.value, Forgotten)
    answer = view(store, "case").explain("amount").to_json()
    assert b"4,180" not in answer
    assert json.loads(answer)["steps"][0]["value"]["forgotten"]["reason"] == "asked to"


def test_the_standing_value_goes_with_its_claim(store: Ledgers, case: Ledger) -> None:
    case.forget(turns=[3], reason="asked to")
    assert view(store, "case").explain("amount").standing is None


def test_a_diff_names_what_changed_and_nothing_else(store: Ledgers, case: Ledger) -> None:
    kept = case.add_entry("constraints", "to the card", source="user", turn=3)
    asked = case.add_entry("open", "which card?", source="inferred")
    before = case.version
    case.close_entry(asked, because="the one charged", source="user", turn=3)
    added = case.add_entry("decisions", "refund", source="inferred")
    case.set_fact("amount", "4,050 INR", source="interface")
    case.set_fact("card", "ch_1", source="tool")
    case.retract_fact("card", source="tool")
    case.set_fact("order", "ORD-1", source="tool")
    found = diff(view(store, "case", at=before), view(store, "case"))
    assert [(change.field, change.before, change.after and change.after.value) for change in found.facts] == [
        ("order", None, "ORD-1")
    ]
    assert ([entry.id for entry in found.added], [entry.id for entry in found.closed]) == ([added], [asked])
    assert kept not in found.to_json().decode()
    assert not found.is_empty


def test_a_diff_of_two_turns(store: Ledgers, case: Ledger) -> None:
    found = diff(view(store, "case", at=Turn(1)), view(store, "case", at=Turn(2)))
    assert (found.facts, [dispute.id for dispute in found.opened], found.settled) == ((), ["con_4"], ())
    later: dict[str, Any] = json.loads(diff(view(store, "case", at=Turn(2)), view(store, "case")).to_json())
    assert [(change["before"]["value"], change["after"]["value"]) for change in later["facts"]] == [("4,180 INR", "4,050 INR")]
    assert [dispute["id"] for dispute in later["settled"]] == ["con_4"]
    assert diff(view(store, "case"), view(store, "case")).is_empty


def test_what_held_in_the_world_and_what_was_known(store: Ledgers) -> None:
    case = store.ledger("case")
    case.set_fact("address", "Hull", source="user")
    moving = datetime(2031, 3, 1, tzinfo=UTC)
    case.set_fact("address", "Rotterdam", source="user", supersedes="Hull", valid_from=moving)
    known = case.version
    case.set_fact("address", "Delft", source="user", supersedes="Rotterdam", valid_from=datetime(2031, 6, 1, tzinfo=UTC))

    def held(at: int | None, month: int) -> Any:
        return view(store, "case", at=at).state(valid_at=datetime(2031, month, 15, tzinfo=UTC)).entities["address"].value

    assert [held(None, month) for month in (2, 4, 7)] == ["Hull", "Rotterdam", "Delft"]
    assert [held(known, month) for month in (2, 4, 7)] == ["Hull", "Rotterdam", "Rotterdam"]
    assert view(store, "case").state().entities["address"].value == "Delft"
    case.retract_fact("address", source="user")
    assert view(store, "case").state(valid_at=moving).entities == {}
