"""Reading JSON with the place of every value kept."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delivery.importers.source import MAX_SOURCE_DEPTH, Node, decode_utf8, parse, parse_inside
from ledger.errors import InvalidInput, LimitExceeded

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def rebuilt(node: Node) -> object:
    """The Python value of a node, from its slices."""
    if node.kind == "object":
        return {name: rebuilt(child) for name, child in node.members.items()}
    if node.kind == "array":
        return [rebuilt(child) for child in node.elements]
    return node.string() if node.kind == "string" else json.loads(node.text)


@given(VALUES, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_every_value_is_found_where_it_stands(value: object, indent: int | str | None, escape: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=escape)
    node = parse(f" {text}\n")
    assert node.text == text
    assert rebuilt(node) == value


def test_a_slice_is_kept_byte_for_byte() -> None:
    node = parse('{"a": {"n": 4050.10, "big": 18446744073709551617, "u":"\\u00e9"} , "b":[ ]}')
    assert node.members["a"].text == '{"n": 4050.10, "big": 18446744073709551617, "u":"\\u00e9"}'
    assert node.members["b"].elements == []


def test_lone_surrogates_are_kept() -> None:
    assert parse('"\\ud83d x"').string() == "\ud83d x"


@pytest.mark.parametrize(
    ("text", "offset"),
    [("", 0), ("[1,]", 3), ('{"a":1,}', 7), ("[1] 2", 4), ('"a', 0), ("nul", 0), ('{"a" 1}', 5), ('"\t"', 1)],
)
def test_broken_text_is_refused_with_its_place(text: str, offset: int) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(text, line=7)
    assert refused.value.offset == offset
    assert refused.value.line == 7


@pytest.mark.parametrize(("text", "offset"), [("[1,]", 3), ("[1 , ]", 5), ('{"a":1,\n}', 8), ('[{"a":[1,]}]', 9)])
def test_a_trailing_comma_is_told_alike_by_every_python(text: str, offset: int) -> None:
    with pytest.raises(InvalidInput, match=rf"at character {offset} .*a comma stands before the closing \{text[offset]}"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "path", "offset"),
    [
        ('{"NaN": [1, {"a b": -Infinity}]}', '$.NaN[1]["a b"]', 20),
        ('["NaN, \\"", [], {"a": {}, "b": [{}, [2, NaN]]}, NaN]', "$[2].b[1][1]", 40),
        ("Infinity", "$", 0),
    ],
)
def test_a_number_that_is_not_json_is_refused_with_its_path(text: str, path: str, offset: int) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(text, line=7)
    assert (refused.value.path, refused.value.offset, refused.value.line) == (path, offset, 7)
    assert f"(at {path}, " in str(refused.value)


def test_the_path_inside_a_text_goes_on_from_the_text() -> None:
    node = parse('{"body": "{\\"a\\": NaN}"}').members["body"]
    with pytest.raises(InvalidInput, match=r"at \$\.body\.a,"):
        parse_inside(node)


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_not_json_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match=name):
        parse(f"[{name}]")


def test_a_key_that_stands_twice_is_refused_when_it_is_asked_for() -> None:
    node = parse('{"keep": 1, "inner": {"a": 1, "a": 2}}')
    with pytest.raises(InvalidInput, match="'a'") as refused:
        node.members["inner"].get("a")
    assert refused.value.path == "$.inner"


def test_depth_is_bounded_before_the_parser_sees_it() -> None:
    deep = "[" * MAX_SOURCE_DEPTH + "]" * MAX_SOURCE_DEPTH
    assert parse(deep).kind == "array"
    with pytest.raises(LimitExceeded, match=r"200 levels \(MAX_JSON_DEPTH\), what stands around it 20"):
        parse(f"[{deep}]")
    with pytest.raises(LimitExceeded):
        parse('{"a":' * 100_000)


def test_brackets_inside_texts_do_not_count() -> None:
    assert len(parse(json.dumps("[" * 1000 + '\\"' + "{" * 1000)).string()) == 2002


def test_a_text_of_escaped_quotes_that_never_ends_is_refused_at_once() -> None:
    with pytest.raises(InvalidInput):
        parse("[" * 200 + '"' + '\\"' * 500_000 + "{" * 100)


def test_integers_of_any_length_are_skipped() -> None:
    assert len(parse("[" + "9" * 10_000 + "]").elements[0].text) == 10_000


def test_bytes_are_checked_and_a_byte_order_mark_is_passed_over() -> None:
    assert decode_utf8(b"\xef\xbb\xbf{}") == "{}"
    with pytest.raises(InvalidInput, match="byte 4") as refused:
        decode_utf8(b"\xef\xbb\xbfa\xff")
    assert refused.value.offset == 4
    with pytest.raises(InvalidInput, match="byte 101"):
        decode_utf8(b"a\xff", offset=100)


def test_lines_are_those_of_the_file() -> None:
    node = parse('[\n1,\n\n{"inside": "[\\n7]"}]', line=10)
    assert [child.line for child in node.elements] == [11, 13]
    assert parse_inside(node.elements[1].members["inside"]).elements[0].line == 13
