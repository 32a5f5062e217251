"""A property's schema without its indirections: references followed, "or null" left out, a Decimal is a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NoReturn

from ledger.errors import InvalidInput
from ledger.schema.restrictions import RESTRICTING, restrictions

_MOST_STEPS: Final = 32
"""References that go on for longer lead in a circle."""

_SAID_ONCE: Final = RESTRICTING | {"type", "format"}


def resolved(spec: object, document: Mapping[str, Any], key: str, *, steps: int = 0) -> dict[str, Any]:
    """What the schema of property ``key`` says; words beside an indirection hold, too. ``InvalidInput`` names the property."""
    if not isinstance(spec, Mapping):
        _refuse(key, "has no schema: give an object")
    found = dict(spec)
    while word := next((word for word in ("$ref", "anyOf", "allOf") if word in found), None):
        steps += 1
        if steps > _MOST_STEPS:
            _refuse(key, "refers to itself: declare what it is")
        pointed = found.pop(word)
        is_reference = word == "$ref"
        further = _referred(str(pointed), document, key) if is_reference else _one_of(pointed, document, key, steps)
        found = _merged(further, found, key)
    if isinstance(found.get("type"), list):  # ["string", "null"]
        kinds = [kind for kind in found["type"] if kind != "null"]
        if len(kinds) != 1:
            _refuse(key, "may be of several types: declare one")
        found["type"] = kinds[0]
    if isinstance(found.get("enum"), list):
        found["enum"] = [value for value in found["enum"] if value is not None]
    return found


def _merged(further: Mapping[str, Any], nearer: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Both; the nearer title or description wins, but of two restrictions neither may be passed over."""
    twice = sorted(word for word in further.keys() & nearer.keys() & _SAID_ONCE if further[word] != nearer[word])
    if twice:
        _refuse(key, f"says {twice[0]} twice: say it once")
    return {**further, **nearer}


def _one_of(given: object, document: Mapping[str, Any], key: str, steps: int) -> dict[str, Any]:
    """The only alternative beside null; a number, where it may be whole, too, or a text, as pydantic writes a Decimal."""
    if not isinstance(given, list):
        _refuse(key, "has alternatives that are no list")
    choices = [resolved(one, document, key, steps=steps) for one in given]
    kinds = [one for one in choices if one.get("type") != "null"]
    if len(kinds) == 1:
        return kinds[0]
    fractional = [one for one in kinds if one.get("type") == "number"]
    if not fractional or not all(one.get("type") in ("number", "integer", "string") for one in kinds):
        _refuse(key, "may be of several types: declare one")
    _refuse_limits_of_others(fractional[0], kinds, key)
    return fractional[0]


def _refuse_limits_of_others(number: Mapping[str, Any], kinds: list[dict[str, Any]], key: str) -> None:
    """The pattern of the text beside a number says how a number is written, which is ours to judge."""
    for one in kinds:
        for word in restrictions(one):
            if word not in number and not (word == "pattern" and one["type"] == "string"):
                _refuse(key, f"has {word} in one of its alternatives only: say it of the field")


def _referred(reference: str, document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    place: Any = document
    for step in reference.removeprefix("#/").split("/"):
        place = place.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(place, Mapping) else None
    if not isinstance(place, Mapping):
        _refuse(key, f"refers to {reference!r}, which is not in the document")
    return place


def _refuse(key: str, why: str) -> NoReturn:
    raise InvalidInput(f"property {key!r} {why}", path=key)
