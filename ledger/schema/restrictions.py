"""The words with which JSON Schema restricts values: a restriction that a schema would not keep is refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any, Final

from ledger.errors import InvalidInput

_INSIDE: Final = {
    *("properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties"),
    *("dependentRequired", "dependentSchemas", "dependencies", "unevaluatedProperties"),
    *("items", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "minContains", "maxContains"),
    *("minItems", "maxItems", "uniqueItems", "then", "else"),
}
"""What restricts the parts of a value."""

_INDIRECT: Final = {"$ref", "$dynamicRef", "$recursiveRef", "anyOf", "allOf"}

RESTRICTING: Final = _INSIDE | {
    *("pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("enum", "const", "oneOf", "not", "if", "contentEncoding", "contentMediaType", "contentSchema"),
    *("$dynamicRef", "$recursiveRef"),
}
"""All words that restrict values, but for those that are followed: references and alternatives."""

_OF_THE_STATE: Final = (RESTRICTING | _INDIRECT) - {"properties", "required", "additionalProperties"}
"""What may not stand beside the properties. ``required`` may, and asks for nothing: a state fills while a task goes on."""

_HARMLESS: Final[dict[str, tuple[Any, ...]]] = {
    "properties": ({},),
    "required": ([],),
    "additionalProperties": (True, {}),
    "items": (True, {}),
    "uniqueItems": (False,),
}
"""What generators of schemas write although it restricts nothing."""

_LIMITS: Final = ("minimum", "maximum")
_TEXTS: Final = {"type": "string"}
_ANNOTATIONS: Final = {"title", "description"}


def restrictions(spec: Mapping[str, Any]) -> list[str]:
    """The words of a property's schema that restrict its values, in order of their names."""
    return sorted(word for word in spec.keys() & RESTRICTING if not _is_harmless(word, spec[word]))


def check_state(document: Mapping[str, Any]) -> None:
    """``InvalidInput`` names what restricts the state as a whole, which is judged field by field."""
    if document.get("type", "object") != "object":
        raise InvalidInput(f"a schema is one of an object: its type is 'object', not {document['type']!r}", path="type")
    if lost := sorted(document.keys() & _OF_THE_STATE):
        raise InvalidInput(f"{lost[0]} of a whole state is not understood: leave it out, or say it of a field", path=lost[0])


def check_field(key: str, spec: Mapping[str, Any], kept: Collection[str], kind: str) -> None:
    """``InvalidInput`` for a restriction that is not one of those that are ``kept``, and for limits that leave nothing."""
    lost = [word for word in restrictions(spec) if word not in kept]
    if lost and lost[0] in _INSIDE:
        raise InvalidInput(
            f"property {key!r}: {lost[0]} restricts what is inside a value, which is not judged: "
            "declare the fields themselves, or leave it out",
            path=key,
        )
    if lost:
        raise InvalidInput(f"property {key!r}: {lost[0]} of a {kind} is not understood: leave it out", path=key)
    if {"enum", "const"} <= spec.keys():
        raise InvalidInput(f"property {key!r}: const beside enum leaves one of them unheard: give one", path=key)
    _check_limits(key, spec)


def _check_limits(key: str, spec: Mapping[str, Any]) -> None:
    for word in _LIMITS:
        if word in spec and not _is_number(spec[word]):
            raise InvalidInput(f"property {key!r}: {word} is a number, not {spec[word]!r}", path=key)
    if all(word in spec for word in _LIMITS) and spec["minimum"] > spec["maximum"]:
        why = f"minimum {spec['minimum']} is above maximum {spec['maximum']}: no value would be taken"
        raise InvalidInput(f"property {key!r}: {why}", path=key)
    if "maxLength" in spec and (not _is_number(spec["maxLength"]) or spec["maxLength"] % 1 != 0):
        raise InvalidInput(f"property {key!r}: maxLength is a whole number, not {spec['maxLength']!r}", path=key)


def check_list(key: str, spec: Mapping[str, Any]) -> None:
    """``InvalidInput`` for what restricts a list: the entries of a section are any texts, and any number of them."""
    for word in restrictions(spec):
        if word != "items" or not _are_texts(spec["items"]):
            raise InvalidInput(
                f"property {key!r}: {word} of a list is not understood: its entries are texts, and any number of them",
                path=key,
            )


def _are_texts(items: object) -> bool:
    return isinstance(items, Mapping) and {word: items[word] for word in items if word not in _ANNOTATIONS} == _TEXTS


def _is_harmless(word: str, value: object) -> bool:
    return any(type(value) is type(known) and value == known for known in _HARMLESS.get(word, ()))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)
