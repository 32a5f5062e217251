"""What a document restricts values with is kept, or the document is refused; nothing that narrows a value is passed over."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from ledger import JsonText
from ledger.errors import InvalidInput
from ledger.schema import Entries, StateModel, declared, schema_from, schema_of


class Price(BaseModel):
    """A model inside a field."""

    amount: int


def document(properties: dict[str, Any], **words: Any) -> dict[str, Any]:
    return {"title": "t", "type": "object", "properties": properties, **words}


TOP: dict[str, Any] = {
    "minProperties": 1,
    "maxProperties": 2,
    "patternProperties": {"^x": {"type": "string"}},
    "propertyNames": {"maxLength": 3},
    "dependentRequired": {"a": ["b"]},
    "dependentSchemas": {"a": {"required": ["b"]}},
    "dependencies": {"a": ["b"]},
    "unevaluatedProperties": False,
    "allOf": [{"required": ["a"]}],
    "anyOf": [{"required": ["a"]}],
    "oneOf": [{"required": ["a"]}],
    "not": {"required": ["a"]},
    "if": {},
    "then": {"required": ["a"]},
    "enum": [{}],
    "const": {},
    "$ref": "#/$defs/x",
}


@pytest.mark.parametrize("word", TOP)
def test_a_restriction_of_the_whole_state_is_refused_by_name(word: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        schema_from(document({"a": {}}, **{word: TOP[word]}))
    assert caught.value.path == word
    assert word in str(caught.value)


@pytest.mark.parametrize("kind", ["array", "string", ["object", "null"], None, 5])
def test_a_state_is_an_object(kind: Any) -> None:
    with pytest.raises(InvalidInput, match="type") as caught:
        schema_from({**document({"a": {}}), "type": kind})
    assert caught.value.path == "type"


def test_a_state_may_be_incomplete_so_what_is_required_is_not_asked_for() -> None:
    class Task(StateModel):
        order: str
        amount: int | None = None

    schema = schema_of(Task)
    assert Task.model_json_schema()["required"] == ["order"]
    assert schema.problems("amount", JsonText("5"), "user") == ()
    assert schema_from(document({"a": {}}, required=["a"])) == schema_from(document({"a": {}}))


NESTED: dict[str, dict[str, Any]] = {
    "required": {"type": "object", "required": ["amount"]},
    "properties": {"type": "object", "properties": {"amount": {"type": "integer"}}},
    "additionalProperties": {"type": "object", "additionalProperties": False},
    "patternProperties": {"type": "object", "patternProperties": {"^a": {"type": "integer"}}},
    "propertyNames": {"propertyNames": {"maxLength": 3}},
    "minProperties": {"type": "object", "minProperties": 1},
    "maxProperties": {"maxProperties": 1},
    "dependentRequired": {"type": "object", "dependentRequired": {"a": ["b"]}},
    "unevaluatedProperties": {"type": "object", "unevaluatedProperties": False},
    "then": {"then": {"type": "string"}},
    "items": {"items": {"type": "integer"}},
    "minItems": {"minItems": 1},
}


@pytest.mark.parametrize("word", NESTED)
def test_a_restriction_inside_a_property_is_refused_by_name(word: str) -> None:
    with pytest.raises(InvalidInput, match="declare the fields themselves") as caught:
        schema_from(document({"price": NESTED[word]}))
    assert caught.value.path == "price"
    assert f"{word} " in str(caught.value)


@pytest.mark.parametrize("annotation", [Price, dict[str, int], Price | None], ids=repr)
def test_a_model_inside_a_field_is_refused(annotation: Any) -> None:
    task = type("Task", (StateModel,), {"__annotations__": {"price": annotation}, "price": None})
    with pytest.raises(InvalidInput, match=r"property 'price'.*declare the fields themselves"):
        schema_of(task)


@pytest.mark.parametrize(
    "spec",
    [
        {"type": "object", "additionalProperties": True},
        {"type": "object", "additionalProperties": {}},
        {"type": "object", "properties": {}, "required": []},
        {"items": True},
        {"uniqueItems": False},
    ],
)
def test_a_word_that_restricts_nothing_is_fine(spec: dict[str, Any]) -> None:
    schema = schema_from(document({"anything": spec}))
    assert schema.problems("anything", JsonText('{"amount":"junk"}'), "user") == ()


LISTS: dict[str, Any] = {
    "maxItems": {"maxItems": 3},
    "minItems": {"minItems": 1},
    "uniqueItems": {"uniqueItems": True},
    "prefixItems": {"prefixItems": [{"type": "string"}]},
    "contains": {"contains": {"const": "x"}},
    "items": {"items": {"type": "integer"}},
    "items with a pattern": {"items": {"type": "string", "pattern": "x"}},
    "no items": {"items": False},
    "enum": {"enum": [["x"]]},
}


@pytest.mark.parametrize("name", LISTS)
def test_a_restriction_of_a_list_is_refused_by_name(name: str) -> None:
    [word] = LISTS[name]
    with pytest.raises(InvalidInput, match=f"property 'open': {word} ") as caught:
        schema_from(document({"open": {"type": "array", **LISTS[name]}}))
    assert caught.value.path == "open"


@pytest.mark.parametrize("annotation", [list[int], set[str], tuple[str, str], list[Literal["x"]]], ids=repr)
def test_a_list_of_anything_but_texts_is_refused(annotation: Any) -> None:
    task = type("Task", (StateModel,), {"__annotations__": {"open": annotation}, "open": ()})
    with pytest.raises(InvalidInput, match="property 'open'"):
        schema_of(task)


def test_lists_of_texts_are_sections() -> None:
    class Task(StateModel):
        constraints: Entries = ()
        open: list[str] = Field(default_factory=list)

    assert [one.section for one in schema_of(Task).sections] == ["constraints", "open"]


@pytest.mark.parametrize(
    ("spec", "match"),
    [
        ({"type": "number", "minimum": 3, "maximum": 2}, "minimum 3 is above maximum 2"),
        ({"type": "integer", "minimum": 0.5, "maximum": 0.25}, "minimum 0.5 is above maximum 0.25"),
        ({"type": "number", "minimum": "3"}, "minimum is a number, not '3'"),
        ({"type": "number", "maximum": "3"}, "maximum is a number, not '3'"),
        ({"type": "number", "minimum": True}, "minimum is a number, not True"),
        ({"type": "number", "minimum": None}, "minimum is a number, not None"),
        ({"type": "string", "maxLength": "5"}, "maxLength is a whole number, not '5'"),
        ({"type": "string", "maxLength": True}, "maxLength is a whole number, not True"),
        ({"enum": ["a", "b"], "const": "a"}, "const beside enum"),
        ({"format": "email"}, "format 'email' is for type string"),
        ({"type": "number", "format": "money"}, "format 'money' is for type string"),
    ],
)
def test_a_limit_that_cannot_be_meant_is_refused(spec: dict[str, Any], match: str) -> None:
    with pytest.raises(InvalidInput, match=match) as caught:
        schema_from(document({"it": spec}))
    assert caught.value.path == "it"


def test_limits_of_a_model_are_judged_alike() -> None:
    with pytest.raises(InvalidInput, match="minimum 3 is above maximum 2"):
        schema_of(type("Task", (StateModel,), {"__annotations__": {"it": int}, "it": declared(least=3, most=2)}))
    equal = schema_of(type("Task", (StateModel,), {"__annotations__": {"it": Decimal}, "it": declared(least=2, most=2)}))
    assert equal.problems("it", JsonText("2"), "user") == ()


@pytest.mark.parametrize(
    "spec",
    [
        {"allOf": [{"type": "string", "pattern": "a"}], "pattern": "b"},
        {"anyOf": [{"type": "integer", "minimum": 5}, {"type": "null"}], "minimum": 1},
        {"$ref": "#/$defs/short", "maxLength": 9},
        {"$ref": "#/$defs/short", "type": "number"},
    ],
)
def test_a_restriction_that_is_said_twice_is_refused(spec: dict[str, Any]) -> None:
    """One of the two would be passed over."""
    with pytest.raises(InvalidInput, match="twice") as caught:
        schema_from(document({"it": spec}, **{"$defs": {"short": {"type": "string", "maxLength": 5}}}))
    assert caught.value.path == "it"


def test_a_limit_of_a_type_and_one_of_the_field_are_not_lost() -> None:
    class Task(StateModel):
        it: Annotated[str, Field(pattern="a")] | None = declared(pattern="b")

    with pytest.raises(InvalidInput, match="says pattern twice"):
        schema_of(Task)


@pytest.mark.parametrize("word", ["aliases", "patterns", "currencies"])
@pytest.mark.parametrize("text", ["ab", ""])
def test_a_text_is_no_list_of_texts(word: str, text: str) -> None:
    kind = {"type": "string", "format": "money"} if word == "currencies" else {}
    with pytest.raises(InvalidInput, match=word):
        schema_from(document({"it": {**kind, "x-ledger": {word: text}}}))
    with pytest.raises(InvalidInput, match=f"{word} is a list of texts") as caught:
        declared(**{word: text})  # type: ignore[arg-type]
    assert caught.value.path == word


def test_what_is_declared_twice_is_told_with_the_name_of_the_schema() -> None:
    with pytest.raises(InvalidInput) as caught:
        schema_from(document({"a b": {}, "a-b": {}}))
    assert str(caught.value).startswith("schema 't': 'a_b' is declared twice, as a field or as an alias")
    assert caught.value.path == "schema"


def test_a_message_names_its_place_once() -> None:
    with pytest.raises(InvalidInput) as caught:
        schema_from(document({"--": {}}))
    assert str(caught.value) == "property '--': name: '--' has no letters"
    with pytest.raises(InvalidInput) as caught:
        schema_from({**document({}), "title": ""})
    assert str(caught.value).startswith("schema '': name: ")


@pytest.mark.parametrize(
    ("word", "value", "match"),
    [
        ("rendered", "yes", "rendered is true or false, not 'yes'"),
        ("rendered", 0, "rendered is true or false, not 0"),
        ("most_shown", "5", "most_shown is a whole number, not '5'"),
        ("most_shown", True, "most_shown is a whole number, not True"),
    ],
)
def test_a_word_of_another_type_is_not_turned_into_one_of_its_own(word: str, value: Any, match: str) -> None:
    with pytest.raises(InvalidInput, match=match) as caught:
        schema_from(document({"open": {"type": "array", "x-ledger": {word: value}}}))
    assert caught.value.path == "open"
