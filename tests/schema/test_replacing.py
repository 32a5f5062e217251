"""The schema in force is part of the record: set, replaced, and the same for every handle, warm or cold."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger import JsonText, Ledger, Ledgers, connect
from ledger import events as e
from ledger.errors import AdmissionRefused, InvalidInput, LedgerError
from ledger.schema import Money, Schema, StateModel, declared, schema_of
from ledger.standing import Standing
from ledger.verify import verify_store
from replay.view import view
from tests.schema.refunds import RefundState, claims, rules, types


class Plain(StateModel):
    """The amount is any text."""

    amount: str | None = None


class Numbers(StateModel):
    """The amount is a number."""

    amount: float | None = declared(aliases=["sum"])


class Amounts(StateModel):
    """The amount is money."""

    amount: Money | None = declared(currencies=["INR"])


SCHEMAS = [schema_of(model) for model in (Plain, Numbers, Amounts)]


def test_a_schema_is_recorded_once(store: Ledgers) -> None:
    ledger = store.ledger("refund", schema=RefundState)
    [recorded] = ledger.events()
    assert isinstance(recorded.event, e.SchemaSet)
    schema = schema_of(RefundState)
    assert (recorded.event.name, recorded.event.digest, recorded.event.declared) == (
        "RefundState",
        schema.digest,
        schema.declared,
    )
    assert Schema.model_validate_json(recorded.event.declared) == schema
    ledger.declare(RefundState)
    ledger.declare(schema)
    ledger.declare(RefundState.model_json_schema())
    store.ledger("refund", schema=RefundState)
    assert ledger.version == 1
    ledger.declare(Plain)
    ledger.declare(RefundState)
    assert types(ledger.events()) == ["schema.set"] * 3
    assert verify_store(store).ok


@pytest.mark.parametrize("given_schema", [5, int, object()])
def test_what_is_no_schema_is_refused(store: Ledgers, given_schema: Any) -> None:
    with pytest.raises(InvalidInput, match="is no schema"):
        store.ledger("refund", schema=given_schema)
    assert store.ledger("refund").version == 0


def test_a_forged_schema_event_is_refused(store: Ledgers) -> None:
    ledger, schema = store.ledger("refund"), schema_of(Plain)
    forged = [
        e.SchemaSet(name="Other", digest=schema.digest, declared=schema.declared),
        e.SchemaSet(name="Plain", digest="0" * 64, declared=schema.declared),
        e.SchemaSet(name="Plain", digest=schema.digest, declared=JsonText('{"name":"Plain","colour":1}')),
        e.SchemaSet(name="Plain", digest=schema.digest, declared=JsonText("[]")),
    ]
    for event in forged:
        with pytest.raises(InvalidInput):
            ledger.append(event)
    assert ledger.version == 0
    ledger.append(e.SchemaSet(name="Plain", digest=schema.digest, declared=schema.declared))


def test_values_stay_when_the_schema_is_replaced_and_are_compared_by_the_new_one(store: Ledgers) -> None:
    ledger = store.ledger("refund", schema=Plain)
    ledger.set_fact("amount", "4,180 INR", source="user")
    ledger.set_fact("note", "undeclared", source="user")
    ledger.declare(Amounts)
    assert view(store, "refund").state().entities["amount"].value == "4,180 INR"
    assert ledger.set_fact("amount", "4180.00 INR", source="user").event.type == "fact.reaffirmed"
    assert store.ledger("refund").set_fact("amount", "INR 4180", source="user").event.type == "fact.reaffirmed"
    assert rules(ledger.set_fact("amount", "five", source="user")) == ["money"]
    ledger.declare(Plain)
    assert ledger.set_fact("amount", "4,180 INR", source="user").event.type == "fact.reaffirmed"
    assert ledger.set_fact("amount", "4180.00 INR", source="user").event.type == "contradiction.recorded"
    assert verify_store(store).ok


def test_a_value_that_the_new_schema_would_not_take_stands_until_it_is_replaced(store: Ledgers) -> None:
    ledger = store.ledger("refund", schema=Plain)
    ledger.set_fact("amount", "rather much", source="user")
    ledger.declare(Amounts)
    assert view(store, "refund").state().entities["amount"].value == "rather much"
    assert ledger.set_fact("amount", "5 INR", source="tool").event.type == "contradiction.recorded"
    moved = ledger.set_fact("amount", "5 INR", source="user", supersedes="rather much")
    assert moved.event.type == "fact.superseded"


def test_a_field_that_is_not_declared_any_more_can_be_retracted(store: Ledgers) -> None:
    ledger = store.ledger("refund", schema=RefundState)
    ledger.set_fact("order", "ORD-1", source="user")
    ledger.declare(Plain)
    assert rules(ledger.set_fact("order", "ORD-2", source="user")) == ["field"]
    assert view(store, "refund").state().entities["order"].value == "ORD-1"
    assert ledger.retract_fact("order", source="user").event.type == "fact.retracted"


def test_a_schema_that_is_declared_late_judges_what_comes_after(store: Ledgers) -> None:
    ledger = store.ledger("refund")
    ledger.set_fact("amount", "4,180 INR", source="inferred")
    ledger.add_entry("constraints", "early", source="inferred")
    ledger.declare(RefundState)
    assert ledger.set_fact("amount", "INR 4180", source="user").event.type == "fact.reaffirmed"
    with pytest.raises(AdmissionRefused):
        ledger.add_entry("constraints", "late", source="inferred")
    assert ledger.set_fact("amount", "INR 5", source="tool").event.type == "contradiction.recorded"  # it is the user's now
    assert verify_store(store).ok


def test_two_handles_agree_on_the_schema(store: Ledgers) -> None:
    first, second = store.ledger("refund", schema=Plain), store.ledger("refund")
    second.set_fact("amount", "4,180 INR", source="user")
    first.declare(Amounts)
    assert second.set_fact("amount", "4180 INR", source="user").event.type == "fact.reaffirmed"
    assert second.set_fact("amount", "4180 USD", source="user").event.type == "fact.rejected"


operations = st.one_of(
    st.tuples(st.just("declare"), st.sampled_from(SCHEMAS)),
    st.tuples(
        st.just("set"),
        st.sampled_from(["amount", "Amount ", "sum", "note"]),
        st.sampled_from(["5 INR", "INR 5.00", "5", 5, "five", "6 INR", "6.0"]),
        st.sampled_from(["user", "tool", "inferred"]),
        st.none() | st.sampled_from(["5 INR", "₹5", 5, "five"]),
    ),
    st.tuples(st.just("retract"), st.sampled_from(["amount", "note"])),
)


@given(st.lists(operations, max_size=14))
@settings(max_examples=60)
def test_a_warm_and_a_cold_handle_decide_alike(steps: list[tuple[Any, ...]]) -> None:
    with connect(":memory:") as store:
        warm = store.ledger("warm")
        for step in steps:
            assert carry_out(warm, step) == carry_out(store.ledger("cold"), step)
        assert folded(warm) == folded(store.ledger("cold"))
        assert verify_store(store).ok


def carry_out(ledger: Ledger, step: tuple[Any, ...]) -> str:
    """What a step led to: the type of its event, or of the error."""
    try:
        match step:
            case ("declare", Schema() as schema):
                ledger.declare(schema)
                return "declared"
            case ("set", name, value, source, supersedes):
                return ledger.set_fact(name, value, source=source, supersedes=supersedes).event.type
            case _:
                return ledger.retract_fact(step[1], source="user").event.type
    except LedgerError as error:
        return type(error).__name__


def folded(ledger: Ledger) -> Standing:
    """What stands, folded anew from the record."""
    standing = Standing()
    for one in ledger.events():
        standing.apply(one.version, one.event)
    return standing


def test_a_value_that_was_set_under_what_is_now_an_alias_stands_until_it_is_retracted(store: Ledgers) -> None:
    ledger = store.ledger("refund")
    ledger.set_fact("sum", 5, source="user")
    ledger.declare(Numbers)
    assert ledger.set_fact("sum", 6, source="user").event.type == "fact.set"
    assert {name: fact.value for name, fact in view(store, "refund").state().entities.items()} == {"sum": 5, "amount": 6}
    assert ledger.retract_fact("sum", source="user").event.type == "fact.retracted"
    assert {name: fact.value for name, fact in view(store, "refund").state().entities.items()} == {"amount": 6}
    ledger.retract_fact("sum", source="user")
    assert view(store, "refund").state().entities == {}
    assert claims(ledger) == ["fact.set", "fact.set", "fact.retracted", "fact.retracted"]
    assert verify_store(store).ok


def test_a_disputed_value_means_what_it_means_under_the_new_schema(store: Ledgers) -> None:
    ledger = store.ledger("refund")
    ledger.record_turn("user", "4,180 INR")
    ledger.set_fact("amount", "4,180 INR", source="user", turn=1)
    assert ledger.set_fact("amount", "4,050 INR", source="tool").event.type == "contradiction.recorded"
    ledger.declare(Amounts)
    for handle in (ledger, store.ledger("refund")):
        assert handle.set_fact("amount", "4050.00 INR", source="tool").event.type == "fact.reaffirmed"
    assert verify_store(store).problems == ()
