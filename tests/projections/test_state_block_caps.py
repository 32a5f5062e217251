"""What a block leaves out to keep within its caps: in the written order, named exactly, and never beyond need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger import JsonText, Ledger, connect
from ledger.events import EntryAdded, FactSet, Section, Side, Source
from ledger.schema.schema import FieldSpec, Schema, SectionSpec
from projections.state import State
from projections.state_block import Block, BlockOptions, GivenWay, block_of
from replay import view
from tests.projections.block_reading import FORMS, Disputed, Form, Said, expected, read
from tests.projections.histories import ticking

LARGE = 1_000_000
FACTS: list[tuple[str, Source]] = [
    ("order", "user"),
    ("guess", "inferred"),
    ("charge", "tool"),
    ("channel", "interface"),
    ("mood", "inferred"),
    ("carrier", "tool"),
]
ENTRIES: list[tuple[Section, str | None]] = [
    ("open", "nobody knows"),
    ("constraints", None),
    ("decisions", "it was charged twice"),
    ("rejected", "the user wants the card refunded"),
    ("rejected", None),
    ("decisions", None),
    ("open", None),
    ("constraints", "the bank asks for it"),
]
SIDES = [Side(value=JsonText.of(side), source="tool") for side in ("a", "b")]

# Facts have the versions 2 to 7, entries 8 to 15.
ORDER = [
    ("open", "en_8", "why"),
    ("decisions", "en_10", "why"),
    ("rejected", "en_11", "why"),
    ("constraints", "en_15", "why"),
    ("rejected", "en_11", "line"),
    ("rejected", "en_12", "line"),
    ("decisions", "en_10", "line"),
    ("decisions", "en_13", "line"),
    ("entities", "guess", "line"),
    ("entities", "mood", "line"),
    ("entities", "charge", "line"),
    ("entities", "carrier", "line"),
    ("open", "en_8", "line"),
    ("open", "en_14", "line"),
    ("constraints", "en_9", "line"),
    ("constraints", "en_15", "line"),
    ("entities", "order", "line"),
    ("entities", "channel", "line"),
]


def some_of_all(handle: Ledger) -> None:
    handle.record_turn("user", "Please refund ORD-88213.")
    for name, source in FACTS:
        handle.set_fact(name, f"the {name} of the order", source=source, turn=1)
    for section, why in ENTRIES:
        handle.add_entry(section, f"one of the {section}", why=why, source="user", turn=1)
    handle.record_contradiction("price of the express edition", SIDES, turn=1)


def taken(block: Block) -> set[tuple[str, str, str]]:
    """The steps that a block has taken; with a line, why its entry was made has gone before."""
    known = {(section, name) for section, name, part in ORDER if part == "why"}
    steps = {(given.section, given.name, given.part) for given in block.gave_way}
    return steps | {(section, name, "why") for section, name, _ in steps if (section, name) in known}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("provenance", [True, False])
def test_what_gives_way_gives_way_in_the_written_order(form: Form, provenance: bool) -> None:
    with connect(":memory:", clock=ticking()) as store:
        some_of_all(store.ledger("case"))
        state = view(store, "case").state()
        order = [step for step in ORDER if provenance or step[2] == "line"]
        whole = state.shown(BlockOptions(form=form, provenance=provenance, budget_tokens=LARGE))
        cheapest: dict[int, int] = {}
        for budget_tokens in range(whole.tokens, 0, -1):
            block = state.shown(BlockOptions(form=form, provenance=provenance, budget_tokens=budget_tokens))
            steps = taken(block) if provenance else {(given.section, given.name, given.part) for given in block.gave_way}
            number = len(steps)
            assert steps == set(order[:number])
            assert number >= max(cheapest, default=0), "a smaller budget brings nothing back"
            assert block.tokens <= budget_tokens or number == len(order)
            assert block.tokens == state.count(block.text)
            assert [cost for fewer, cost in cheapest.items() if fewer < number and cost <= budget_tokens] == []
            cheapest[number] = block.tokens
        assert len(cheapest) >= len(order) - 2, "step by step"
        least = state.shown(BlockOptions(form=form, provenance=provenance, budget_tokens=1))
        assert Counter(given.section for given in least.gave_way) == {
            "entities": 6, "open": 2, "constraints": 2, "decisions": 2, "rejected": 2
        }  # fmt: skip
        found, missing = read(least.text, form=form, provenance=provenance)
        assert found == Disputed("price of the express edition", "con_16", (1,))
        assert missing == {"entities": 6, "constraints": 2, "decisions": 2, "rejected": 2, "open": 2}


SIZES = st.integers(1, 12).map(lambda number: "word " * number)
STATES = st.tuples(
    st.lists(st.tuples(st.sampled_from(get_args(Source)), SIZES), max_size=8),
    st.lists(st.tuples(st.sampled_from(get_args(Section)), SIZES, st.none() | SIZES), max_size=16),
    st.integers(0, 6),
)
BUDGETS = st.tuples(st.integers(1, 700), st.integers(0, 60)).map(lambda drawn: (drawn[0], drawn[0] + drawn[1]))
COUNTS: list[Callable[[str], int] | None] = [None, len, lambda text: (len(text) + 3) // 4, lambda text: len(text) // 4 + 3]


def built(handle: Ledger, drawn: tuple[Any, Any, int]) -> None:
    handle.record_turn("user", "Please refund ORD-88213.")
    facts, entries, disputes = drawn
    for number, (source, text) in enumerate(facts):
        handle.set_fact(f"field {number}", text, source=source, turn=1)
    for section, text, why in entries:
        handle.add_entry(section, text, why=why, source="user", turn=1)
    for number in range(disputes):
        handle.record_contradiction(f"field {number}", SIDES)


@settings(deadline=None, max_examples=120)
@given(STATES, st.sampled_from(COUNTS), BUDGETS, st.sampled_from(FORMS), st.integers(1, 4))
def test_caps_hold_and_what_gave_way_is_named(
    drawn: Any, count: Callable[[str], int] | None, budgets: tuple[int, int], form: Form, most_entries: int
) -> None:
    with connect(":memory:", clock=ticking()) as store:
        built(store.ledger("case"), drawn)
        state = view(store, "case").state()
        count = count or state.count
        budget_tokens, larger = budgets
        options = BlockOptions(form=form, budget_tokens=budget_tokens, most_entries=most_entries)
        block = block_of(state, options, count=count)
        richer = block_of(state, options.model_copy(update={"budget_tokens": larger}), count=count)
        assert block.tokens >= count(block.text) - (count is not state.count)  # the others only act as if they counted tokens
        lines = read(block.text, form=form, provenance=True)
        assert block.tokens <= budget_tokens or not any(isinstance(line, Said) for line in lines)
        assert_named(state, block, lines, most_entries)
        assert shown(lines) <= shown(read(richer.text, form=form, provenance=True))
        assert len({(given.section, given.name) for given in block.gave_way}) == len(block.gave_way)


def shown(lines: list[Any]) -> set[tuple[str, str, str]]:
    """What lines show, piece by piece."""
    said = [line for line in lines if isinstance(line, Said)]
    whys = {(line.section, line.name, "why") for line in said if line.why is not None}
    disputes = {("disputes", line.name, "line") for line in lines if isinstance(line, Disputed)}
    return {(line.section, line.name, "line") for line in said} | whys | disputes


def assert_named(state: State, block: Block, lines: list[Any], most_entries: int) -> None:
    """What is shown and what gave way are the whole state, and nothing is both; the last line counts what is missing."""
    whole = shown(list(expected(state, provenance=True)))
    gone = {(given.section, given.name, given.part) for given in block.gave_way}
    with_their_lines = {(section, name, "why") for section, name, part in gone if part == "line"} & whole
    assert shown(lines) | gone | with_their_lines == whole
    assert shown(lines) & (gone | with_their_lines) == set()
    missing = Counter(given.section for given in block.gave_way if given.part == "line")
    assert (lines[-1] if lines and isinstance(lines[-1], dict) else {}) == missing
    disputes = [line for line in expected(state, provenance=True) if isinstance(line, Disputed)]
    assert [line for line in lines if isinstance(line, Disputed)] == disputes[-most_entries:], "within their cap, they stay"


def by_command(handle: Ledger) -> None:
    for number in range(40):
        handle.add_entry("decisions", f"step {number}", source="inferred")


def by_keyed_command(handle: Ledger) -> None:
    for number in (*range(40), *range(40)):
        handle.add_entry("decisions", f"step {number}", source="inferred", idempotency_key=f"step-{number}")


def by_append(handle: Ledger) -> None:
    handle.append([EntryAdded(section="decisions", what=f"step {number}", source="inferred") for number in range(40)])


@pytest.mark.parametrize("write", [by_command, by_keyed_command, by_append])
@pytest.mark.parametrize("form", FORMS)
def test_of_forty_decisions_five_are_shown_and_all_are_kept(write: Callable[[Ledger], None], form: Form) -> None:
    with connect(":memory:", clock=ticking()) as store:
        handle = store.ledger("case")
        handle.record_turn("user", "Go on.")
        write(handle)
        state = view(store, "case").state()
        block = state.shown(BlockOptions(form=form))
        *lines, missing = read(block.text, form=form, provenance=True)
        assert [line.value for line in lines if isinstance(line, Said)] == [f"step {number}" for number in range(35, 40)]
        assert missing == {"decisions": 35}
        assert block.gave_way == tuple(GivenWay("decisions", one.id, "line", "cap") for one in state.entries["decisions"][:35])
        assert [entry.what for entry in state.entries["decisions"]] == [f"step {number}" for number in range(40)]
        assert len(view(store, "case").handoff().brief["decisions"]) == 40


def test_a_schema_says_how_many_are_shown_and_what_is_not() -> None:
    sections = (
        SectionSpec(section="decisions", most_shown=2),
        SectionSpec(section="constraints", most_shown=7),
        SectionSpec(section="open", rendered=False),
    )
    schema = Schema(name="case", fields=(FieldSpec(name="token", rendered=False),), sections=sections, free=True)
    with connect(":memory:", clock=ticking()) as store:
        handle = store.ledger("case", schema=schema)
        handle.set_fact("token", "t_7731", source="tool")
        handle.set_fact("amount", "4,180 INR", source="user")
        for section in get_args(Section):
            for number in range(8):
                handle.add_entry(section, f"{section} {number}", source="user")
        state = view(store, "case").state()
        block = state.shown(BlockOptions(budget_tokens=LARGE))
        lines = read(block.text, form="lines", provenance=True)
        assert Counter(line.section for line in lines if isinstance(line, Said)) == {
            "entities": 1, "decisions": 2, "constraints": 7, "rejected": 5
        }  # fmt: skip
        assert lines[-1] == {"constraints": 1, "decisions": 6, "rejected": 3}
        assert "t_7731" not in block.text
        assert state.entities["token"].value == "t_7731"
        assert len(state.entries["open"]) == 8


def test_declared_fields_stand_as_they_are_declared_then_the_others() -> None:
    schema = Schema(name="case", fields=tuple(FieldSpec(name=name) for name in ("order", "amount", "day")), free=True)
    with connect(":memory:", clock=ticking()) as store:
        handle = store.ledger("case", schema=schema)
        for name in ("note", "day", "amount", "also", "order"):
            handle.set_fact(name, "1", source="user")
        lines = read(view(store, "case").state().block, form="lines", provenance=True)
        assert [line.name for line in lines if isinstance(line, Said)] == ["order", "amount", "day", "note", "also"]


def test_of_ten_thousand_facts_only_what_is_shown_is_counted() -> None:
    with connect(":memory:", clock=ticking()) as store:
        handle = store.ledger("case")
        facts = [FactSet(field=f"field_{n}", value=JsonText.of(f"value {n}"), source="tool") for n in range(10_000)]
        handle.append(facts)
        counted: list[int] = []

        def count(text: str) -> int:
            counted.append(len(text))
            return len(text)

        block = block_of(view(store, "case").state(), BlockOptions(), count=count)
        assert block.tokens <= 300
        assert len(block.gave_way) + len(read(block.text, form="lines", provenance=True)) - 1 == 10_000
        assert sum(counted) < 10_000
        counted.clear()
        larger = block_of(view(store, "case").state(), BlockOptions(budget_tokens=200_000), count=count)
        assert 199_900 < larger.tokens <= 200_000
        assert sum(counted) < 10 * 200_000
