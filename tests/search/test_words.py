"""Words as they are searched for: folded alike however they are written, and in scripts without spaces too."""

from __future__ import annotations

import time
import unicodedata
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.search.words import folded, terms, words


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        *(("Überweisung", "uberweisung"), ("STRASSE", "straße"), ("Ἀθῆναι", "αθηναι"), ("Ёлка", "елка"), ("ŁÓDŹ", "lodz")),
        *(("naïve", "nai\u0308ve"), ("ＯＲＤ", "ord"), ("ﬁne", "fine"), ("İstanbul", "istanbul"), ("ISTANBUL", "ıstanbul")),
        *(("كِتَاب", "كتاب"), ("שָׁלוֹם", "שלום"), ("co\u00adoperate", "cooperate"), ("Ørsted", "orsted"), ("ΣΊΣΥΦΟΣ", "σίσυφος")),
    ],
)
def test_spellings_of_a_word_are_one(said: str, asked: str) -> None:
    assert [word.text for word in words(said)] == [word.text for word in words(asked)]


@pytest.mark.parametrize("text", ["हिन्दी", "தமிழ்", "བོད", "Việt", "ܣܘܪܝܝܐ"])
def test_marks_belong_to_their_words(text: str) -> None:
    assert len(words(text)) == 1


@pytest.mark.parametrize(
    ("text", "number"), [("截止日期", 4), ("ガイド", 3), ("ｶﾞｲﾄﾞ", 3), ("한국어", 3), (unicodedata.normalize("NFD", "한국어"), 3)]
)
def test_each_character_of_a_script_without_spaces_is_a_word(text: str, number: int) -> None:
    assert len(words(text)) == number
    assert [word.text for word in words(text)] == [word.text for word in words(unicodedata.normalize("NFKC", text))]


def test_what_one_sign_joins_is_a_pair() -> None:
    counts, number = terms("see src/app.py, ORD-88213")
    assert number == 6
    assert [term for term in counts if term.startswith("2")] == ["2src/app", "2app.py", "2ord-88213"]


@given(st.text(alphabet="aé1期-\ud83d\udcb2 ", max_size=9))
def test_half_a_character_joins_nothing(text: str) -> None:
    assert all(term.encode() for term in terms(text)[0])


@given(st.text())
def test_ascii_and_all_else_are_cut_alike(text: str) -> None:
    """A text does not get other words because a letter of another script stands at its end."""
    plain = text.encode("ascii", "ignore").decode()
    alone, among = words(plain), words(f"{plain} \u0416")[:-1]
    assert [(word.text, word.start, word.end, word.sign) for word in alone] == [
        (word.text, word.start, word.end, word.sign) for word in among
    ]


@given(st.text())
def test_places_are_those_of_the_text_and_terms_those_of_the_words(text: str) -> None:
    found = words(text)
    assert [folded(text[word.start : word.end]) for word in found] == [word.text for word in found]
    assert all(left.end <= right.start for left, right in pairwise(found))
    counts, number = terms(text)
    assert number == len(found)
    assert sum(often for term, often in counts.items() if term.startswith("1")) == number


@given(st.text())
def test_composed_or_not_the_words_are_the_same(text: str) -> None:
    clean = "".join(letter for letter in text if unicodedata.category(letter) != "Cs" and unicodedata.category(letter) != "Cn")
    composed, apart = (unicodedata.normalize(form, clean) for form in ("NFC", "NFD"))
    if all(unicodedata.combining(letter) == 0 for letter in clean):  # marks without a letter are another matter
        assert terms(composed)[0] == terms(apart)[0]


@pytest.mark.parametrize(
    "text", ["x" * 1_000_000, "é" * 1_000_000, "x-" * 500_000, "-" * 1_000_000, "期" * 300_000, "e\u0301" * 300_000]
)
def test_no_text_takes_longer_than_its_length(text: str) -> None:
    """Base64 without an end, say."""
    begun = time.process_time()
    counts, number = terms(text)
    assert time.process_time() - begun < 10
    assert sum(often for term, often in counts.items() if term.startswith("1")) == number


@given(st.lists(st.sampled_from(["a", "b1", "-", "/", "_", " ", "--", "\n"]), max_size=30))
def test_terms_of_ascii_are_those_of_its_words(pieces: list[str]) -> None:
    text = "".join(pieces)
    listed = words(text)
    pairs = [f"2{word.text}{word.sign}{listed[place + 1].text}" for place, word in enumerate(listed) if word.sign]
    assert terms(text)[0] == Counter([*(f"1{word.text}" for word in listed), *pairs])
