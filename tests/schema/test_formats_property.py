"""What holds of every format, whatever the value."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledger import JsonText
from ledger.errors import InvalidInput
from ledger.schema import FieldSpec, Schema
from tests.ledger.json_values import json_values
from tests.schema.spellings import CASES, TABLES

FORMATS = {name: format_of for name, (format_of, _) in TABLES.items()}
names = st.sampled_from(list(FORMATS))
currencies = st.sampled_from(["INR", "USD", "EUR", "KWD", "JPY"])
decimals = st.decimals(min_value=-(10**15), max_value=10**15, places=2).map(lambda amount: amount + 0) | st.decimals(
    min_value=-(10**6), max_value=10**6, places=4
)


def one_field(format_of: dict[str, Any]) -> Schema:
    return Schema(name="one", fields=(FieldSpec.model_validate({"name": "it", "format": format_of}),))


SCHEMAS = {name: one_field(format_of) for name, format_of in FORMATS.items()}


def _text_of(value: object) -> JsonText | None:
    try:
        return JsonText.of(value)
    except InvalidInput:
        return None


written = (
    st.text("0123456789.,' -+₹$€/:ThTZapm", max_size=14)
    | st.text(max_size=12)
    | st.builds("{} {}".format, st.text("0123456789., ", max_size=9), st.sampled_from(["INR", "$", "Rs.", "May 2031", "pm"]))
)
values = (json_values | written).map(_text_of).filter(lambda text: text is not None) | st.sampled_from(
    [JsonText(value) for _, value in CASES]
)


@given(names, values)
def test_any_value_is_taken_or_refused_and_nothing_else(name: str, value: JsonText) -> None:
    schema = SCHEMAS[name]
    meaning, problems = schema.meaning("it", value), schema.problems("it", value, "user")
    assert (meaning is None) == bool(problems)


@given(names, values)
def test_the_meaning_of_a_meaning_is_itself(name: str, value: JsonText) -> None:
    meaning = SCHEMAS[name].meaning("it", value)
    if meaning is not None:
        assert SCHEMAS[name].meaning("it", meaning) == meaning


@pytest.mark.parametrize(("name", "value"), CASES)
def test_the_meaning_of_a_known_meaning_is_itself(name: str, value: str) -> None:
    meaning = SCHEMAS[name].meaning("it", JsonText(value))
    assert meaning is None or SCHEMAS[name].meaning("it", meaning) == meaning


@given(decimals, st.data())
@example(Decimal("-0.00"), None)
def test_a_number_means_its_amount_however_it_is_grouped(amount: Decimal, data: st.DataObject | None) -> None:
    for text in spellings(amount):
        assert number(f'"{text}"') == amount, text
    assert number(JsonText.of(amount)) == amount
    assert number(f"{amount:e}") == amount


def number(source: str) -> Decimal:
    meaning = SCHEMAS["numbers"].meaning("it", JsonText(source))
    assert meaning is not None, source
    return Decimal(meaning.value)


def spellings(amount: Decimal) -> list[str]:
    """The ways to write an amount with two or four decimals: in English, on the continent, in Switzerland, in India."""
    grouped, plain = f"{amount:,f}", f"{amount:f}"
    continental = grouped.translate(str.maketrans(",.", ".,"))
    spaced = grouped.replace(",", "\u202f")
    swiss = grouped.replace(",", "'")
    return [plain, plain.replace(".", ","), grouped, continental, spaced, swiss, in_india(amount)]


def in_india(amount: Decimal) -> str:
    whole, _, fraction = f"{abs(amount):f}".partition(".")
    head, tail = whole[:-3], whole[-3:]
    pairs = [head[max(0, end - 2) : end] for end in range(len(head), 0, -2)][::-1]
    return f"{'-' if amount.is_signed() else ''}{','.join([*pairs, tail])}.{fraction}"


@given(decimals, currencies, st.sampled_from(["{1} {0}", "{1}{0}", "{0} {1}", "{0}{1}", " {0}  {1} "]), st.booleans())
def test_every_spelling_of_an_amount_of_money_means_it(amount: Decimal, currency: str, order: str, lower: bool) -> None:
    code = currency.lower() if lower else currency
    meanings = [SCHEMAS["money"].meaning("it", JsonText.of(order.format(text, code))) for text in spellings(amount)]
    meanings.append(SCHEMAS["money"].meaning("it", JsonText.of({"amount": amount, "currency": code})))
    meanings.append(SCHEMAS["money"].meaning("it", JsonText.of({"amount": str(amount), "currency": code})))
    for meaning in meanings:
        assert meaning is not None
        assert (Decimal(meaning.value["amount"]), meaning.value["currency"]) == (amount, currency)
    assert len(set(meanings)) == 1


@given(st.dates(), st.sampled_from(["%Y-%m-%d", "%Y/%m/%d", "%d %B %Y", "%B %d, %Y", "%d %b %Y"]))
def test_every_spelling_of_a_day_means_it(day: date, form: str) -> None:
    text = day.strftime(form.replace("%Y", f"{day.year:04d}"))
    for name in ("dates", "dates, day first", "dates, month first"):
        assert SCHEMAS[name].meaning("it", JsonText.of(text)) == f'"{day.isoformat()}"'
    numbers = f"{day.day}/{day.month}/{day.year:04d}"
    assert SCHEMAS["dates, day first"].meaning("it", JsonText.of(numbers)) == f'"{day.isoformat()}"'
    turned = f"{day.month}.{day.day}.{day.year:04d}"
    assert SCHEMAS["dates, month first"].meaning("it", JsonText.of(turned)) == f'"{day.isoformat()}"'
    assert SCHEMAS["dates"].meaning("it", JsonText.of(numbers)) in (None, f'"{day.isoformat()}"')


@given(
    st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29)),  # noqa: DTZ001 - bounds have no zone
    st.integers(-23 * 60, 23 * 60),
)
def test_an_instant_is_the_same_at_every_offset(moment: datetime, minutes: int) -> None:
    instant = moment.replace(tzinfo=UTC)
    elsewhere = instant.astimezone(timezone(timedelta(minutes=minutes)))
    meanings = {SCHEMAS["instants"].meaning("it", JsonText.of(one.isoformat())) for one in (instant, elsewhere)}
    assert meanings == {JsonText.of(instant.isoformat())}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("text", ["1" * 100_000, "1 " * 50_000, "1," * 50_000, "a@" * 50_000, "a." * 50_000, " " * 100_000])
def test_long_texts_take_no_time(name: str, text: str) -> None:
    value = JsonText.of(text)
    before = time.perf_counter()
    assert SCHEMAS[name].problems("it", value, "user")
    assert time.perf_counter() - before < 1


def test_a_slow_pattern_is_tried_on_a_bounded_text_only() -> None:
    slow = one_field({"kind": "text", "pattern": "[a-z]*[a-z]*[a-z]*"})  # cubic: minutes for 100,000 characters
    before = time.perf_counter()
    [problem] = slow.problems("it", JsonText.of("a" * 100_000 + "!"), "user")
    assert problem.rule == "length"
    assert time.perf_counter() - before < 1
    assert slow.problems("it", JsonText.of("a" * 1000), "user") == ()
    longer = one_field({"kind": "text", "pattern": "a*", "most_characters": 2000})
    assert longer.problems("it", JsonText.of("a" * 2000), "user") == ()


@pytest.mark.parametrize("pattern", ["(", "[", "*", "a{2,1}", "(?P<a>x)(?P<a>y)", "a{99999999999999999999}", "(?<=a*)b"])
def test_what_is_no_pattern_is_refused_when_it_is_declared(pattern: str) -> None:
    with pytest.raises(ValueError, match="no regular expression"):
        one_field({"kind": "text", "pattern": pattern})
    with pytest.raises(ValueError, match="no regular expression"):
        FieldSpec(name="it", patterns=(pattern,))
