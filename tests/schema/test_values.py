"""What becomes of values in a ledger with a schema: compared by what they mean, kept as they were said, refused on record."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers
from ledger import events as e
from ledger.errors import AdmissionRefused, InvalidInput, SupersessionMismatch
from ledger.schema import FieldSpec, Schema
from ledger.verify import verify_store
from replay.view import view
from tests.schema.refunds import RefundState, claims, rules, types


@pytest.fixture
def refund(store: Ledgers) -> Ledger:
    """A refund whose user has spoken once."""
    ledger = store.ledger("refund", schema=RefundState)
    ledger.record_turn("user", "Order ORD-88213, 4,180 INR, please.")
    return ledger


SAME = [
    "4180.00 INR",
    "INR 4180",
    "₹4,180",
    " 4,180 inr",
    {"amount": 4180, "currency": "INR"},
    {"currency": "INR", "amount": "4180.0"},
]
OTHER = ["4,180 USD", "4,181 INR", "4.18 INR", "-4,180 INR", {"amount": 4180, "currency": "USD"}]


@pytest.mark.parametrize("value", SAME, ids=str)
def test_another_spelling_of_a_value_reaffirms_it(refund: Ledger, value: Any) -> None:
    refund.set_fact("amount", "4,180 INR", source="user", turn=1)
    again = refund.set_fact("amount", value, source="user", turn=1).event
    assert isinstance(again, e.FactReaffirmed)
    assert again.value == JsonText.of(value)  # as it was said
    assert again.meaning == '{"amount":"4180","currency":"INR"}'


@pytest.mark.parametrize("value", OTHER, ids=str)
def test_another_value_does_not(refund: Ledger, value: Any) -> None:
    refund.set_fact("amount", "4,180 INR", source="user", turn=1)
    assert refund.set_fact("amount", value, source="user", turn=1).event.type == "contradiction.recorded"


@pytest.mark.parametrize("spelling", SAME, ids=str)
def test_supersedes_names_a_value_in_any_spelling(refund: Ledger, spelling: Any) -> None:
    refund.set_fact("amount", "4,180 INR", source="user")
    assert refund.set_fact("amount", "4,050 INR", source="user", supersedes=spelling).event.type == "fact.superseded"
    with pytest.raises(SupersessionMismatch) as caught:
        refund.set_fact("amount", "9 INR", source="user", supersedes=spelling)
    assert caught.value.standing == "4,050 INR"


def test_a_disputed_value_in_another_spelling_is_no_second_contradiction(refund: Ledger) -> None:
    refund.set_fact("amount", "4,180 INR", source="user")
    refund.set_fact("amount", "4,050 INR", source="tool")
    assert refund.set_fact("amount", "INR 4050.00", source="tool").event.type == "fact.reaffirmed"
    resolved = refund.resolve_contradiction("con_4", because="said so", source="user", value="₹ 4050")
    assert types(refund.events())[-2:] == ["contradiction.resolved", "fact.superseded"]
    assert resolved.version == 6
    assert view_of(refund) == {"amount": "₹ 4050"}


def test_stating_a_disputed_value_in_another_spelling_settles_the_dispute(refund: Ledger) -> None:
    refund.set_fact("amount", "4,180 INR", source="user")
    refund.set_fact("amount", "4,050 INR", source="tool")
    refund.set_fact("amount", "4050.00 INR", source="user", supersedes="4180 INR")
    assert types(refund.events())[-2:] == ["fact.superseded", "contradiction.resolved"]


@pytest.mark.parametrize("text", ["1234567890123456.78", "4050.10", "0.10", "4180.00", "1E+3"])
def test_a_value_keeps_the_digits_in_which_it_was_said(store: Ledgers, text: str) -> None:
    fields = (FieldSpec.model_validate({"name": "rate", "format": {"kind": "number"}}),)
    ledger = store.ledger("rates", schema=Schema(name="rates", fields=fields))
    recorded = ledger.set_fact("rate", Decimal(text), source="user").event
    assert isinstance(recorded, e.FactSet)
    assert (recorded.value, str(recorded.value.value)) == (text, text)
    assert recorded.meaning is not None
    assert recorded.meaning.value == Decimal(text)
    assert ledger.set_fact("rate", text.replace("E+3", "000"), source="user").event.type == "fact.reaffirmed"
    assert ledger.set_fact("rate", Decimal(text) + Decimal("0.001"), source="user").event.type == "contradiction.recorded"


def test_all_names_of_a_field_are_one_slot(refund: Ledger) -> None:
    first = refund.set_fact("Order No", "ORD-88213", source="user", turn=1).event
    assert isinstance(first, e.FactSet)
    assert (first.field, first.spelling) == ("order", "Order No")
    assert refund.set_fact("reference", "ORD-88213", source="user").event.type == "fact.reaffirmed"
    moved = refund.set_fact("ORDER", "ORD-9", source="user", supersedes="ORD-88213").event
    assert isinstance(moved, e.FactSuperseded)
    assert (moved.field, moved.replaces) == ("order", 3)
    assert view_of(refund) == {"order": "ORD-9"}
    gone = refund.retract_fact("order-no", source="user").event
    assert isinstance(gone, e.FactRetracted)
    assert (gone.field, view_of(refund)) == ("order", {})


def test_two_keys_for_one_question_cannot_disagree(refund: Ledger) -> None:
    refund.set_fact("amount", "4,180 INR", source="user")
    assert refund.set_fact("sum", "4,050 INR", source="tool").event.type == "contradiction.recorded"
    assert view_of(refund) == {"amount": "4,180 INR"}


def view_of(ledger: Ledger) -> dict[str, Any]:
    """What stands, folded from the record."""
    standing: dict[str, Any] = {}
    for one in ledger.events():
        match one.event:
            case e.FactSet() | e.FactSuperseded() as claim:
                standing[claim.field] = claim.value.value
            case e.FactRetracted() as retracted:
                del standing[retracted.field]
    return standing


REFUSED = [
    ("amount", "4.180 INR", "user", ["ambiguous"]),
    ("amount", "4,180 EUR", "user", ["currency"]),
    ("amount", "between 4 and 5 INR", "user", ["currency"]),
    ("sum", 4180, "user", ["currency"]),
    ("order", "88213", "tool", ["pattern"]),
    ("day", "30/02/2031", "user", ["date"]),
    ("colour", "red", "user", ["field"]),
    ("approved", True, "tool", ["source"]),
    ("approved", True, "inferred", ["source"]),
    ("approved", "perhaps", "tool", ["source", "boolean"]),
]


@pytest.mark.parametrize(("name", "value", "source", "broken"), REFUSED, ids=str)
def test_a_value_that_does_not_fit_is_recorded_and_stands_nowhere(
    store: Ledgers, refund: Ledger, *, name: str, value: Any, source: e.Source, broken: list[str]
) -> None:
    recorded = refund.set_fact(name, value, source=source, turn=1, actor="agent:7")
    assert rules(recorded) == broken
    event = recorded.event
    assert isinstance(event, e.FactRejected)
    field = "amount" if name == "sum" else name
    assert (event.field, event.value, event.source, event.turn) == (field, JsonText.of(value), source, 1)
    assert all(problem.why for problem in event.problems)
    assert recorded.envelope.actor == "agent:7"
    assert view(store, "refund").state().entities == {}
    assert view(store, "refund").history(name).values == ()
    assert verify_store(store).ok


def test_a_value_that_does_not_fit_changes_nothing_of_what_stands(store: Ledgers, refund: Ledger) -> None:
    refund.set_fact("amount", "4,180 INR", source="tool")
    before = view(store, "refund").state().entities
    assert rules(refund.set_fact("amount", "much", source="user")) == ["money"]
    assert rules(refund.set_fact("amount", "much", source="user", supersedes="4,180 INR")) == ["money"]
    assert view(store, "refund").state().entities == before
    assert refund.set_fact("amount", "4,050 INR", source="tool").event.type == "fact.superseded"


@pytest.mark.parametrize("source", ["user", "interface"])
def test_who_may_set_a_field_may(refund: Ledger, source: e.Source) -> None:
    assert refund.set_fact("approved", "yes", source=source).event.type == "fact.set"
    assert rules(refund.set_fact("approved", "yes", source="tool")) == ["source"]  # not even to say the same


def test_a_rejection_that_is_repeated_under_a_key_is_one(refund: Ledger) -> None:
    first = refund.set_fact("colour", "red", source="user", idempotency_key="k")
    assert refund.set_fact("colour", "red", source="user", idempotency_key="k").version == first.version


@pytest.mark.parametrize("source", ["tool", "inferred"])
def test_a_section_is_added_to_by_its_least_source_or_better(refund: Ledger, source: e.Source) -> None:
    with pytest.raises(AdmissionRefused, match="constraints are set by user"):
        refund.add_entry("constraints", "no vouchers", source=source)
    assert refund.version == 2
    assert refund.add_entry("constraints", "no vouchers", source="user") == "en_3"
    assert refund.add_entry("constraints", "no vouchers", source="interface") == "en_4"
    assert refund.add_entry("decisions", "pay", source=source) == "en_5"
    assert refund.add_entry("open", "when?", source=source) == "en_6"  # not declared


MEANT = JsonText('{"amount":"4180","currency":"INR"}')
WRONG = JsonText('{"amount":"1","currency":"INR"}')
SIDE = e.Side(value=JsonText("null"), source="user")
NO_WAY_AROUND: dict[str, e.Event] = {
    "a value that does not fit": e.FactSet(field="amount", value=JsonText('"much"'), source="user"),
    "an undeclared field": e.FactSet(field="colour", value=JsonText('"red"'), source="user"),
    "an alias": e.FactSet(field="sum", value=JsonText('"4,180 INR"'), source="user", meaning=MEANT),
    "a lesser source": e.FactSet(field="approved", value=JsonText("true"), source="tool", meaning=JsonText("true")),
    "no meaning": e.FactSet(field="amount", value=JsonText('"4,180 INR"'), source="user"),
    "another meaning": e.FactSet(field="amount", value=JsonText('"4,180 INR"'), source="user", meaning=WRONG),
    "the meaning in other words": e.FactSet(
        field="amount", value=JsonText('"4,180 INR"'), source="user", meaning=JsonText('{"currency":"INR","amount":"4180"}')
    ),
    "a meaning of what has none": e.FactSet(field="order", value=JsonText('"ORD-1"'), source="user", meaning=MEANT),
    "a reference of what refers to nothing": e.FactSet(
        field="amount", value=JsonText('"4,180 INR"'), source="user", meaning=MEANT, reference="exists"
    ),
    "a superseding value that does not fit": e.FactSuperseded(
        field="amount", value=JsonText('"much"'), source="user", replaces=3
    ),
    "a superseding value of another meaning": e.FactSuperseded(
        field="amount", value=JsonText('"9 INR"'), source="user", replaces=3, meaning=WRONG
    ),
    "a reaffirmation of another meaning": e.FactReaffirmed(
        field="amount", value=JsonText('"9 INR"'), source="user", meaning=JsonText('{"amount":"5","currency":"INR"}')
    ),
    "a disputed value that does not fit": e.ContradictionRecorded(
        about="amount", field="amount", sides=(e.Side(version=3), e.Side(value=JsonText('"much"'), source="tool"))
    ),
    "a disputed value of another meaning": e.ContradictionRecorded(
        about="amount",
        field="amount",
        sides=(e.Side(version=3), e.Side(value=JsonText('"9 INR"'), source="tool", meaning=MEANT)),
    ),
    "a dispute about an alias": e.ContradictionRecorded(about="sum", field="sum", sides=(e.Side(version=3), SIDE)),
}


@pytest.mark.parametrize("name", NO_WAY_AROUND)
def test_there_is_no_back_door(refund: Ledger, name: str) -> None:
    refund.set_fact("amount", "5 INR", source="user")
    with pytest.raises((AdmissionRefused, InvalidInput)):
        refund.append(NO_WAY_AROUND[name])
    assert refund.version == 3


def test_events_that_say_what_a_command_would_say_are_taken(refund: Ledger) -> None:
    refund.append(e.FactSet(field="amount", value=JsonText('"4,180 INR"'), source="user", meaning=MEANT))
    assert refund.set_fact("amount", "4180 INR", source="user").event.type == "fact.reaffirmed"
    side = e.Side(value=JsonText('"9 INR"'), source="tool", meaning=JsonText('{"amount":"9","currency":"INR"}'))
    refund.append(e.ContradictionRecorded(about="amount", field="amount", sides=(e.Side(version=3), side)))
    assert refund.set_fact("amount", "INR 9", source="tool").event.type == "fact.reaffirmed"


def test_a_resolution_adopts_only_a_value_that_fits(refund: Ledger) -> None:
    refund.set_fact("amount", "5 INR", source="user")
    refund.set_fact("amount", "9 INR", source="tool")
    with pytest.raises(AdmissionRefused, match="names no amount"):
        refund.resolve_contradiction("con_4", because="x", source="user", value="much")
    assert refund.version == 4


def test_without_a_schema_everything_is_as_it_was(store: Ledgers) -> None:
    ledger = store.ledger("free", schema="only a name")
    ledger.set_fact("amount", "4,180 INR", source="user")
    assert ledger.set_fact("amount", "4180 INR", source="user").event.type == "contradiction.recorded"
    assert ledger.set_fact("colour", None, source="inferred").event.type == "fact.set"
    assert claims(ledger) == ["fact.set", "contradiction.recorded", "fact.set"]
    with pytest.raises(AdmissionRefused, match="meaning"):
        ledger.append(e.FactSet(field="x", value=JsonText("1"), source="user", meaning=JsonText("1")))
    assert [getattr(one.event, "meaning", None) for one in ledger.events()] == [None] * 4
