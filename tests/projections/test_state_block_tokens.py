"""A block is priced by adding what its lines cost, which is what the whole costs, whatever stands in it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ledger import connect
from projections.block_lines import BlockLines
from projections.state_block import COUNTED, BlockOptions, block_of
from replay.tokens import counter
from tests.projections.block_reading import FORMS, Form
from tests.projections.histories import ticking
from tests.projections.test_state_block import ENTRIES, FACTS, HIDDEN, HOSTILE, MARKUP, SMUGGLED, fill

ENCODINGS = ("o200k_base", "cl100k_base")
ENDS = ["/**/*.", ".*?){}", "." * 70, "/", "//", "\n/", " ", "\t\n", "\r\n\r\n", "…", "}}", "'s", "订单"]
TEXTS = st.one_of(HOSTILE, st.sampled_from(ENDS), st.text("/.*`'\"{}[]() \n\r\t\\|#-_", max_size=12))


@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None, max_examples=80)
@given(
    facts=st.one_of(FACTS, st.lists(st.tuples(TEXTS, TEXTS, st.just("tool"), st.none()), max_size=6)),
    entries=ENTRIES,
    abouts=st.lists(TEXTS, max_size=3),
    options=st.tuples(st.booleans(), st.booleans(), st.integers(1, 400), st.sampled_from([1, 8, 240])),
)
@example(facts=[(end, end, "tool", None) for end in ENDS], entries=[], abouts=ENDS, options=(False, True, 999, 240))
@example(facts=[(x, [x], "user", 1) for x in (*MARKUP, SMUGGLED)], entries=[], abouts=[HIDDEN], options=(True, False, 99, 9))
@example(facts=[("a", ".*?){}", "tool", None)], entries=[], abouts=[], options=(False, False, 400, 240))
def test_the_lines_cost_together_what_the_block_does(
    form: Form, facts: list[Any], entries: list[Any], abouts: list[str], options: tuple[bool, bool, int, int]
) -> None:
    provenance, task, budget_tokens, most_characters = options
    asked = BlockOptions(
        form=form, provenance=provenance, task=task, budget_tokens=budget_tokens, most_characters=most_characters
    )
    with connect(":memory:", clock=ticking()) as store:
        state = fill(store, facts, entries, abouts)
        for encoding in ENCODINGS:
            block = block_of(state, asked, count=counter(encoding))
            assert block.tokens == counter(encoding)(block.text)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("form", FORMS)
def test_the_line_of_what_is_not_shown_costs_the_same_whatever_the_numbers(form: Form, encoding: str) -> None:
    count = counter(encoding)
    lines = BlockLines(BlockOptions(form=form), count=count)
    for size in range(len(COUNTED) + 1):
        for sections in combinations(COUNTED, size):
            for numbers in ([1] * 6, [10, 999, 1000, 12_345, 7, 66], [123_456, 1, 10, 100, 1_000, 100_000]):
                counts = dict(zip(sections, numbers, strict=False))
                assert lines.not_shown_tokens(counts) == count(lines.not_shown(counts))


@pytest.mark.parametrize("form", FORMS)
def test_only_lines_are_counted_and_none_twice_for_whoever_remembers_them(form: Form) -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    known: dict[Any, Any] = {}

    def remember(key: Any, make: Any) -> Any:
        if key not in known:
            known[key] = make()
        return known[key]

    with connect(":memory:", clock=ticking()) as store:
        entries = [("open", f"{number}?", "why", "user") for number in range(4)]
        for changed in ("a", "b"):
            state = fill(store, [("first", changed, "interface", None), ("second", 2, "user", 1)], entries, ["price"])
            counted.clear()
            block_of(state, BlockOptions(form=form), count=count, remember=remember)
            assert not any(text.count("\n") > 3 for text in counted)
            if changed == "b":
                lines = [text for text in counted if text.count("\n") == 1 and '"' in text and "state" not in text]
                assert len([text for text in lines if "first" in text]) == 1
                assert not [text for text in lines if "second" in text]
