"""What a query asks for, and the piece of a text that is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import InvalidInput
from projections.search.query import parsed
from projections.search.ranking import SNIPPET_CHARACTERS, matching, rarity, snippet, weight
from projections.search.words import words


def clauses(query: str) -> list[tuple[str, ...]]:
    return [clause.texts for clause in parsed(query).clauses]


def found(query: str, text: str) -> bool:
    """Whether a text has all that a query asks for."""
    asked = parsed(query).clauses
    return len(matching(text, asked)) == len(asked)


@pytest.mark.parametrize(
    ("query", "content"),
    [
        ("what did you say about the deadline?", [("deadline",)]),
        ("When is the deadline of ORD-88213?", [("deadline",), ("ord", "88213")]),
        ("what is it", [("what",), ("is",), ("it",)]),
        ("refund refund REFUND", [("refund",)]),
        ("截止日期", [("截", "止"), ("止", "日"), ("日", "期")]),
        ("期", [("期",)]),
        ("期 日。本 x 月", [("期",), ("日",), ("本",), ("x",), ("月",)]),
        ("日期 x", [("日", "期"), ("x",)]),
        ('"to be or not" refund', [("to", "be", "or", "not"), ("refund",)]),
        ('an "odd', [("odd",)]),
        ("“by Friday”", [("by", "friday")]),
        ("«by Friday»", [("by", "friday")]),
    ],
)
def test_a_question_is_about_its_content_words(query: str, content: list[tuple[str, ...]]) -> None:
    assert clauses(query) == content


@pytest.mark.parametrize(
    ("query", "text", "has"),
    [
        ("ORD-88213", "about ord-88213.", True),
        ("ORD-88213", "about ORD_88213", False),
        ("ORD-88213", "ORD 88213", False),
        ("ORD-88213", "ORD-882131", False),
        ("ORD-882*", "ORD-88213", True),
        ("88213", "ORD-88213", True),
        ("src/app.py", "in ./src/app.py:12", True),
        ("src/app.py", "src/app.pyc", False),
        ("eu-north-7", "eu-north-71", False),
        ("eu–north–7", "eu-north-7", True),
        ("dead", "the deadline", True),
        ("line", "the deadline", False),
        ('"deadline is"', "the deadline\n  is Friday", True),
        ('"deadline Friday"', "the deadline is Friday", False),
        ('"dead"', "deadline", False),
        ("don't", "I don’t", True),
        ("日期", "截止日期是", True),
        ("日期", "日。期", False),
        ("dea", "the deadline", True),
        ("de", "the deadline", False),
        ("de*", "the deadline", True),
        ("d*", "the deadline", False),
        ("mp3", "a list of mp3s", False),
        ("882*", "about 88213", True),
        ("882", "about 88213", False),
        ("the", "a theme", False),
        ("app/dead", "in app/deadline.py", False),
    ],
)
def test_whether_a_text_has_it(query: str, text: str, *, has: bool) -> None:
    assert found(query, text) is has


def test_where_nothing_has_all_the_sides_of_a_colon_may_stand_apart() -> None:
    loose = {(clause.texts, clause.begins) for clause in parsed("status:failed order=ORD-7 12:30").loosened()}
    assert {(("status",), False), (("failed",), False), (("order",), False), (("ord", "7"), True)} <= loose
    assert (("12", "30"), True) in loose
    assert not any(texts == ("30",) for texts, _ in loose)


@pytest.mark.parametrize("query", ["", " ", "?!", "“”", "🎉", "\ud800"])
def test_a_query_without_words_is_refused(query: str) -> None:
    with pytest.raises(InvalidInput, match="no word") as caught:
        parsed(query)
    assert caught.value.path == "text"


def test_a_query_has_an_end() -> None:
    with pytest.raises(InvalidInput, match="2,000"):
        parsed("a" * 2_001)
    assert len(parsed("a" * 2_000).clauses) == 1
    assert len(parsed(" ".join(f"w{number}" for number in range(400))).clauses) == 64


@given(st.text(max_size=300), st.text(max_size=40))
def test_a_text_is_found_by_any_of_its_words_and_its_own_pieces(text: str, query: str) -> None:
    for word in words(text):
        said = text[word.start : word.end]
        if len(said) < 300 and words(said) and words(said)[0].text == word.text:
            assert found(said, text)
    try:
        asked = parsed(query)
    except InvalidInput:
        assert not words(query)
    else:
        assert found(query, f"x {query}") or any(clause.begins for clause in asked.clauses)


@given(st.text(max_size=2_000), st.sampled_from(["a", "deadline", "日期", '"a b"']), st.integers(20, 300))
def test_a_snippet_shows_the_text_on_one_line_with_its_places(text: str, query: str, characters: int) -> None:
    text = f"{text} deadline a b 日期 {text[::-1]}"
    asked = parsed(query).clauses
    matched = matching(text, asked)
    shown = snippet(text, matched, characters=characters)
    assert len(shown.text) <= characters + 2 + max(end - start for listed in matched.values() for start, end in listed)
    assert len(shown.text.splitlines()) == 1
    assert shown.places
    for start, end in shown.places:
        assert any(list(clause.places(words(shown.text[start:end]))) for clause in asked)
    assert "".join(shown.text.strip("…").split()) in "".join(text.split())


def test_a_snippet_has_the_piece_with_the_most_of_what_is_asked_for() -> None:
    text = "refund " * 50 + "x " * 300 + "the refund of the deposit came late " + "y " * 300
    shown = snippet(text, matching(text, parsed("refund deposit").clauses))
    assert "refund of the deposit" in shown.text
    assert len(shown.text) <= SNIPPET_CHARACTERS + 2
    assert shown.text.startswith("…")
    assert shown.text.endswith("…")


@pytest.mark.parametrize("before", [0, 19_999, 20_001, 60_123])
def test_a_long_text_is_found_by_what_stands_anywhere_in_it(before: int) -> None:
    text = "filler " * before + "alpha beta-gamma delta" + " filler" * 50_000
    for query in ("alpha", "beta-gamma", '"alpha beta gamma delta"', "delta alpha filler", "gamma"):
        matched = matching(text, parsed(query).clauses)
        assert len(matched) == len(parsed(query).clauses)
        assert any(part in snippet(text, matched).text for part in ("alpha", "delta"))
    assert not found('"delta alpha"', text)
    assert not found("alpha-beta", text)


def test_rarer_words_more_often_and_in_shorter_texts_count_more() -> None:
    assert rarity(holding=1, of=1_000) > rarity(holding=500, of=1_000) > rarity(holding=1_000, of=1_000) > 0
    assert weight(3, 20) > weight(1, 20) > weight(1, 90)
