"""Exact strings: what is found in texts of many kinds, and that it always stands in them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projections.exact.strings import exact_strings, identifying_strings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Order ORD-88213 (r_4471, ch_7311) in eu-north-7.", ["ORD-88213", "r_4471", "ch_7311", "eu-north-7"]),
        ("Region eu-north-7, incident IR-5531, bucket acct-logs-2", ["eu-north-7", "IR-5531", "acct-logs-2"]),
        ("flight HAT135, codes EHGLP3/ and ZFA04Y; PUNERT too", ["HAT135", "ZFA04Y", "PUNERT"]),
        ("id 550e8400-e29b-41d4-a716-446655440000!", ["550e8400-e29b-41d4-a716-446655440000"]),
        ("commit 51adc16f0e on main", ["51adc16f0e"]),
        ("mail jo.doe+x@ex-ample.co.uk.", ["jo.doe+x@ex-ample.co.uk"]),
        ("see src/app.py, /var/log/x and ../../lib-two", ["src/app.py", "/var/log/x", "../../lib-two"]),
        (r"open C:\Users\me\new.txt now", [r"C:\Users\me\new.txt"]),
        ("read @../docs/PLAN.md please", ["../docs/PLAN.md"]),
        ("at app.py:120 and tests/unit/", ["app.py:120", "tests/unit/"]),
        ("go to https://a.example/c?d=e&f=(g), then", ["https://a.example/c?d=e&f=(g)"]),
        ("(see http://q.example/r/s)", ["http://q.example/r/s"]),
        ("postgres://u:p@h:5432/db is it", ["postgres://u:p@h:5432/db"]),
        ("refund 4,180 INR, not 4.050,10 €", ["4,180 INR", "4.050,10 €"]),
        ("30 MB or 15% of $129.99; -5 °C", ["30 MB", "15%", "$129.99", "-5 °C"]),
        ("by 2031-04-09 17:00, or at 3pm", ["2031-04-09 17:00", "3pm"]),
        ("on May 20, 2024 or the 3rd of June", ["May 20, 2024", "3rd of June"]),
        ("v1.2.3 or 2.0.1rc1", ["v1.2.3", "2.0.1rc1"]),
        ("call my_func() or main() or MyClass.method", ["my_func()", "main()", "MyClass.method"]),
        ("std::vec, snake_case, camelCase, dotted.name", ["std::vec", "snake_case", "camelCase", "dotted.name"]),
        ("run `git rebase -i HEAD~3` now", ["git rebase -i HEAD~3"]),
        ("$ pip install thing\nok", ["pip install thing"]),
        ("with --force and $HOME", ["--force", "$HOME"]),
        ('he said "late delivery" twice', ["late delivery"]),
        ("it's 'on hold' and “in transit”", ["on hold", "in transit"]),
        ("my 7447 card, phone 555-123-4567", ["7447", "555-123-4567"]),
        ("call +49 170 1234567 or 010-51979888", ["+49 170 1234567", "010-51979888"]),
        ("card 4111 1111 1111 1111.", ["4111 1111 1111 1111"]),
        ("call +49 (0)30 123456 or 030/987654", ["+49 (0)30 123456", "030/987654"]),
        (
            "pay to DE44 5001 0517 5407 3249 31, not NL91 ABNA 0417 1643 00",
            ["DE44 5001 0517 5407 3249 31", "NL91 ABNA 0417 1643 00"],
        ),
        ("gate 00:1B:44:11:3A:B7 (was 12:34:5a:bc:de:f0)", ["00:1B:44:11:3A:B7", "12:34:5a:bc:de:f0"]),
        ("at 2001:db8::8a2e:370:7334 in fe80::1/64", ["2001:db8::8a2e:370:7334", "fe80::1/64"]),
        ("open 10.20.0.0/16 to $DATA_DIR/raw.d", ["10.20.0.0/16", "$DATA_DIR/raw.d"]),
        ("<think>see /var/lib/think</think>", ["/var/lib/think"]),
    ],
)
def test_what_must_stay_to_the_letter_is_found(text: str, expected: list[str]) -> None:
    assert [string for string in exact_strings(text) if string in expected] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("订单ORD-88213已付4,180元，2031年4月9日发货。", ["ORD-88213", "4,180元", "2031年4月9日"]),
        ("ORD-88213을 확인하고 r_44를 보세요", ["ORD-88213", "r_44"]),
        ("注文ORD-7はキャンセル、「配送遅延」です", ["ORD-7", "配送遅延"]),
        ("请看/数据/报告.txt吧", ["/数据/报告.txt"]),
        ("Bestellung ORD-9 für 12,50 €, Datei größe_müller.txt", ["ORD-9", "12,50 €", "größe_müller.txt"]),
        ("الطلب ORD-88213 متأخر", ["ORD-88213"]),
        ("заказ ORD-88213 в файл/отчёт.txt", ["ORD-88213", "файл/отчёт.txt"]),
    ],
)
def test_other_scripts_neither_hide_nor_cut_what_is_exact(text: str, expected: list[str]) -> None:
    assert [string for string in exact_strings(text) if string in expected] == expected


@pytest.mark.parametrize(
    "text",
    [
        "Thank you so much, that would be great!",
        "and/or, he/she, 24/7, km/h, 1/2, one-way, 4-star, 2nd, e.g. U.S. Ok...",
        "PLEASE DO NOT CANCEL REVIEW IT AT ONCE",
        "Please ALWAYS pick one; it isn't hard, I'd say",
        "I HAVE WAITED LONGER THAN MOST, LONGER, MUCH",
        "- a\n- b\n--- \n*** ### ```\n",
        "",
    ],
)
def test_plain_words_are_not_exact(text: str) -> None:
    assert exact_strings(text) == ()


def test_each_string_comes_once_in_the_order_of_its_first_place() -> None:
    assert exact_strings("r_2, then ORD-1 and r_2, 15%, ORD-1") == ("r_2", "ORD-1", "15%")


def test_case_is_kept() -> None:
    assert exact_strings("Ab3X and AB3X") == ("Ab3X", "AB3X")


def test_a_longer_string_hides_its_parts_but_a_quote_does_not() -> None:
    assert exact_strings("see https://a.example/ORD-7/x_y") == ("https://a.example/ORD-7/x_y",)
    assert exact_strings("on May 20, 2024 at s3+http://a.example/b") == ("May 20, 2024", "s3+http://a.example/b")
    assert exact_strings('"charge ch_7311 failed"') == ("charge ch_7311 failed", "ch_7311")


def test_json_gives_its_values_and_no_cut_escapes() -> None:
    text = '{"reservation_id": "4WQ150", "list": ["PUNERT", "SDZQKO"], "log": "failed\\nsrc/app.py\\tr_7"}'
    assert set(identifying_strings(text)) == {"4WQ150", "PUNERT", "SDZQKO", "src/app.py", "r_7"}


def test_nothing_is_longer_than_200_characters_and_nothing_is_cut_to_fit() -> None:
    long = "a1" * 150
    fits = "b2" * 100
    text = f'{long} {fits} `{"x y " * 60}` https://a.example/{"z" * 300} "{"q " * 100}"'
    assert exact_strings(text) == (fits,)


def test_the_end_of_an_element_is_no_path() -> None:
    assert exact_strings("<details><summary>x</summary></details>") == ()


def test_the_name_of_a_file_identifies_and_a_name_in_code_does_not() -> None:
    assert identifying_strings("redact_test.go, app.py:12, io.EOF and self.name") == ("redact_test.go", "app.py:12")


def test_identifying_strings_are_the_narrower_class() -> None:
    text = "ORD-7 for 4,180 INR via snake_case at /srv/x.log on 2031-04-09, see HAT135 and `cat a b`"
    assert identifying_strings(text) == ("ORD-7", "/srv/x.log", "HAT135")


MIXED = st.text(alphabet=st.sampled_from("aA1_-./\\@:#$%+~`\"'“” \n\t,;()[]{}=<>|é订€元\u0301\u200b\ud800ZQ90"), max_size=60)
PIECES = st.sampled_from(
    [
        "ORD-88213",
        "src/app.py",
        "https://a.example/b",
        "4,180 INR",
        "`x y`",
        '"late"',
        "$ ls -l",
        "May 20, 2024",
        "订单",
        "--all",
    ]
)
TEXTS = st.one_of(st.text(), MIXED, st.lists(st.one_of(PIECES, MIXED), max_size=8).map("".join))


@settings(deadline=None)
@given(TEXTS)
def test_every_string_stands_in_the_text(text: str) -> None:
    found = exact_strings(text)
    assert all(string in text and 0 < len(string) <= 200 for string in found)
    assert len(set(found)) == len(found)
    assert set(identifying_strings(text)) <= set(found)


@settings(deadline=None)
@given(TEXTS)
def test_the_same_text_gives_the_same_strings(text: str) -> None:
    assert exact_strings(text) == exact_strings("".join(text))


@settings(deadline=None)
@given(
    before=st.sampled_from(["", " ", "(", '"', "订单", "\n", "id: ", "№"]),
    after=st.sampled_from(["", ".", ")", '"', "已", "\n", ", ok", "!"]),
)
def test_what_stands_around_an_identifier_does_not_change_it(before: str, after: str) -> None:
    assert identifying_strings(f"{before}ORD-88213{after}") == ("ORD-88213",)
