"""The state block over time and in a window: what leaves it stays in the record, and what has nothing to show is left out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger import JsonText, Ledgers, connect
from ledger.events import Section, Side
from ledger.schema.schema import FieldSpec, Schema, SectionSpec
from projections.policy import Policy
from projections.state_block import BlockOptions
from replay import view
from tests.projections.block_reading import FORMS, Disputed, Form, Said, read
from tests.projections.counting import tokens_of
from tests.projections.histories import CONVERSATIONS, Step, recorded, ticking
from tests.projections.sdk_types import refusals_of

ASKED = "Please refund ORD-88213."


@pytest.fixture
def store() -> Iterator[Ledgers]:
    """A store in memory with a user turn."""
    with connect(":memory:", clock=ticking()) as ledgers:
        ledgers.ledger("case").record_turn("user", ASKED)
        yield ledgers


def block(store: Ledgers, form: Form = "lines") -> str:
    return view(store, "case").state().shown(BlockOptions(form=form)).text


@pytest.mark.parametrize("form", FORMS)
def test_what_no_longer_holds_leaves_the_block_and_stays_in_the_record(store: Ledgers, form: Form) -> None:
    case = store.ledger("case", schema=Schema(name="case", fields=(FieldSpec(name="amount"), FieldSpec(name="day"))))
    case.set_fact("amount", "4,180 INR", source="user")
    case.set_fact("amount", "4,050 INR", source="user", supersedes="4,180 INR")
    case.set_fact("day", "Monday", source="tool")
    case.retract_fact("day", source="tool")
    assert case.set_fact("colour", "teal", source="user").event.type == "fact.rejected"
    closed = case.add_entry("open", "which card?", source="user")
    case.close_entry(closed, because="the one that was charged", source="user")
    found = case.record_contradiction("price of the edition", [Side(value=JsonText.of(one), source="tool") for one in "ab"])
    assert "price of the edition" in block(store, form)
    case.resolve_contradiction(found, because="looked up", source="user")
    (amount,) = read(block(store, form), form=form, provenance=True)
    assert isinstance(amount, Said)
    assert (amount.name, amount.value) == ("amount", "4,050 INR")
    seen = view(store, "case")
    assert [value.value for value in seen.history("amount").values] == ["4,180 INR", "4,050 INR"]
    assert [value.value for value in seen.history("day").values] == ["Monday"]
    assert [rejected.json for rejected in seen.rejected()] == ['"teal"']
    kept = [recorded.event.type for recorded in case.events()]
    assert {"entry.added", "entry.closed", "contradiction.recorded", "contradiction.resolved"} <= set(kept)


@pytest.mark.parametrize("form", FORMS)
def test_a_value_that_no_longer_fits_is_shown_with_its_problem(store: Ledgers, form: Form) -> None:
    case = store.ledger("case")
    case.set_fact("amount", "4,180 INR", source="user")
    assert "problem" not in block(store, form)
    case.declare(Schema(name="next", fields=(FieldSpec(name="order"),)))
    (amount,) = read(block(store, form), form=form, provenance=True)
    assert amount == Said("entities", "amount", "4,180 INR", source="user", problem="field")


@pytest.mark.parametrize("form", FORMS)
def test_what_is_disputed_is_one_line_without_the_values(store: Ledgers, form: Form) -> None:
    case = store.ledger("case")
    case.set_fact("amount", "4,180 INR", source="user", turn=1)
    case.record_turn("user", "Or was it less?")
    case.set_fact("amount", "4,050 INR", source="user", turn=2)
    case.set_fact("amount", "4,000 INR", source="tool")
    _, *lines = read(block(store, form), form=form, provenance=True)
    assert lines == [Disputed("amount", "con_5", (1, 2), more=1)]
    assert "4,050" not in block(store, form)
    assert "4,000" not in block(store, form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("task", [True, False])
def test_what_was_forgotten_is_not_shown(store: Ledgers, form: Form, task: bool) -> None:
    case = store.ledger("case")
    turn = case.record_turn("user", "My card is 4111 1111.")
    assert turn is not None
    case.set_fact("card", "4111 1111", source="user", turn=turn)
    case.set_fact("card", "4222 2222", source="tool", turn=turn)
    for section in get_args(Section):
        case.add_entry(section, "about 4111 1111", why="it is 4111 1111", source="user", turn=turn)
    case.set_fact("order", "ORD-88213", source="user", turn=1)
    assert "4111" in block(store, form)
    case.forget(turns=[turn], reason="no card numbers")
    shown = view(store, "case").state().shown(BlockOptions(form=form, task=task)).text
    assert "4111" not in shown
    assert "4222" not in shown
    assert "card" not in shown
    assert "ORD-88213" in shown
    case.forget(turns=[1], reason="nothing of it")
    shown = view(store, "case").state().shown(BlockOptions(form=form, task=task)).text
    assert "88213" not in shown
    assert ("[forgotten]" in shown) == task


@pytest.mark.parametrize("render", ["openai", "anthropic", "text"])
@pytest.mark.parametrize("form", FORMS)
def test_a_window_has_the_block_and_its_receipt(store: Ledgers, render: str, form: Form) -> None:
    case = store.ledger("case")
    for number in range(7):
        case.add_entry("decisions", f"step {number}", why="it is next", source="inferred", turn=1)
    window = view(store, "case").window(Policy(state=BlockOptions(form=form, budget_tokens=120)), render=render)
    assert window.block is not None
    assert window.block.text in "".join(texts(window.request))
    assert "older text above differs" in window.block.text
    answer = json.loads(window.to_json())["state"]
    assert answer["tokens"] == window.block.tokens <= 120
    assert len(answer["gave_way"]) == len(window.block.gave_way)
    assert answer["gave_way"][0] == {"section": "decisions", "name": "en_2", "part": "line", "rule": "cap"}
    assert {row["rule"] for row in answer["gave_way"]} == {"cap", "tokens"}


def texts(value: Any) -> Iterator[str]:
    """Every text in a request."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts(one)


def test_where_nothing_is_to_be_shown_a_window_has_no_block(store: Ledgers) -> None:
    case = store.ledger("case")
    hidden = Schema(
        name="case", fields=(FieldSpec(name="token", rendered=False),), sections=(SectionSpec(section="open", rendered=False),)
    )
    case.declare(hidden)
    case.set_fact("token", "t_7731", source="tool")
    case.add_entry("open", "which token?", source="tool")
    window = view(store, "case").window()
    assert window.block is None
    assert "<state>" not in window.text
    assert "state" not in json.loads(window.to_json())
    case.add_entry("constraints", "none", source="tool")
    assert "<state>" in view(store, "case").window().text


def test_how_the_state_is_shown_is_part_of_the_policy() -> None:
    options = [
        BlockOptions(),
        *(BlockOptions(form=form) for form in ("compact", "markdown")),
        BlockOptions(provenance=False),
        BlockOptions(task=True),
        BlockOptions(most_entries=4),
        BlockOptions(most_characters=239),
        BlockOptions(budget_tokens=299),
    ]
    assert len({Policy(state=one).digest for one in options}) == len(options)
    assert Policy(state=BlockOptions()).digest == Policy().digest


@pytest.mark.parametrize("form", FORMS)
def test_the_label_says_where_the_rest_stands(store: Ledgers, form: Form) -> None:
    state = view(store, "case").state()
    for provenance in (True, False):
        options = BlockOptions(form=form, provenance=provenance)
        assert state.shown(options) == state.shown(options, place="above")
        above, below = (state.shown(options, place=place).text for place in ("above", "below"))
        assert "older text below differs" in below
        assert below == above.replace("above", "below")


@settings(deadline=None, max_examples=60)
@given(
    CONVERSATIONS,
    st.sampled_from(["openai", "anthropic"]),
    st.builds(
        BlockOptions,
        form=st.sampled_from(FORMS),
        provenance=st.booleans(),
        task=st.booleans(),
        most_entries=st.integers(1, 3),
        budget_tokens=st.integers(1, 400),
    ),
)
def test_a_window_stays_valid_and_within_its_budget_however_the_state_is_shown(
    steps: list[Step], render: str, options: BlockOptions
) -> None:
    with recorded(steps) as ledgers:
        seen = view(ledgers, "case")
        least = seen.window(Policy(tail_turns=0, budget_tokens=10_000_000, state=options), render=render)
        policy = Policy(tail_turns=2, budget_tokens=least.tokens, state=options)
        window = seen.window(policy, render=render)
        assert refusals_of(window.request, render) == []
        assert tokens_of(window, policy) <= policy.budget_tokens
        assert window.tokens <= policy.budget_tokens
        assert (window.block is None) == seen.state().is_bare
        assert window.block == least.block
        if window.block is not None:
            assert window.block == seen.state().shown(options)
            assert any(window.block.text.strip() in text for text in texts(window.request))
