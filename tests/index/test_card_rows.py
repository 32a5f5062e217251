"""Cards are read as they were kept, and a row is read as a whole or not at all."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.cards import Card, Contents, ResultCard
from replay.turns import card_rows
from replay.turns.blocks import BLOCK_TURNS
from replay.turns.card_rows import (
    Counted,
    card_of_line,
    line_of_card,
    packed_lines,
    packed_tokens,
    unpacked_lines,
    unpacked_tokens,
)

NUMBERS = st.integers(0, 2**62)
NAMES = st.text(max_size=9)
SHOWN_TO_ONE = st.lists(st.tuples(NAMES, NUMBERS), max_size=2).map(tuple)
CONTENTS = st.builds(Contents, NUMBERS, NUMBERS, NUMBERS, NUMBERS, SHOWN_TO_ONE, SHOWN_TO_ONE, NUMBERS) | st.builds(
    Contents, NUMBERS, st.just(1)
)
CUTS = st.lists(NUMBERS, max_size=3).map(tuple)
RESULTS = st.builds(ResultCard, NUMBERS, CONTENTS, NUMBERS, st.booleans(), NAMES, CUTS)
CARDS = st.builds(
    Card,
    st.integers(1, BLOCK_TURNS),
    NUMBERS,
    st.sampled_from(("user", "assistant")),
    CONTENTS,
    st.integers(0, 3),
    st.lists(RESULTS, max_size=2).map(tuple),
    st.just(0) | NUMBERS,
    st.just(0) | NUMBERS,
    st.just(0) | NUMBERS,
    CUTS,
    st.none() | NAMES,
    st.none() | st.integers(0) | st.just(10**4_000),
)
KNOWN = st.tuples(st.lists(NUMBERS, min_size=1, max_size=3).map(tuple), CARDS)
PLAIN: Counted = ((7,), Card(65, 7, "user", Contents(5, 1), 0, ()))


@given(KNOWN)
def test_a_card_is_read_as_it_was(counted: Counted) -> None:
    read = card_of_line(line_of_card(counted))
    assert read == counted
    assert repr(read) == repr(counted)
    assert line_of_card(read) == line_of_card(counted)


@given(st.dictionaries(st.integers(65, 64 + BLOCK_TURNS), KNOWN, max_size=9))
def test_a_row_has_the_cards_of_its_turns(cards: dict[int, Counted]) -> None:
    lines = {turn: line_of_card(counted) for turn, counted in cards.items()}
    assert unpacked_lines(65, packed_lines(65, lines)) == lines


@given(st.dictionaries(NUMBERS, NUMBERS, max_size=5))
def test_a_row_has_the_tokens_of_system_texts(tokens: dict[int, int]) -> None:
    assert unpacked_tokens(packed_tokens(tokens)) == tokens


@given(st.data())
def test_of_a_damaged_row_nothing_is_read(data: st.DataObject) -> None:
    row = packed_lines(65, {65: line_of_card(PLAIN), 99: line_of_card(PLAIN)})
    place = data.draw(st.integers(0, len(row) - 1))
    changed = row[place] ^ data.draw(st.integers(1, 255))
    for damaged in (row[:place], row[:place] + bytes([changed]) + row[place + 1 :], row + b"\n"):
        assert unpacked_lines(65, damaged) == {}
        assert unpacked_tokens(damaged) == {}


def test_a_row_of_a_release_that_kept_other_numbers_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    row: Any = packed_lines(65, {65: line_of_card(PLAIN)})
    monkeypatch.setattr(card_rows, "_FORM", card_rows._FORM + 1)
    assert unpacked_lines(65, row) == {}
