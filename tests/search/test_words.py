"""Words as they are searched for: folded alike however they are written, and in scripts without spaces too."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.search_words import folded, terms, words


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
