"""Fields that refer to something: a check is asked once, when the value comes in, and its answer is part of the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pytest

from ledger import JsonText, Ledger, Ledgers
from ledger import events as e
from ledger.errors import AdmissionRefused, InvalidInput
from ledger.schema import StateModel, declared, schema_of
from ledger.verify import verify_store
from replay.view import view
from tests.schema.refunds import rules, types


class Orders:
    """The orders that there are, and what was asked of them."""

    def __init__(self, *known: str) -> None:
        self.known = known
        self.asked: list[Any] = []

    def __call__(self, value: Any) -> bool:
        """Whether there is such an order."""
        self.asked.append(value)
        return value in self.known


class Refund(StateModel):
    """A refund of an order."""

    order: str | None = declared(refers_to="orders", aliases=["reference"], pattern=r"ORD-\d+")
    note: str | None = None


@pytest.fixture
def orders() -> Orders:
    """Two orders."""
    return Orders("ORD-1", "ORD-2")


@pytest.fixture
def refund(store: Ledgers, orders: Orders) -> Ledger:
    """A refund that may ask."""
    ledger = store.ledger("refund")
    ledger.declare(Refund, references={"orders": orders})
    return ledger


def test_the_check_is_asked_once_a_command_and_never_of_the_record(store: Ledgers, refund: Ledger, orders: Orders) -> None:
    refund.set_fact("order", "ORD-1", source="user")
    refund.set_fact("reference", "ORD-2", source="user", supersedes="ORD-1")
    refund.set_fact("note", "ORD-3", source="user")
    assert orders.asked == ["ORD-1", "ORD-2"]
    view(store, "refund").state()
    view(store, "refund", at=2).state()
    assert store.ledger("refund").version == len(list(refund.events()))
    assert verify_store(store).ok
    store.ledger("refund").record_turn("user", "hello")
    assert orders.asked == ["ORD-1", "ORD-2"]


def test_its_answer_is_recorded(refund: Ledger, orders: Orders) -> None:
    events = [
        refund.set_fact("order", "ORD-1", source="tool").event,
        refund.set_fact("order", "ORD-1", source="user").event,
        refund.set_fact("order", "ORD-2", source="user", supersedes="ORD-1").event,
        refund.set_fact("note", "x", source="user").event,
    ]
    assert [event.type for event in events] == ["fact.set", "fact.reaffirmed", "fact.superseded", "fact.set"]
    assert [getattr(event, "reference", None) for event in events] == ["exists", "exists", "exists", None]
    assert orders.asked == ["ORD-1", "ORD-1", "ORD-2"]


@pytest.mark.parametrize("source", ["user", "interface", "tool", "inferred"])
def test_what_does_not_exist_is_rejected(store: Ledgers, refund: Ledger, source: e.Source) -> None:
    recorded = refund.set_fact("order", "ORD-3", source=source)
    assert rules(recorded) == ["reference"]
    assert "is not known to orders" in recorded.event.problems[0].why  # type: ignore[union-attr]
    assert view(store, "refund").state().entities == {}


def test_an_answer_is_not_asked_again_when_what_exists_has_changed(store: Ledgers, refund: Ledger, orders: Orders) -> None:
    refund.set_fact("order", "ORD-1", source="user")
    orders.known = ()
    assert view(store, "refund").state().entities["order"].value == "ORD-1"
    assert verify_store(store).ok
    assert rules(refund.set_fact("order", "ORD-1", source="user")) == ["reference"]


def test_a_failing_check_is_not_swallowed_and_nothing_is_recorded(store: Ledgers) -> None:
    def unreachable(value: Any) -> bool:
        raise ConnectionError(f"no answer about {value}")

    ledger = store.ledger("refund")
    ledger.declare(Refund, references={"orders": unreachable})
    with pytest.raises(ConnectionError, match="no answer about ORD-1"):
        ledger.set_fact("order", "ORD-1", source="user", idempotency_key="k")
    assert types(ledger.events()) == ["schema.set"]
    ledger.declare(Refund, references={"orders": Orders("ORD-1")})
    assert ledger.set_fact("order", "ORD-1", source="user", idempotency_key="k").event.type == "fact.set"


@pytest.mark.parametrize("source", ["user", "tool", "inferred"])
def test_without_a_check_at_hand_a_value_is_refused(store: Ledgers, source: e.Source) -> None:
    ledger = store.ledger("refund", schema=Refund)
    for name in ("order", "Reference"):
        with pytest.raises(InvalidInput, match=r"'order' refers to orders.*references=") as caught:
            ledger.set_fact(name, "ORD-1", source=source)
        assert caught.value.path == "references"
    assert types(ledger.events()) == ["schema.set"]


def test_a_value_that_the_interface_offered_is_recorded_unchecked(store: Ledgers) -> None:
    ledger = store.ledger("refund", schema=Refund)
    event = ledger.set_fact("order", "ORD-1", source="interface").event
    assert isinstance(event, e.FactSet)
    assert event.reference == "unchecked"
    assert rules(ledger.set_fact("order", "1", source="interface")) == ["pattern"]


def test_a_cold_handle_asks_once_it_was_given_whom(store: Ledgers, refund: Ledger, orders: Orders) -> None:
    refund.set_fact("order", "ORD-1", source="user")
    cold = store.ledger("refund")
    with pytest.raises(InvalidInput, match="references="):
        cold.set_fact("order", "ORD-1", source="user")
    cold.declare(Refund, references={"orders": orders})
    assert cold.set_fact("order", "ORD-1", source="user").event.type == "fact.reaffirmed"
    assert types(cold.events()) == ["schema.set", "fact.set", "fact.reaffirmed"]


def test_a_handle_that_does_not_know_of_the_reference_yet_records_nothing_unchecked(store: Ledgers, orders: Orders) -> None:
    first = store.ledger("refund")
    first.record_turn("user", "hello")
    store.ledger("refund").declare(Refund, references={"orders": orders})
    with pytest.raises(InvalidInput, match="nobody was asked"):
        first.set_fact("order", "ORD-1", source="user")
    assert types(first.events()) == ["turn.recorded", "schema.set"]
    first.declare(Refund, references={"orders": orders})
    assert first.set_fact("order", "ORD-1", source="user").event.type == "fact.set"


def test_a_model_brings_its_own_checks(store: Ledgers) -> None:
    class Checked(Refund):
        references: ClassVar[Mapping[str, Callable[[Any], bool]]] = {"orders": Orders("ORD-1")}

    ledger = store.ledger("refund", schema=Checked)
    assert ledger.set_fact("order", "ORD-1", source="user").event.type == "fact.set"
    assert rules(ledger.set_fact("order", "ORD-2", source="user")) == ["reference"]
    ledger.declare(Checked, references={"orders": Orders("ORD-2")})
    assert ledger.set_fact("order", "ORD-2", source="user", supersedes="ORD-1").event.type == "fact.superseded"


def test_a_resolution_is_recorded_as_unchecked(refund: Ledger) -> None:
    refund.set_fact("order", "ORD-1", source="user")
    refund.set_fact("order", "ORD-2", source="tool")
    refund.resolve_contradiction("con_3", because="the user looked", source="user", value="ORD-2")
    *_, adopted = refund.events()
    assert isinstance(adopted.event, e.FactSuperseded)
    assert adopted.event.reference == "unchecked"


def test_a_raw_claim_says_whether_its_reference_was_checked(refund: Ledger) -> None:
    said: dict[str, Any] = {"field": "order", "value": JsonText('"ORD-9"'), "meaning": JsonText('"ORD-9"'), "source": "user"}
    with pytest.raises(AdmissionRefused, match="reference=None does not go with the schema"):
        refund.append(e.FactSet(**said))
    refund.append(e.FactSet(**said, reference="unchecked"))
    assert schema_of(Refund).fields[0].refers_to == "orders"


def test_a_value_that_does_not_fit_is_not_asked_about(refund: Ledger, orders: Orders) -> None:
    assert rules(refund.set_fact("order", "no order", source="user")) == ["pattern"]
    assert orders.asked == []


def test_a_repeated_command_is_not_asked_about_again(store: Ledgers, refund: Ledger, orders: Orders) -> None:
    first = refund.set_fact("order", "ORD-1", source="user", idempotency_key="k")
    assert orders.asked == ["ORD-1"]
    assert refund.set_fact("order", "ORD-1", source="user", idempotency_key="k") == first
    other = store.ledger("refund")  # has nobody to ask
    assert other.set_fact("order", "ORD-1", source="user", idempotency_key="k") == first
    assert orders.asked == ["ORD-1"]


def test_a_name_that_is_no_text_is_refused_by_name(refund: Ledger) -> None:
    with pytest.raises(InvalidInput, match="field"):
        refund.set_fact(5, "ORD-1", source="user")  # type: ignore[arg-type]
