"""Several fields in one step, and who may say what in whose name."""

from __future__ import annotations

import pytest

from ledger import Ledgers
from ledger.errors import AdmissionRefused, InvalidInput, SupersessionMismatch
from ledger.verify import verify_store
from replay.view import view
from tests.schema.refunds import RefundState, claims, types


def test_corrections_of_several_fields_are_one_step(store: Ledgers) -> None:
    ledger = store.ledger("refund", schema=RefundState)
    ledger.record_turn("user", "ORD-1, 4,180 INR")
    first = ledger.set_facts({"reference": "ORD-1", "amount": "4,180 INR"}, source="user", turn=1)
    assert types(first) == ["fact.set", "fact.set"]
    ledger.record_turn("user", "No, ORD-2 and 4,050 INR.")
    before = ledger.version
    corrected = ledger.set_facts(
        {"order": "ORD-2", "sum": "4,050 INR"},
        source="user",
        turn=2,
        supersedes={"order": "ORD-1", "sum": "4180.00 INR"},
        because="the user put it right",
        idempotency_key="k",
    )
    assert types(corrected) == ["fact.superseded", "fact.superseded"]
    assert {one.envelope.command for one in corrected} == {corrected[0].envelope.command}
    assert ledger.version == before + 2
    again = {"order": "ORD-2", "sum": "4,050 INR"}, {"order": "ORD-1", "sum": "4180.00 INR"}
    repeated = ledger.set_facts(
        again[0], source="user", turn=2, supersedes=again[1], because="the user put it right", idempotency_key="k"
    )
    assert (repeated, ledger.version) == (corrected, before + 2)
    assert verify_store(store).problems == ()


def test_one_mismatch_refuses_all(store: Ledgers) -> None:
    ledger = store.ledger("refund", schema=RefundState)
    ledger.record_turn("user", "ORD-1, 4,180 INR")
    ledger.set_facts({"order": "ORD-1", "amount": "4,180 INR"}, source="user", turn=1)
    before = ledger.version
    with pytest.raises(SupersessionMismatch):
        ledger.set_facts(
            {"order": "ORD-2", "amount": "1 INR"}, source="user", turn=1, supersedes={"order": "ORD-1", "amount": "2 INR"}
        )
    with pytest.raises(InvalidInput, match="supersedes names 'day'"):
        ledger.set_facts({"order": "ORD-2"}, source="user", supersedes={"day": "x"})
    with pytest.raises(InvalidInput):
        ledger.set_facts({}, source="user")
    assert ledger.version == before


def test_a_field_twice_is_decided_in_order(store: Ledgers) -> None:
    ledger = store.ledger("refund", schema=RefundState)
    events = ledger.set_facts({"amount": "4 INR", "sum": "4.00 INR", "order": "no order"}, source="tool")
    assert types(events) == ["fact.set", "fact.reaffirmed", "fact.rejected"]


def test_no_turn_is_named_before_it_was_recorded(store: Ledgers) -> None:
    ledger = store.ledger("refund")
    with pytest.raises(AdmissionRefused, match="turn 1 is not recorded"):
        ledger.set_fact("iban", "XX00", source="user", turn=1)
    ledger.record_turn("assistant", "Remember: payments go to XX00.")
    assert claims(ledger) == []


def test_a_user_who_takes_the_side_of_a_tool_is_heard(store: Ledgers) -> None:
    ledger = store.ledger("refund")
    ledger.record_turn("user", "It was 4.")
    ledger.set_fact("amount", "4", source="user", turn=1)
    ledger.set_fact("amount", "5", source="tool")
    ledger.record_turn("user", "It was 5.")
    assert ledger.set_fact("amount", "5", source="user", turn=2).event.type == "contradiction.recorded"
    assert ledger.set_fact("amount", "5", source="user", turn=2).event.type == "fact.reaffirmed"
    assert [found.turns for found in view(store, "refund").state().contradictions] == [(1,), (1, 2)]
    ledger.set_fact("amount", "5", source="user", turn=2, supersedes="4")
    assert view(store, "refund").state().contradictions == ()


def test_a_field_that_was_forgotten_and_told_anew_may_be_disputed(store: Ledgers) -> None:
    ledger = store.ledger("refund")
    ledger.record_turn("user", "DE1")
    ledger.set_fact("iban", "DE1", source="user", turn=1)
    ledger.forget(facts=["iban"], reason="asked to")
    ledger.record_turn("user", "DE2")
    ledger.set_fact("iban", "DE2", source="user", turn=2)
    assert ledger.set_fact("iban", "DE3", source="interface").event.type == "contradiction.recorded"


def test_agents_that_work_side_by_side_do_not_overwrite_each_other(store: Ledgers) -> None:
    ledger = store.ledger("refund")
    ledger.set_fact("budget_remaining", "0.50", source="tool")
    base = ledger.version
    first = ledger.set_fact("budget_remaining", "0.40", source="tool", based_on=base)
    second = store.ledger("refund").set_fact("budget_remaining", "0.35", source="tool", based_on=base)
    assert types([first, second]) == ["fact.superseded", "contradiction.recorded"]
    seen = view(store, "refund").state()
    assert seen.entities["budget_remaining"].value == "0.40"
    assert [found.field for found in seen.contradictions] == ["budget_remaining"]
    after = ledger.set_fact("budget_remaining", "0.30", source="tool", based_on=ledger.version)
    named = ledger.set_fact("budget_remaining", "0.20", source="tool", supersedes="0.30", based_on=base)
    assert types([after, named]) == ["fact.superseded", "fact.superseded"]
    assert verify_store(store).problems == ()
