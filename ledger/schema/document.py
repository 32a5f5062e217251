"""From a JSON Schema to a schema, for those who do not write Python; a ``StateModel`` takes the same way.

What JSON Schema has no word for stands under ``x-ledger``: aliases, section, least_source, rendered, refers_to, patterns,
currencies, date_order, most_shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, get_args

from pydantic import ValidationError

from ledger.errors import InvalidInput
from ledger.events import Section
from ledger.schema.schema import FieldSpec, Schema, SectionSpec

EXTRA: Final = "x-ledger"

Made = TypeVar("Made")

_FIELD_OPTIONS: Final = {"aliases", "least_source", "rendered", "refers_to", "patterns", "currencies", "date_order"}
_SECTION_OPTIONS: Final = {"section", "least_source", "rendered", "most_shown"}
_TEXT_FORMATS: Final = {"date": "date", "time": "time", "date-time": "datetime", "email": "email", "money": "money"}


def schema_from(document: Mapping[str, Any], *, name: str | None = None) -> Schema:
    """The schema that a JSON Schema of an object declares; ``InvalidInput`` names the property that is not understood.

    Its name is ``name``, or the document's title. ``additionalProperties: true`` lets fields in that are not declared.
    """
    properties = document.get("properties")
    title = name or document.get("title")
    if not isinstance(properties, Mapping) or not isinstance(title, str):
        raise InvalidInput("a schema is a JSON Schema of an object, with properties and a title: give both", path="schema")
    fields, sections = [], []
    for key, given in properties.items():
        spec = _resolved(given, document, key)
        extra = spec.get(EXTRA, {})
        if spec.get("type") == "array" or "section" in extra:
            sections.append(_section(key, extra))
        else:
            fields.append(_field(key, spec, extra))
    free = document.get("additionalProperties", False) is True
    return _made("schema", lambda: Schema(name=title, fields=tuple(fields), sections=tuple(sections), free=free))


def _field(key: str, spec: Mapping[str, Any], extra: Mapping[str, Any]) -> FieldSpec:
    _check(key, extra, _FIELD_OPTIONS)
    options = {name: value for name, value in extra.items() if name not in ("currencies", "date_order")}
    about = spec.get("description")
    return _made(key, lambda: FieldSpec(name=key, format=_format(key, spec, extra), about=about, **options))


def _section(key: str, extra: Mapping[str, Any]) -> SectionSpec:
    _check(key, extra, _SECTION_OPTIONS)
    section = extra.get("section", key)
    if section not in get_args(Section):
        raise InvalidInput(
            f"property {key!r} is a list, and lists are the sections {', '.join(get_args(Section))}: name one in "
            f"{EXTRA}.section",
            path=key,
        )
    return _made(key, lambda: SectionSpec(**{**extra, "section": section}))


def _format(key: str, spec: Mapping[str, Any], extra: Mapping[str, Any]) -> Any:
    """The format that a property's schema stands for."""
    if "enum" in spec or "const" in spec:
        return {"kind": "choice", "values": tuple(spec.get("enum", (spec.get("const"),)))}
    match spec.get("type"):
        case "string":
            return _text_format(key, spec, extra)
        case "integer" | "number" as kind:
            return {
                "kind": "number",
                "whole": kind == "integer",
                "least": spec.get("minimum"),
                "most": spec.get("maximum"),
            }
        case "boolean":
            return {"kind": "boolean"}
        case None | "object":
            return {"kind": "json"}
        case kind:
            raise InvalidInput(f"property {key!r}: type {kind!r} is not understood", path=key)


def _text_format(key: str, spec: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    name = spec.get("format")
    if name is None:
        return {"kind": "text", "pattern": spec.get("pattern"), "most_characters": spec.get("maxLength")}
    if name not in _TEXT_FORMATS:
        raise InvalidInput(f"property {key!r}: format {name!r} is none of {', '.join(_TEXT_FORMATS)}", path=key)
    known = {"money": {"currencies": extra.get("currencies", ())}, "date": {"order": extra.get("date_order")}}
    return {"kind": _TEXT_FORMATS[name], **known.get(name, {})}


def _resolved(spec: Any, document: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A property's schema without its indirections: a reference is followed, "or null" is left out, a number is a number."""
    if not isinstance(spec, Mapping):
        raise InvalidInput(f"property {key!r} has no schema: give an object", path=key)
    found = dict(spec)
    while "$ref" in found or "anyOf" in found or "allOf" in found:
        if "$ref" in found:
            found |= _referred(str(found.pop("$ref")), document, key)
            continue
        choices = [_resolved(one, document, key) for one in found.pop("anyOf", None) or found.pop("allOf")]
        kinds = [one for one in choices if one.get("type") != "null"]
        numbers = [one for one in kinds if one.get("type") in ("number", "integer")]
        if len(kinds) != 1 and not numbers:
            raise InvalidInput(f"property {key!r} may be of several types: declare one", path=key)
        found = {**(numbers or kinds)[0], **found}
    return found


def _referred(reference: str, document: Mapping[str, Any], key: str) -> dict[str, Any]:
    place: Any = document
    for step in reference.removeprefix("#/").split("/"):
        place = place.get(step) if isinstance(place, Mapping) else None
    if not isinstance(place, Mapping):
        raise InvalidInput(f"property {key!r} refers to {reference!r}, which is not in the document", path=key)
    return dict(place)


def _check(key: str, extra: Any, known: set[str]) -> None:
    unknown = sorted(set(extra) - known) if isinstance(extra, Mapping) else [str(extra)]
    if unknown:
        raise InvalidInput(f"property {key!r}: {EXTRA}.{unknown[0]} is not known: give {', '.join(sorted(known))}", path=key)


def _made(key: str, make: Callable[[], Made]) -> Made:
    try:
        return make()
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InvalidInput(f"property {key!r}: {where}: {first['msg']}", path=key) from error
