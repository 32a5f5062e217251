"""The refund case as a block: what it costs, and how it reads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from delivery.cli.refund_case import NAME, record_refund_case
from ledger import connect
from projections.state import State
from projections.state_block import BlockOptions
from replay import Turn, view
from replay.tokens import counter
from tests.projections.block_reading import FORMS, Form, expected, read
from tests.projections.histories import ticking

SOURCED = """\
<state>
{"about":"Established facts of this conversation. User and interface hold where older text above differs; tool and inferred \
are unconfirmed."}
{"order_id":"ORD-88213","user":1}
{"amount":"4,050 INR","user":11}
{"customer_id":"c_9912","tool":2}
{"charge":"ch_7312","tool":2}
{"refund":"rf_2048","tool":12}
{"constraints":"refund to the card that was charged","id":"en_11","user":4}
{"decisions":"refund ch_7312 with 4,050 INR","why":"charged twice","id":"en_33","inferred":12}
{"rejected":"store credit","why":"the user wants the card refunded","id":"en_14","user":6}
{"open":"approval of rf_2048 by finance","id":"en_34","tool":12}
{"open":"price of the express edition is disputed","id":"con_22","turns":[7]}
</state>
"""
UNSOURCED = """\
<state>
Established facts of this conversation. They hold where older text below differs; ? marks what is unconfirmed.
order_id: "ORD-88213"
amount: "4,050 INR"
customer_id?: "c_9912"
charge?: "ch_7312"
refund?: "rf_2048"
constraints: "refund to the card that was charged"
decisions?: "refund ch_7312 with 4,050 INR"
rejected: "store credit"
open?: "approval of rf_2048 by finance"
open: "price of the express edition is disputed" (con_22, turns 7)
</state>
"""


@pytest.fixture
def case() -> Iterator[State]:
    """The state of the case at its end."""
    with connect(":memory:", clock=ticking()) as store:
        record_refund_case(store.ledger(NAME))
        yield view(store, NAME).state()


def test_it_reads_as_it_did(case: State) -> None:
    assert case.block == SOURCED
    assert case.shown(BlockOptions(form="compact", provenance=False), place="below").text == UNSOURCED


@pytest.mark.parametrize("form", FORMS)
def test_it_costs_at_most_220_tokens_with_provenance(case: State, form: Form) -> None:
    block = case.shown(BlockOptions(form=form))
    assert counter("o200k_base")(block.text) == block.tokens <= 220
    assert block.gave_way == ()
    assert read(block.text, form=form, provenance=True) == expected(case, provenance=True)


@pytest.mark.parametrize("form", FORMS)
def test_it_costs_at_most_150_tokens_without_provenance(case: State, form: Form) -> None:
    block = case.shown(BlockOptions(form=form, provenance=False))
    assert counter("o200k_base")(block.text) == block.tokens <= 150
    assert block.gave_way == ()
    assert read(block.text, form=form, provenance=False) == expected(case, provenance=False)


def test_as_of_an_earlier_turn_it_shows_what_held_then() -> None:
    with connect(":memory:", clock=ticking()) as store:
        record_refund_case(store.ledger(NAME))
        before = view(store, NAME, at=Turn(10)).state().block
        assert '{"amount":"4,180 INR","user":1}' in before
        assert "what was the card charged?" in before
        assert "4,050 INR" not in before
