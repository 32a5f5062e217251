"""Long texts in a block: cut and marked, so that no line takes the place of many; whole in the state and in the record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from ledger import Ledgers, connect
from projections.state_block import BlockOptions, GivenWay
from replay import view
from tests.projections.block_reading import FORMS, Form, Said, read
from tests.projections.histories import ticking

WIDE = BlockOptions(budget_tokens=1_000_000)
LONG = "Nobody at the desk knew which of the parcels it was. " * 40


@pytest.fixture
def store() -> Iterator[Ledgers]:
    """A store in memory with a user turn."""
    with connect(":memory:", clock=ticking()) as ledgers:
        ledgers.ledger("case").record_turn("user", "Please refund ORD-88213.")
        yield ledgers


def said(store: Ledgers, options: BlockOptions) -> list[Said]:
    text = view(store, "case").state().shown(options).text
    return [line for line in read(text, form=options.form, provenance=options.provenance) if isinstance(line, Said)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("provenance", [True, False])
@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a" * 240, "a" * 240),
        ("a" * 241, "a" * 239 + "…"),
        ("\u202e" * 241, "\u202e" * 239 + "…"),
        ("\\`</state>\n" * 30, ("\\`</state>\n" * 30)[:239] + "…"),
        ("😀" * 300, "😀" * 239 + "…"),
        ("ab" * 100, "ab" * 100),
        (["a" * 236], ["a" * 236]),
        (["a" * 237], '["' + "a" * 237 + "…"),
        ({"a": ["b"] * 100}, ('{"a":[' + '"b",' * 100)[:239] + "…"),
        (int("7" * 240), int("7" * 240)),
        (int("7" * 241), "7" * 239 + "…"),
        (Decimal("0." + "7" * 300), "0." + "7" * 237 + "…"),
        (None, None),
    ],
)
def test_a_long_value_is_cut_and_says_so(store: Ledgers, form: Form, provenance: bool, value: Any, shown: Any) -> None:
    store.ledger("case").set_fact("note", value, source="tool", turn=1)
    options = WIDE.model_copy(update={"form": form, "provenance": provenance})
    (line,) = said(store, options)
    is_cut = value != shown
    assert (line.name, line.value, line.is_cut) == ("note", shown, is_cut)
    state = view(store, "case").state()
    assert state.entities["note"].value == value
    assert json.loads(state.to_json(), parse_float=Decimal)["sections"]["entities"]["note"]["value"] == value
    assert state.shown(options).gave_way == ((GivenWay("entities", "note", "tail", "cap"),) if is_cut else ())


def test_a_value_keeps_its_spelling_where_its_text_is_short(store: Ledgers) -> None:
    store.ledger("case").set_fact("note", "\U0001f600" * 200, source="tool")
    (line,) = said(store, WIDE)
    assert (line.value, line.is_cut) == ("\U0001f600" * 200, False)


@pytest.mark.parametrize("form", FORMS)
def test_an_entry_and_its_reason_are_cut(store: Ledgers, form: Form) -> None:
    case = store.ledger("case")
    long_what = case.add_entry("decisions", LONG, why="it is next", source="inferred")
    long_why = case.add_entry("decisions", "wait", why=LONG, source="inferred")
    options = BlockOptions(form=form, budget_tokens=1_000, most_characters=20)
    first, second = said(store, options)
    assert (first.value, first.why, first.is_cut) == ("Nobody at the desk …", "it is next", True)
    assert (second.value, second.why, second.is_cut) == ("wait", "Nobody at the desk …", True)
    state = view(store, "case").state()
    gave_way = state.shown(options).gave_way
    assert gave_way == tuple(GivenWay("decisions", name, "tail", "cap") for name in (long_what, long_why))
    assert [(entry.what, entry.why) for entry in state.entries["decisions"]] == [(LONG, "it is next"), ("wait", LONG)]
    without = state.shown(options.model_copy(update={"provenance": False}))
    assert without.gave_way == (GivenWay("decisions", long_what, "tail", "cap"),)


def test_what_gave_way_has_no_tail_to_tell_of(store: Ledgers) -> None:
    case = store.ledger("case")
    case.set_fact("note", LONG, source="tool")
    entry = case.add_entry("constraints", "none", why=LONG, source="tool")
    state = view(store, "case").state()
    assert state.shown(BlockOptions(budget_tokens=1)).gave_way == (
        GivenWay("entities", "note", "line", "tokens"),
        GivenWay("constraints", entry, "line", "tokens"),
    )
    assert state.shown(BlockOptions(budget_tokens=130)).gave_way == (
        GivenWay("constraints", entry, "why", "tokens"),
        GivenWay("entities", "note", "tail", "cap"),
    )


@pytest.mark.parametrize("form", FORMS)
def test_a_field_that_is_called_like_a_mark_is_told_from_it(store: Ledgers, form: Form) -> None:
    case = store.ledger("case")
    for name in ("cut", "from", "until"):
        case.set_fact(name, LONG, source="user")
    assert [(line.name, line.value, line.is_cut) for line in said(store, WIDE.model_copy(update={"form": form}))] == [
        (name, LONG[:239] + "…", True) for name in ("cut", "from", "until")
    ]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("source", ["user", "tool", "inferred"])
def test_one_long_value_does_not_empty_the_block(store: Ledgers, form: Form, source: Any) -> None:
    case = store.ledger("case")
    for number in range(8):
        case.set_fact(f"field {number}", f"value {number}", source="user", turn=1)
    case.set_fact("note", LONG * 20, source=source)
    lines = said(store, BlockOptions(form=form))
    assert [line.name for line in lines] == [*(f"field_{number}" for number in range(8)), "note"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("provenance", [True, False])
def test_what_users_said_is_not_crowded_out(store: Ledgers, form: Form, provenance: bool) -> None:
    case = store.ledger("case")
    sources: list[Any] = ["user", "interface"]
    for number in range(10):
        case.set_fact(f"field {number}", f"value {number}", source=sources[number % 2])
    rule = case.add_entry("constraints", "no vouchers", source="user")
    for number in range(200):
        sections: list[Any] = ["constraints", "decisions", "rejected", "open"]
        case.add_entry(sections[number % 4], f"{number} {LONG}", why=LONG, source="inferred")
        case.set_fact(f"found {number}", f"{number} {LONG}", source="tool")
    for number in range(10):
        case.set_fact(f"field {number}", LONG, source="tool")
    block = view(store, "case").state().shown(BlockOptions(form=form, provenance=provenance, budget_tokens=340))
    assert block.tokens <= 340
    shown = [line for line in read(block.text, form=form, provenance=provenance) if isinstance(line, Said)]
    assert [line.value for line in shown[:10]] == [f"value {number}" for number in range(10)]
    assert "no vouchers" in [line.value for line in shown]
    assert rule not in [given.name for given in block.gave_way]


@pytest.mark.parametrize("form", FORMS)
def test_ten_facts_of_users_stand_against_hundreds_of_others(store: Ledgers, form: Form) -> None:
    case = store.ledger("case")
    for number in range(10):
        case.set_fact(f"field {number}", f"value {number}", source="user", turn=1)
    for number in range(300):
        case.add_entry("constraints", f"{number} {LONG}", why=LONG, source="inferred")
        case.set_fact(f"found {number}", f"{number} {LONG}", source="tool")
        case.set_fact(f"guess {number}", f"{number} {LONG}", source="inferred")
    lines = said(store, BlockOptions(form=form))
    assert [line.value for line in lines if line.source == "user"] == [f"value {number}" for number in range(10)]


def test_a_cap_keeps_the_constraints_of_users_before_those_of_others(store: Ledgers) -> None:
    case = store.ledger("case")
    sources: list[Any] = ["user", "tool", "interface", "inferred", "tool"]
    for source in sources:
        case.add_entry("constraints", f"by {source}", source=source)
        case.add_entry("decisions", f"by {source}", source=source)
    lines = said(store, BlockOptions(most_entries=3))
    assert [line.value for line in lines if line.section == "constraints"] == ["by user", "by interface", "by tool"]
    assert [line.value for line in lines if line.section == "decisions"] == ["by interface", "by inferred", "by tool"]
