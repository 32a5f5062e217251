"""Which exact strings of a result are used by what comes later."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from projections.compacting.used_strings import said_of, used_strings
from projections.exact.finding import Quoting
from projections.exact.strings import exact_strings

RESULT = '{"orders": [{"id": "ORD-88213", "city": "New York"}, {"id": "ORD-88220"}, {"id": "ORD-9"}], "total": "4,180 INR"}'


def used_in(result: str, later: Iterable[str], **more: Any) -> tuple[str, ...]:
    """What later texts use of a result."""
    return used_strings(Quoting(result), [said_of(text) for text in later], **more)


def test_the_most_used_come_first_then_the_first_used() -> None:
    later = ["Take ORD-9.", "No, ORD-88220: is ORD-88220 late?", "And ORD-88213."]
    assert used_in(RESULT, later) == ("ORD-88220", "ORD-9", "ORD-88213")


def test_a_part_of_a_longer_string_is_no_use() -> None:
    assert used_in(RESULT, ["XORD-9, ORD-90, ORD-9-a, my_ORD-9, ORD-882131 and /ORD-9/x"]) == ()
    assert used_in("src/app.py", ["see /repo/src/app.py"]) == ()


def test_what_was_asked_does_not_count() -> None:
    assert used_in(RESULT, ["ORD-9, ORD-88220"], asked='{"order": "ORD-9"}') == ("ORD-88220",)


def test_phrases_and_amounts_are_found_as_a_whole() -> None:
    assert used_in(RESULT, ["From New York it is 4,180 INR."]) == ("New York", "4,180 INR")
    assert used_in(RESULT, ["New Yorkers and XNew York pay 14,180 INR"]) == ()


def test_a_phrase_is_found_where_it_stands_as_a_whole_among_parts_of_words() -> None:
    later = ["New Yorkers like New York: New York, XNew York", "4,180 INR"]
    assert used_in(RESULT, later) == ("New York", "4,180 INR")
    assert used_in('"a b a"', ["xa b a b a"]) == ("a b a",)


def test_phrases_that_hold_quotes_are_found() -> None:
    assert used_in(r'{"said": "a \"b\" c"}', [r'{"text": "He said a \"b\" c."}']) == (r"a \"b\" c",)
    assert used_in(r'{"said": "\"b c\""}', [r'{"text": "\"b c\""}']) == (r"\"b c\"",)
    assert used_in(r'{"said": "\"open"}', [r'{"text": "\"open"}']) == (r"\"open",)
    assert used_in('`say "hi" now`', ['to say "hi" now']) == ('say "hi" now',)


def test_days_are_found_in_whatever_digits() -> None:
    assert used_in("on May 5", ["May 5"]) == ("May 5",)
    assert used_in("on M\u00e4rz \u0667", ["M\u00e4rz \u0667"]) == ("M\u00e4rz \u0667",)


def test_names_in_json_and_plain_words_are_no_use() -> None:
    result = '{"order_id": "r_7", "status": "open", "open": "late"}'
    assert used_in(result, ["The order_id and status are open, late: r_7"]) == ("r_7",)


def test_a_plain_word_beside_a_sign_is_no_use() -> None:
    assert used_in('"abc" and "abc€5"', ["abc€7"]) == ()


def test_no_more_than_asked_for() -> None:
    assert used_in("r_1 r_2 r_3 r_4", ["r_4 r_3 r_2 r_1"], most=2) == ("r_4", "r_3")
    assert used_in("r_1 r_2", ["r_1"], most=0) == ()


def test_arguments_of_later_calls_use_what_they_name() -> None:
    assert used_in("found src/app.py and src/b.py", ['{"path": "src/b.py"}']) == ("src/b.py",)


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["r_1", "ORD-7", "src/a.py", "`x y`", "and", "4 MB"]), max_size=9), st.lists(st.text(), max_size=3)
)
def test_what_is_used_is_exact_in_the_result_and_stands_in_later_texts(words: list[str], others: list[str]) -> None:
    result, later = " ".join(words[:5]), [" ".join(words[3:]), *others]
    used = used_in(result, later)
    assert set(used) <= set(exact_strings(result))
    assert all(any(string in text for text in later) for string in used)
    assert used == used_in(result, later)


PIECES = st.lists(
    st.sampled_from(
        [
            *(
                "ORD-7",
                "r_1",
                "src/a.py",
                "./x/y.sh",
                "`x y`",
                "`a_b`",
                '"New York"',
                r'"New \"York\""',
                '"in-progress"',
                '"open"',
                '"id":',
                "5m",
                "x,5m",
            ),
            *(
                "4 MB",
                "4,180 INR",
                "2031-06-20 10:02",
                "10:30",
                "5 kg",
                "ABCDEF",
                "SHOUT ABCDEF NOW",
                "GitHub",
                "foo::bar",
                "a.b.c()",
            ),
            *(
                "https://x.y/z?q=1).",
                "$ ls -la /tmp\n",
                "'q w'",
                "\u201cHallo Welt\u201d",
                "/数/文.txt",
                "+49 30 1234567",
                "€5",
                "--flag",
            ),
            *(
                "March 5, 2031",
                '"Österreich"',
                "..foo_bar",
                "\\u00e9",
                '{"a": "ORD-7"}',
                "and",
                "\n",
                " ",
                ", ",
                ". ",
                '"',
                "'",
                "`",
                "(",
            ),
        ]
    ),
    max_size=30,
).map("".join)


@settings(deadline=None)
@given(PIECES, st.lists(PIECES, max_size=3), PIECES)
def test_what_is_used_does_not_depend_on_what_else_is_used(result: str, later: list[str], asked: str) -> None:
    used = used_in(result, later, asked=asked, most=99)
    more = used_in(f"{result}\nZZ-99999", [*later, "ZZ-99999"], asked=asked, most=99)
    assert sorted(more) == sorted((*used, "ZZ-99999"))


def test_large_results_and_texts_come_to_an_end() -> None:
    result = " ".join(f'"{number} late orders" r_{number}' for number in range(20_000))
    later = ["r_19999 " + "a" * 400_000, "1" * 400_000, '"' * 400_000]
    assert used_in(result, later) == ("r_19999",)
