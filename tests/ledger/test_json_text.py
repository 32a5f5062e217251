"""Foreign JSON survives unchanged, is compared by its value, and what is not JSON is refused with its place."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from ledger import JsonText
from ledger.errors import InvalidInput, LimitExceeded
from ledger.limits import MAX_JSON_DEPTH
from tests.ledger.json_values import json_values, texts


class Point(NamedTuple):
    """A tuple whose names would be lost in JSON."""

    x: int
    y: int


def exact(value: Any) -> Any:
    """A value as JSON means it: numbers by their exact value, and pairs of surrogates as the character that they are."""
    match value:
        case bool() | None:
            return value
        case int() | float() | Decimal():
            return Decimal(str(value)) if isinstance(value, float) else Decimal(value)
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        case list():
            return [exact(item) for item in value]
        case _:
            return {exact(name): exact(item) for name, item in value.items()}


@given(json_values)
def test_every_json_value_comes_back(value: Any) -> None:
    try:
        text = JsonText.of(value)
    except InvalidInput:
        event("two spellings of one key, of which JSON could keep one")
        return
    assert exact(text.value) == exact(value)
    assert JsonText.parse(text) == text
    assert text.encode("utf-8").decode("utf-8") == text


def respelled(value: Any) -> str:
    """The same value with other white space, escapes, key order and forms of numbers."""
    match value:
        case bool() | None:
            return json.dumps(value)
        case int():
            return f"{value}.0e-0"
        case Decimal():
            return f"{value}" if "E" in str(value) else f"{value}E+00"
        case str():
            return json.dumps(value)
        case list():
            return "[ " + " ,\n".join(map(respelled, value)) + "\t]"
        case _:
            pairs = [f"{json.dumps(name)} : {respelled(item)}" for name, item in reversed(value.items())]
            return "{ " + ",\r\n".join(pairs) + " }"


@given(json_values)
def test_the_canonical_form_is_one_for_all_spellings(value: Any) -> None:
    try:
        text = JsonText.of(value)
    except InvalidInput:
        return
    other = JsonText.parse(f" \n\t{respelled(text.value)} \r\n")
    assert other.canonical == text.canonical
    assert JsonText.parse(other.one_line).canonical == text.canonical
    assert text.canonical.isascii()
    assert JsonText.parse(text.canonical).canonical == text.canonical


@given(json_values, json_values)
def test_equal_canonical_forms_mean_equal_values(one: Any, other: Any) -> None:
    try:
        first, second = JsonText.of(one), JsonText.of(other)
    except InvalidInput:
        return
    assert (first.canonical == second.canonical) == (tagged(exact(one)) == tagged(exact(other)))


def tagged(value: Any) -> Any:
    """True and 1 are two values of JSON, though Python holds them equal."""
    match value:
        case list():
            return [tagged(item) for item in value]
        case dict():
            return {name: tagged(item) for name, item in value.items()}
        case _:
            return (type(value).__name__, value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("4050.10", "4050.1"),
        ("1e2", "100"),
        ("1E+2", "100.000"),
        ("-0", "0"),
        ("0.0e99", "0"),
        ('{"b":1,"a":2}', '{ "a" : 2.0, "b" : 1 }'),
        ('"\\u00e9"', '"é"'),
        ('"\\ud83d\\ude00"', '"😀"'),
        ('"\\/"', '"/"'),
        ("123456789012345678901234567890.10", "1234567890123456789012345678901e-1"),
        ("1e0000000000000000000000005", "100000"),
    ],
)
def test_spellings_of_one_value(one: str, other: str) -> None:
    assert JsonText.parse(one).canonical == JsonText.parse(other).canonical
    assert JsonText.parse(one) == one


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("4050.1", '"4050.1"'),
        ("1", "true"),
        ("0", "false"),
        ("0", "null"),
        ('""', "null"),
        ("[]", "{}"),
        ("[1,2]", "[2,1]"),
        ("9007199254740993", "9007199254740992"),
        ("1234567890123456.78", "1234567890123456.79"),
        ('"é"', '"e\u0301"'),
        ('{"a":1}', '{"a":1,"b":null}'),
        ("1e999999999999999999999", "1e999999999999999999998"),
        ('"1e0"', "1"),
    ],
)
def test_values_that_are_not_equal(one: str, other: str) -> None:
    assert JsonText.parse(one).canonical != JsonText.parse(other).canonical


@pytest.mark.parametrize(
    "source",
    [
        "4050.10",
        "1234567890123456.78",
        "0.10",
        "18446744073709551617",
        "1" * 3_000,
        "-0.0",
        '{"z":1,"a":2}',
        '"\\u0000 \\u2028 \u2028 \\ud83d \\/"',
        '{"_type_":"order","_data_":{"id":1}}',
        '{ "a" :\n[ 1 , 2 ] }',
    ],
)
def test_the_source_text_is_kept(source: str) -> None:
    assert JsonText.parse(source) == source
    assert JsonText.parse(source.encode()) == source


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (float("nan"), "$"),
        ({"score": float("nan")}, "$.score"),
        ({"series": [1.0, float("inf")]}, "$.series[1]"),
        ({"a b": [{"c": Decimal("-Infinity")}]}, '$["a b"][0].c'),
        ({"x": Decimal("sNaN")}, "$.x"),
        ((1, 2), "$"),
        ({"pair": (1, 2)}, "$.pair"),
        ([{1: "x"}], "$[0]"),
        ({"s": {1, 2}}, "$.s"),
        ({"at": datetime(2031, 3, 1, tzinfo=UTC)}, "$.at"),
        (b"bytes", "$"),
        (Point(1, 2), "$"),
        ([object()], "$[0]"),
        ({"n": 10**5_000}, "$.n"),
    ],
)
def test_values_that_would_not_come_back_are_refused_with_their_path(value: Any, path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        JsonText.of(value)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ('{"a":1,"a":2}', "$"),
        ('{"x":[{"a":1},{"a":1,"b":2,"\\u0061":3}]}', "$.x[1]"),
        ('{"score":NaN}', "$.score"),
        ("[1,-Infinity]", "$[1]"),
        ('{"a-b":Infinity}', '$["a-b"]'),
    ],
)
def test_what_json_forbids_is_refused_with_its_path(source: str, path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        JsonText.parse(source)
    assert caught.value.path == path


@pytest.mark.parametrize(
    "source", ["", " ", "{", "nul", "'a'", "[1,]", "{'a':1}", "1 2", "01", "+1", ".5", "1.", "\ufeff1", '"\t"']
)
def test_what_is_not_json_is_refused_with_its_offset(source: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        JsonText.parse(source)
    assert isinstance(caught.value.offset, int)


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize("levels", [1, MAX_JSON_DEPTH - 1, MAX_JSON_DEPTH])
def test_depth_up_to_the_limit(levels: int) -> None:
    text = JsonText.of(nested(levels))
    assert text == JsonText.parse(text) == "[" * levels + "]" * levels
    assert text.value == nested(levels)
    assert text.canonical == text.one_line == text


@pytest.mark.parametrize("levels", [MAX_JSON_DEPTH + 1, MAX_JSON_DEPTH + 2, 5_000])
def test_deeper_than_the_limit_is_refused(levels: int) -> None:
    with pytest.raises(LimitExceeded, match="MAX_JSON_DEPTH"):
        JsonText.parse("[" * levels + "]" * levels)
    with pytest.raises(LimitExceeded, match="MAX_JSON_DEPTH"):
        JsonText.parse('{"a":' * levels + "1" + "}" * levels)
    with pytest.raises(LimitExceeded) as caught:
        JsonText.of(nested(levels))
    assert caught.value.path == "$" + "[0]" * MAX_JSON_DEPTH


@pytest.mark.parametrize("source", ["[" * 100_000, '{"":' * 100_000, '["' + "[" * 1_000 + '"]', '"\\"[[[' + "[" * 500 + '"'])
def test_depth_is_that_of_brackets_outside_strings(source: str) -> None:
    try:
        assert JsonText.parse(source) == source
    except InvalidInput:
        assert source.startswith(("[[", '{"":{'))


def test_texts_put_together_keep_the_limit() -> None:
    text = JsonText.of(nested(MAX_JSON_DEPTH // 2 + 1))
    with pytest.raises(LimitExceeded):
        JsonText.of(_within(text, MAX_JSON_DEPTH // 2))
    assert JsonText.of({"kept": JsonText.parse("4050.10")}) == '{"kept":4050.10}'


def _within(value: Any, levels: int) -> Any:
    for _ in range(levels):
        value = [value]
    return value


def test_a_value_that_holds_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(LimitExceeded):
        JsonText.of(loop)


@pytest.mark.parametrize("source", ["nonsense", "{'a': 1}", "NaN", '{"a":1,"a":2}', ""])
def test_there_is_no_way_to_a_text_that_is_not_json(source: str) -> None:
    with pytest.raises(InvalidInput):
        JsonText(source)
    with pytest.raises(InvalidInput):
        JsonText.of([JsonText(source)])


@given(texts)
def test_a_text_is_never_taken_for_json(text: str) -> None:
    assert JsonText.of(text).value == exact(text)
    assert JsonText.of(text).startswith('"')


@given(st.text(max_size=40) | st.binary(max_size=40))
def test_anything_at_all_is_json_or_invalid(source: str | bytes) -> None:
    try:
        text = JsonText.parse(source)
    except InvalidInput:
        return
    assert json.loads(text) == json.loads(source)
    assert text.value is not ...
    assert JsonText.parse(text.canonical).canonical == text.canonical


def test_the_parsing_suite(real_data: Path) -> None:
    """JSONTestSuite: ``y_`` must be taken, ``n_`` refused, ``i_`` decided one way or the other without a crash."""
    folder = real_data / "f_nasty" / "json_test_suite" / "test_parsing"
    if not folder.is_dir():
        pytest.skip("the parsing suite is not among the data")
    wrong = []
    for path in sorted(folder.glob("*.json")):
        try:
            text = JsonText.parse(path.read_bytes())
        except InvalidInput:
            taken = False
        else:
            taken = True
            assert (text.canonical, text.one_line, repr(text.value)) is not None
        if path.name[0] == ("n" if taken else "y"):
            wrong.append(path.name)
    assert [name for name in wrong if "duplicated_key" not in name] == []  # JSON allows them, we do not: one would be lost


def test_naughty_strings(real_data: Path) -> None:
    path = real_data / "f_nasty" / "blns" / "blns.json"
    if not path.is_file():
        pytest.skip("the naughty strings are not among the data")
    for text in json.loads(path.read_text(encoding="utf-8")):
        assert JsonText.of(text).value == text
        assert JsonText.of({text: [text]}).value == {text: [text]}
