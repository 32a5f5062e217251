"""What cuts cost is added up of what they share, and is what a tokenizer counts of each of them."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projections.compacting.cut_tokens import cut_tokens
from projections.compacting.cuts import FEW_STEPS, cut_lengths, result_cut, step_characters
from projections.encodings import ENCODINGS
from replay.tokens import counter

PIECES = (
    "return",
    "value",
    "\n",
    "\n\n",
    "  ",
    "    ",
    "/",
    "/usr/bin",
    "\r\n",
    "\t",
    ".",
    "[\u2026 ",
    "12345",
    "é\u0301",
    "订单",
    "'s",
    "]",
)
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map("".join)


def counted_alone(whole: str, encoding: str) -> list[int]:
    return [counter(encoding)(result_cut(whole, "r_7", characters=characters)) for characters in cut_lengths(whole)]


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(deadline=None, max_examples=200)
@given(beginning=TEXTS, repeated=TEXTS, times=st.integers(1, 40), end=TEXTS)
def test_cuts_cost_what_a_tokenizer_counts(encoding: str, beginning: str, repeated: str, times: int, end: str) -> None:
    whole = beginning + repeated * times + end
    assert list(cut_tokens(whole, "r_7", counter(encoding))) == counted_alone(whole, encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_long_results_too(encoding: str) -> None:
    chance = random.Random(3)
    for _ in range(6):
        whole = "".join(chance.choices(PIECES, k=12_000))
        for text in (whole, whole.replace("[\u2026 ", ""), whole.replace("\n", "").replace(" ", "").replace("\t", "")):
            assert list(cut_tokens(text, "r_7", counter(encoding))) == counted_alone(text, encoding)


def test_about_as_much_is_counted_as_the_text_is_long() -> None:
    counted = []

    def count(text: str) -> int:
        counted.append(len(text))
        return 1

    whole = "a line of a page that somebody fetched\n" * 10_000
    assert len(list(cut_tokens(whole, "r_7", count))) == len(cut_lengths(whole))
    assert sum(counted) < 1.2 * len(whole)


def test_the_steps_are_a_ladder_and_the_few_are_on_it() -> None:
    lengths = [step_characters(step) for step in range(60)]
    assert all(shorter < longer <= 2 * shorter for shorter, longer in pairwise(lengths))
    assert all(longer <= 1.1 * shorter for shorter, longer in pairwise(lengths[9:]))
    assert [step_characters(step) for step in FEW_STEPS] == [7_040, 1_760, 440, 110]
    assert cut_lengths("x" * 440) == [110, 220]
