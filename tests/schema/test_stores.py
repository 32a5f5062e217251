"""A schema on every kind of store: the same events, whoever reads them."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from ledger.verify import verify_store
from replay.view import view
from tests.contract.stores import OpenStore
from tests.schema.refunds import RefundState, rules, types

EXPECTED = [
    "schema.set",
    "turn.recorded",
    "fact.set",
    "fact.reaffirmed",
    "contradiction.recorded",
    "fact.rejected",
    "fact.set",
    "schema.set",
    "fact.reaffirmed",
]


def test_every_store_keeps_a_schema_and_what_it_judged(open_store: OpenStore) -> None:
    ledger = open_store().ledger("refund", schema=RefundState)
    ledger.record_turn("user", "4,180 INR for ORD-1")
    ledger.set_fact("amount", "4,180 INR", source="user", turn=1)
    ledger.set_fact("sum", "4180.00 INR", source="user", turn=1, valid_from=None)
    ledger.set_fact("amount", {"amount": 4050, "currency": "INR"}, source="tool")
    rejected = ledger.set_fact("order", "\ud800", source="user")
    ledger.set_fact("day", "11/05/2031", source="user", valid_from=datetime(2031, 5, 1, tzinfo=UTC))
    ledger.declare({**RefundState.model_json_schema(), "title": "Refund"})
    again = open_store().ledger("refund")
    again.set_fact("amount", "₹ 4180", source="interface")
    assert rules(rejected) == ["pattern"]
    assert types(again.events()) == types(ledger.events()) == EXPECTED
    assert [one.event for one in again.events()] == [one.event for one in ledger.events()]
    assert json.loads(view(open_store(), "refund").state().to_json())["sections"]["entities"]["amount"]["value"] == "4,180 INR"
    assert verify_store(open_store()).ok
