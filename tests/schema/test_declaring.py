"""How a state is declared: as a model, or as a JSON Schema that says the same."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ledger import JsonText
from ledger.errors import InvalidInput
from ledger.schema import Entries, Money, Schema, StateModel, declared, schema_from, schema_of
from tests.ledger.json_values import json_values


class Channel(Enum):
    """How the customer wrote."""

    MAIL = "e-mail"
    CHAT = "chat"


class Address(BaseModel):
    """Where to."""

    street: str


FORMATS: dict[str, tuple[Any, dict[str, Any]]] = {
    "str": (str, {"kind": "text"}),
    "int": (int, {"kind": "number", "whole": True}),
    "float": (float, {"kind": "number", "whole": False}),
    "Decimal": (Decimal, {"kind": "number", "whole": False}),
    "int or float": (int | float, {"kind": "number", "whole": False}),
    "bool": (bool, {"kind": "boolean"}),
    "date": (date, {"kind": "date"}),
    "time": (time, {"kind": "time"}),
    "datetime": (datetime, {"kind": "datetime"}),
    "a literal": (Literal["refund"], {"kind": "choice", "values": ["refund"]}),
    "literals": (Literal["refund", "exchange"], {"kind": "choice", "values": ["refund", "exchange"]}),
    "an enum": (Channel, {"kind": "choice", "values": ["e-mail", "chat"]}),
    "money": (Money, {"kind": "money", "currencies": []}),
    "anything": (Any, {"kind": "json"}),
    "a mapping": (dict[str, Any], {"kind": "json"}),
}


def model(name: str, annotation: Any, value: Any = None, *, extra: Any = "forbid") -> type[StateModel]:
    """A model with one field."""
    return type(
        "Task", (StateModel,), {"__annotations__": {name: annotation}, name: value, "model_config": ConfigDict(extra=extra)}
    )


def format_of(schema: Schema) -> dict[str, Any]:
    [spec] = schema.fields
    found: dict[str, Any] = json.loads(schema.declared)["fields"][0]["format"]
    assert found["kind"] == spec.format.kind
    return found


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("wrap", [lambda kind: kind, lambda kind: kind | None], ids=["bare", "optional"])
def test_an_annotation_says_the_format(name: str, wrap: Callable[[Any], Any]) -> None:
    annotation, expected = FORMATS[name]
    task = model("field", wrap(annotation))
    assert format_of(schema_of(task)) == expected
    assert schema_from(json.loads(json.dumps(task.model_json_schema()))) == schema_of(task)


@pytest.mark.parametrize(
    "annotation",
    [
        int | str,
        Literal["refund"] | int,
        timedelta,
        bytes,
        list[int],
        tuple[int, str],
        set[str],
        Literal[1, 2],
        Literal[True, "x"],
    ],
    ids=repr,
)
def test_a_type_that_is_not_understood_is_refused_with_its_field(annotation: Any) -> None:
    with pytest.raises(InvalidInput, match="delivery_day"):
        schema_of(model("delivery_day", annotation))


def test_a_type_that_json_does_not_know_is_refused() -> None:
    with pytest.raises(InvalidInput, match="Task has no JSON Schema"):
        schema_of(model("check", Callable[[], int]))


@pytest.mark.parametrize(
    ("kind", "match"),
    [
        ("strin", r"property 'kg': no type 'strin' \(did you mean 'string'\?\): give one of string, integer, number, boolean"),
        (5, "property 'kg': no type 5: give one of string, "),
    ],
)
def test_a_type_that_there_is_not_is_refused_with_those_that_there_are(kind: object, match: str) -> None:
    with pytest.raises(InvalidInput, match=match) as caught:
        schema_from({"title": "Parcel", "properties": {"kg": {"type": kind}}})
    assert caught.value.path == "kg"


def test_a_schema_of_something_else_says_what_it_has_to_be_of() -> None:
    with pytest.raises(InvalidInput, match="its type is 'object', not 'strin'"):
        schema_from({"title": "Parcel", "type": "strin", "properties": {}})


@pytest.mark.parametrize(
    ("annotation", "words", "match"),
    [
        (int, {"pattern": "x"}, "pattern of a number"),
        (Money, {"pattern": "x"}, "pattern of a money"),
        (str, {"least": 3}, "minimum of a text"),
        (date, {"most": 3}, "maximum of a date"),
        (str, {"currencies": ["INR"]}, "currencies is for money"),
        (Money, {"currencies": ["₹"]}, "is no currency"),
        (Money, {"date_order": "day_first"}, "date_order is for date"),
        (date, {"date_order": "year_first"}, "order"),
        (str, {"pattern": "("}, "no regular expression"),
        (str, {"patterns": ["["]}, "no regular expression"),
        (str, {"least_source": "boss"}, "least_source"),
        (str, {"most_shown": 3}, "most_shown is not known"),
        (str, {"aliases": ["--"]}, "has no letters"),
        (str, {"refers_to": ""}, "refers_to"),
        (Entries, {"aliases": ["x"]}, "aliases is not known"),
    ],
)
def test_a_word_that_does_not_go_with_its_field_is_refused(annotation: Any, words: dict[str, Any], match: str) -> None:
    name = "open" if annotation is Entries else "the_field"
    with pytest.raises(InvalidInput, match=match) as caught:
        schema_of(model(name, annotation | None, declared(**words)))
    assert caught.value.path == name


class Refund(StateModel):
    """A refund, with every word that can be said of a field."""

    order: str | None = declared(
        pattern=r"ORD-\d+", aliases=["Order No", "reference"], refers_to="orders", patterns=[r"\bORD-\d+\b"], about="The order"
    )
    amount: Money | None = declared(currencies=["INR", "usd"], least_source="tool")
    day: date | None = declared(date_order="day_first", rendered=False)
    quantity: int | None = declared(least=1, most=99)
    constraints: Entries = declared(least_source="user", most_shown=5)
    todo: Entries = Field(default=(), json_schema_extra={"x-ledger": {"section": "open", "rendered": False}})


def test_every_word_of_a_model_reaches_the_schema() -> None:
    schema = schema_of(Refund)
    order, amount, day, _ = schema.fields
    assert (order.aliases, order.refers_to, order.patterns, order.about) == (
        ("order_no", "reference"),
        "orders",
        (r"\bORD-\d+\b",),
        "The order",
    )
    assert (amount.least_source, amount.rendered, day.rendered) == ("tool", True, False)
    assert [json.loads(spec.format.model_dump_json(exclude_none=True)) for spec in schema.fields] == [
        {"kind": "text", "pattern": r"ORD-\d+"},
        {"kind": "money", "currencies": ["INR", "USD"]},
        {"kind": "date", "order": "day_first"},
        {"kind": "number", "whole": True, "least": "1", "most": "99"},
    ]
    assert [(one.section, one.least_source, one.most_shown, one.rendered) for one in schema.sections] == [
        ("constraints", "user", 5, True),
        ("open", "inferred", None, False),
    ]
    assert (schema.name, schema.free) == ("Refund", False)
    assert schema.section("decisions").least_source == "inferred"  # not declared: as without a schema


def test_a_model_and_its_json_schema_have_one_digest() -> None:
    document = json.loads(json.dumps(Refund.model_json_schema()))
    assert schema_of(document).digest == schema_of(Refund).digest
    assert schema_from(document, name="another").digest != schema_of(Refund).digest


def test_the_recorded_json_gives_the_schema_again() -> None:
    again = Schema.model_validate_json(schema_of(Refund).declared)
    assert again == schema_of(Refund)
    assert again.digest == schema_of(Refund).digest
    assert schema_of(again) is again


def test_a_digest_is_the_same_in_another_process() -> None:
    program = "from tests.schema.test_declaring import Refund, schema_of; print(schema_of(Refund).digest)"
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == schema_of(Refund).digest


def test_the_order_of_fields_is_part_of_a_schema() -> None:
    document = {"title": "t", "properties": {"a": {}, "b": {}}}
    turned = {"properties": {"b": {}, "a": {}}, "title": "t"}
    assert schema_from(document).digest != schema_from(turned).digest
    assert schema_from(document).digest == schema_from({**document, "type": "object", "required": ["a"]}).digest


@pytest.mark.parametrize(("extra", "free"), [("allow", True), ("forbid", False), ("ignore", False)])
def test_fields_that_are_not_declared_are_taken_only_where_extra_fields_are_allowed(extra: Any, free: bool) -> None:
    schema = schema_of(model("amount", int, extra=extra))
    assert schema.free is free
    problems = schema.problems("colour", JsonText('"red"'), "user")
    assert [problem.rule for problem in problems] == ([] if free else ["field"])
    assert schema.problems("amount", JsonText('"red"'), "user")  # declared fields are judged all the same


def test_an_undeclared_field_is_told_from_its_neighbours() -> None:
    [problem] = schema_of(Refund).problems("ammount", JsonText("1"), "user")
    assert "'ammount' is not declared in schema 'Refund' (declared: amount" in problem.why


@pytest.mark.parametrize(
    "properties",
    [
        {"a": {"x-ledger": {"aliases": ["b"]}}, "b": {}},
        {"a": {"x-ledger": {"aliases": ["B "]}}, "b": {}},
        {"a": {"x-ledger": {"aliases": ["c"]}}, "b": {"x-ledger": {"aliases": ["C"]}}},
        {"a": {"x-ledger": {"aliases": ["c", "c"]}}},
        {"a": {"x-ledger": {"aliases": ["A"]}}},
        {"a b": {}, "a-b": {}},
    ],
)
def test_a_name_means_one_field(properties: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="is declared twice"):
        schema_from({"title": "t", "properties": properties})


INVALID: dict[str, Any] = {
    "x-ledger": {"x-ledger": {"colour": "red"}},
    "x-ledger of a list": {"type": "array", "x-ledger": {"patterns": ["x"], "section": "open"}},
    "a section": {"type": "array", "x-ledger": {"section": "wishes"}},
    "no object": {"x-ledger": 5},
    "nothing": {"x-ledger": None},
    "a schema that is no object": 5,
    "a type": {"type": "colour"},
    "types": {"type": ["string", "integer"]},
    "no type": {"type": []},
    "a format": {"type": "string", "format": "uri"},
    "a format that is no text": {"type": "string", "format": 5},
    "a pattern": {"type": "string", "pattern": 5},
    "a length": {"type": "string", "maxLength": -1},
    "a least length": {"type": "string", "minLength": 1},
    "a bound": {"type": "integer", "exclusiveMinimum": 0},
    "a step": {"type": "number", "multipleOf": 5},
    "a minimum": {"type": "number", "minimum": "much"},
    "a choice of numbers": {"enum": [1, 2]},
    "a choice of nothing": {"enum": []},
    "a choice that is no list": {"enum": 5},
    "a text as a choice": {"enum": "abc"},
    "alternatives": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
    "alternatives that are no list": {"anyOf": 5},
    "no alternatives": {"anyOf": []},
    "alternatives of two types": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    "a reference to nothing": {"$ref": "#/$defs/nothing"},
    "a reference elsewhere": {"$ref": "https://example.org/schema"},
    "a circle": {"$ref": "#/$defs/circle"},
    "a circle of alternatives": {"$ref": "#/$defs/circles"},
    "aliases": {"x-ledger": {"aliases": 5}},
    "a description": {"description": 5},
}


@pytest.mark.parametrize("name", INVALID)
def test_what_is_not_understood_is_refused_with_its_property(name: str) -> None:
    circles = {"anyOf": [{"$ref": "#/$defs/circles"}, {"$ref": "#/$defs/circles"}]}
    document = {
        "title": "t",
        "properties": {"fine": {"type": "string"}, "the_field": INVALID[name]},
        "$defs": {"circle": {"$ref": "#/$defs/circle"}, "circles": circles},
    }
    with pytest.raises(InvalidInput, match="the_field") as caught:
        schema_from(document)
    assert caught.value.path == "the_field"


def test_references_are_followed() -> None:
    document = {
        "title": "t",
        "properties": {"the_field": {"$ref": "#/$defs/a~1b", "description": "nearer"}},
        "$defs": {"a/b": {"allOf": [{"$ref": "#/$defs/c"}], "description": "further"}, "c": {"enum": ["x", None]}},
    }
    [spec] = schema_from(document).fields
    assert (spec.format.model_dump(), spec.about) == ({"kind": "choice", "values": ("x",)}, "nearer")


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"title": "t"},
        {"properties": {}},
        {"title": 5, "properties": {}},
        {"title": "", "properties": {}},
        {"title": "t", "properties": []},
        {"title": "t", "properties": {}, "additionalProperties": {"type": "string"}},
        {"title": "t", "properties": {"--": {}}},
        {"title": "t", "properties": {"ß" * 300: {}}},
        {"title": "t" * 600, "properties": {}},
    ],
)
def test_what_is_no_schema_of_an_object_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        schema_from(document)


@pytest.mark.parametrize("given_schema", [None, 5, "Refund", Address, Refund(), [Refund], int])
def test_what_is_no_schema_is_refused(given_schema: Any) -> None:
    with pytest.raises(InvalidInput, match="is no schema"):
        schema_of(given_schema)


words = st.sampled_from(
    [
        "type",
        "enum",
        "const",
        "anyOf",
        "allOf",
        "$ref",
        "format",
        "pattern",
        "minimum",
        "maxLength",
        "x-ledger",
        "aliases",
        "section",
        "least_source",
        "currencies",
        "patterns",
        "title",
        "description",
    ]
)
plausible = st.recursive(
    json_values
    | st.sampled_from(["string", "number", "null", "array", "object", "date", "money", "open", "#/$defs/a", "user"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from(["a", "b", "open"]), st.dictionaries(words, plausible, max_size=4), max_size=3), plausible
)
def test_any_document_is_a_schema_or_is_refused(properties: dict[str, Any], definition: Any) -> None:
    try:
        schema = schema_from({"title": "t", "properties": properties, "$defs": {"a": definition}})
    except InvalidInput:
        return
    assert Schema.model_validate_json(schema.declared).digest == schema.digest


@pytest.mark.parametrize("amount", ["4,180 INR", {"amount": "1.234", "currency": "KWD"}])
def test_a_model_takes_amounts_as_its_ledger_does(amount: Any) -> None:
    kind = model("amount", Money)
    task = kind.model_validate({"amount": amount})
    assert kind.model_validate_json(task.model_dump_json()) == task
    with pytest.raises(ValidationError, match="may mean thousands or a fraction"):
        kind.model_validate({"amount": "4.180 INR"})
