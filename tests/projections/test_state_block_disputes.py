"""What is disputed, in a block: one line a field, the latest few, and nothing about fields that are not shown."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ledger import JsonText, Ledgers, connect
from ledger.events import Side
from ledger.schema.schema import FieldSpec, Schema
from projections.policy import Policy
from projections.state_block import BlockOptions, GivenWay
from replay import view
from tests.projections.block_reading import FORMS, Disputed, Form, Said, expected, read
from tests.projections.histories import ticking

SIDES = [Side(value=JsonText.of(side), source="tool") for side in "ab"]


@pytest.fixture
def store() -> Iterator[Ledgers]:
    """A store in memory with twenty user turns."""
    with connect(":memory:", clock=ticking()) as ledgers:
        for number in range(20):
            ledgers.ledger("case").record_turn("user", f"Again, number {number}.")
        yield ledgers


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("provenance", [True, False])
def test_a_field_that_is_disputed_again_and_again_is_one_line(store: Ledgers, form: Form, provenance: bool) -> None:
    case = store.ledger("case")
    case.set_fact("amount", "4,180 INR", source="user", turn=1)
    case.set_fact("day", "Monday", source="tool")
    for turn in range(2, 17):
        case.set_fact("amount", f"{turn} INR", source="tool", turn=turn)
    block = view(store, "case").state().shown(BlockOptions(form=form, provenance=provenance))
    *facts, dispute = read(block.text, form=form, provenance=provenance)
    assert [line.value for line in facts if isinstance(line, Said)] == ["4,180 INR", "Monday"]
    assert dispute == Disputed("amount", "con_37", (12, 13, 14, 15, 16), more=14)
    assert block.gave_way == ()


@pytest.mark.parametrize("form", FORMS)
def test_of_a_hundred_disputed_fields_the_latest_are_shown_and_the_rest_is_counted(store: Ledgers, form: Form) -> None:
    case = store.ledger("case")
    for number in range(100):
        case.set_fact(f"field {number}", "ours", source="user", turn=1)
    for number in range(100):
        case.set_fact(f"field {number}", "theirs", source="tool", turn=2)
    state = view(store, "case").state()
    assert len(state.contradictions) == 100
    block = state.shown(BlockOptions(form=form))
    assert block.tokens <= 300
    lines = read(block.text, form=form, provenance=True)
    disputes = [line for line in lines if isinstance(line, Disputed)]
    assert disputes == [line for line in expected(state, provenance=True) if isinstance(line, Disputed)][-5:]
    assert sum(isinstance(line, Said) for line in lines) >= 5
    assert isinstance(lines[-1], dict)
    assert lines[-1]["disputes"] == 95
    capped = tuple(GivenWay("disputes", found.id, "line", "cap") for found in state.contradictions[:95])
    assert block.gave_way[:95] == capped
    least = state.shown(BlockOptions(form=form, budget_tokens=1))
    assert [line for line in read(least.text, form=form, provenance=True) if isinstance(line, Disputed)] == disputes
    wide = read(state.shown(BlockOptions(form=form, most_entries=100, budget_tokens=10_000)).text, form=form, provenance=True)
    assert sum(isinstance(line, Disputed) for line in wide) == 100
    assert view(store, "case").window(Policy(tail_turns=0, budget_tokens=400, state=BlockOptions(form=form))).tokens <= 400


def test_a_dispute_about_no_field_is_a_line_of_its_own(store: Ledgers) -> None:
    case = store.ledger("case")
    for turn in (1, 2):
        case.record_contradiction("price of the edition", SIDES, turn=turn)
    lines = read(view(store, "case").state().block, form="lines", provenance=True)
    assert lines == [Disputed("price of the edition", "con_21", (1,)), Disputed("price of the edition", "con_22", (2,))]


def test_a_field_that_is_disputed_once_more_is_the_latest(store: Ledgers) -> None:
    case = store.ledger("case")
    for name in ("order", "day"):
        case.set_fact(name, "ours", source="user", turn=1)
    for name, value in (("order", "A"), ("day", "B"), ("order", "C")):
        case.set_fact(name, value, source="tool")
    text = view(store, "case").state().shown(BlockOptions(most_entries=1)).text
    order, day, dispute, missing = read(text, form="lines", provenance=True)
    assert isinstance(order, Said)
    assert isinstance(day, Said)
    assert dispute == Disputed("order", "con_25", (1,), more=1)
    assert missing == {"disputes": 1}


def test_a_name_that_became_an_alias_is_disputed_with_its_field(store: Ledgers) -> None:
    case = store.ledger("case")
    for name in ("order", "reference"):
        case.set_fact(name, "ours", source="user", turn=1)
        case.set_fact(name, "theirs", source="tool")
    case.declare(Schema(name="case", fields=(FieldSpec(name="order", aliases=("reference",)),)))
    lines = read(view(store, "case").state().block, form="lines", provenance=True)
    assert [line for line in lines if isinstance(line, Disputed)] == [Disputed("reference", "con_24", (1,), more=1)]


@pytest.mark.parametrize("form", FORMS)
def test_what_is_not_shown_is_not_disputed_in_the_block(store: Ledgers, form: Form) -> None:
    case = store.ledger("case", schema=Schema(name="case", fields=(FieldSpec(name="token", rendered=False),), free=True))
    case.set_fact("token", "t_7731", source="user", turn=1)
    case.set_fact("token", "t_8842", source="tool")
    case.record_contradiction("Token", SIDES)
    state = view(store, "case").state()
    assert len(state.contradictions) == 2
    assert len(state.sections["open"]) == 2
    assert state.is_bare
    assert view(store, "case").window().block is None
    case.set_fact("amount", "4,180 INR", source="user")
    block = view(store, "case").state().shown(BlockOptions(form=form))
    assert "oken" not in block.text
    assert block.gave_way == ()
