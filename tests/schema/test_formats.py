"""What the values of a format mean, and what is refused: several hundred spellings, each with what it has to lead to."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ledger import JsonText
from ledger.schema import FieldSpec, Schema
from tests.schema.spellings import CASES, TABLES, Refusal

SCHEMAS = {
    name: Schema(name="one", fields=(FieldSpec.model_validate({"name": "it", "format": format_of}),))
    for name, (format_of, _) in TABLES.items()
}


def test_there_are_enough_spellings() -> None:
    assert len(CASES) > 400


@pytest.mark.parametrize(("name", "value"), CASES, ids=lambda text: text[:40].encode("unicode_escape").decode())
def test_a_value_means_what_it_says_or_is_refused(name: str, value: str) -> None:
    schema, expected = SCHEMAS[name], TABLES[name][1][value]
    given = JsonText(value)
    problems = schema.problems("it", given, "user")
    meaning = schema.meaning("it", given)
    if isinstance(expected, Refusal):
        assert [problem.rule for problem in problems] == [expected.rule]
        assert meaning is None
        assert problems[0].why.startswith(given[:59])  # it shows the value
    else:
        wanted = Decimal(expected) if schema.fields[0].format.kind == "number" else expected
        assert problems == ()
        assert meaning == JsonText.of(wanted)


def test_an_undeclared_form_takes_any_json_as_it_is() -> None:
    schema = Schema(name="one", fields=(FieldSpec(name="it"),))
    for value in ("null", '"4,180 INR"', "[1, 2.0]", "{}", "true"):
        assert schema.problems("it", JsonText(value), "inferred") == ()
        assert schema.meaning("it", JsonText(value)) is None  # it means itself


def test_a_long_value_is_not_shown_whole() -> None:
    [problem] = SCHEMAS["money"].problems("it", JsonText.of("x" * 5000), "user")
    assert len(problem.why) < 200
