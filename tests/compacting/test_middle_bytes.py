"""Middles and stubs are read as they were kept, and what has another form is not read at all."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.compacting.middle import NOTHING, Chapter, Exact, KeptTurn, Line, Middle, Stub, Total
from projections.compacting.middle_bytes import bytes_of_middle, bytes_of_stubs, middle_of_bytes, stubs_of_bytes

NUMBERS = st.integers(0, 2**62)
TEXTS = st.text(max_size=9)
SOME_TEXTS = st.lists(TEXTS, max_size=2).map(tuple)
STUBS = st.lists(st.builds(Stub, NUMBERS, TEXTS, NUMBERS), max_size=2).map(tuple)
LINES = st.builds(Line, NUMBERS, NUMBERS, TEXTS, NUMBERS) | st.builds(
    Line, NUMBERS, NUMBERS, TEXTS, NUMBERS, st.sampled_from(("extract", "summary")), st.none() | TEXTS
)
SOME_LINES = st.lists(LINES, max_size=3).map(tuple)
KEPT = st.builds(
    KeptTurn,
    NUMBERS,
    NUMBERS,
    NUMBERS,
    TEXTS,
    NUMBERS,
    st.booleans(),
    st.booleans(),
    STUBS,
    SOME_TEXTS,
    SOME_TEXTS,
    st.none() | LINES,
    NUMBERS,
    NUMBERS,
)
MIDDLES = st.builds(
    Middle,
    NUMBERS,
    st.lists(KEPT, max_size=3).map(tuple),
    st.lists(st.builds(Chapter, NUMBERS, NUMBERS, SOME_LINES, SOME_LINES), max_size=3).map(tuple),
    st.lists(st.builds(Exact, TEXTS, NUMBERS, NUMBERS, st.booleans(), NUMBERS, NUMBERS, st.booleans()), max_size=3).map(tuple),
    st.lists(NUMBERS, max_size=3).map(tuple),
    st.dictionaries(
        st.sampled_from(("keep", "compress", "stub", "drop", "never")), st.builds(Total, NUMBERS, NUMBERS, NUMBERS)
    ),
    NUMBERS,
    NUMBERS,
    NUMBERS,
    TEXTS,
)


@given(MIDDLES | st.just(NOTHING))
def test_a_middle_is_read_as_it_was(middle: Middle) -> None:
    kept = bytes_of_middle(middle)
    read = middle_of_bytes(kept)
    assert read == middle
    assert repr(read) == repr(middle)
    assert read is not None
    assert bytes_of_middle(read) == kept


@given(st.dictionaries(NUMBERS, STUBS, max_size=4))
def test_stubs_are_read_as_they_were(stubs: dict[int, tuple[Stub, ...]]) -> None:
    assert stubs_of_bytes(bytes_of_stubs(stubs)) == stubs


@pytest.mark.parametrize(
    "kept", [b"", b"{}", orjson.dumps({"through": 8, "kept": [], "chapters": []}), bytes_of_middle(NOTHING)[:3], b"0000[]"]
)
def test_what_has_another_form_is_not_read(kept: bytes) -> None:
    assert middle_of_bytes(kept) is None
    assert stubs_of_bytes(kept) is None
