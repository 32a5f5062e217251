"""What docs/state.md lists as taken is taken, and what it lists as not taken is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

from ledger import JsonText
from ledger.schema import Schema, schema_from

LINES: Final = (Path(__file__).parents[2] / "docs" / "state.md").read_text(encoding="utf-8").splitlines()
ROWS: Final = [
    [cell.strip() for cell in line.split(" | ")] for line in LINES if line.startswith("| ") and line.count(" | ") == 3
]
VALUE: Final = re.compile(r"`([^`]*(?:\d|@)[^`]*)`")
FORMATS: Final[dict[str, dict[str, Any]]] = {
    "`integer`": {"type": "number"},
    "`money`": {"type": "string", "format": "money"},
    "`date`": {"type": "string", "format": "date"},
    "`time`": {"type": "string", "format": "time"},
    "`boolean`": {"type": "boolean"},
    "`email`": {"type": "string", "format": "email"},
}
CASES: Final = [
    (word, value, is_taken)
    for word in FORMATS
    for row in ROWS
    if word in row[1]
    for is_taken, cell in ((True, row[2]), (False, row[3]))
    for value in VALUE.findall(cell)
]


def test_every_format_has_its_row() -> None:
    assert {word for word, _, _ in CASES} == set(FORMATS)


@pytest.mark.parametrize(("word", "value", "is_taken"), CASES)
def test_the_table_is_true(word: str, value: str, is_taken: bool) -> None:
    schema: Schema = schema_from({"title": "t", "properties": {"it": FORMATS[word]}})
    given = JsonText(value) if value.startswith("{") else JsonText.of(value)
    assert (schema.problems("it", given, "user") == ()) is is_taken


@pytest.mark.parametrize(("currency", "value"), [("USD", "$5"), ("SEK", "kr 5"), ("INR", "Rs. 500/-")])
def test_one_declared_currency_says_what_a_sign_means(currency: str, value: str) -> None:
    money = {"type": "string", "format": "money", "x-ledger": {"currencies": [currency]}}
    meaning = schema_from({"title": "t", "properties": {"it": money}}).meaning("it", JsonText.of(value))
    assert meaning is not None
    assert meaning.value["currency"] == currency
