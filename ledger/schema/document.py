"""From a JSON Schema to a schema, for those who do not write Python; a ``StateModel`` takes the same way.

What JSON Schema has no word for stands under ``x-ledger``: aliases, section, least_source, rendered, refers_to, patterns,
currencies, date_order, most_shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, get_args

from pydantic import ValidationError

from ledger.errors import InvalidInput, nearest
from ledger.events import Section
from ledger.schema.indirections import resolved
from ledger.schema.restrictions import check_field, check_list, check_state
from ledger.schema.schema import FieldSpec, Schema, SectionSpec

EXTRA: Final = "x-ledger"

Made = TypeVar("Made")

_FIELD_OPTIONS: Final = {"aliases", "least_source", "rendered", "refers_to", "patterns"}
_FORMAT_OPTIONS: Final = {"currencies": "money", "date_order": "date"}
_SECTION_OPTIONS: Final = {"section", "least_source", "rendered", "most_shown"}
_TYPED: Final = (("rendered", bool, "true or false"), ("most_shown", int, "a whole number"))
_TEXT_FORMATS: Final = {"date": "date", "time": "time", "date-time": "datetime", "email": "email", "money": "money"}
_TYPES: Final = ("string", "integer", "number", "boolean", "object", "array")
_UNDERSTOOD: Final[dict[str, set[str]]] = {
    "text": {"pattern", "maxLength"},
    "number": {"minimum", "maximum"},
    "choice": {"enum", "const"},
}


def schema_from(document: Mapping[str, Any], *, name: str | None = None) -> Schema:
    """The schema that a JSON Schema of an object declares; ``InvalidInput`` names the property that is not understood.

    Its name is ``name``, or the document's title. ``additionalProperties: true`` lets fields in that are not declared.
    ``required`` asks for nothing, because a state may be incomplete at any time.
    """
    properties = document.get("properties")
    title = name or document.get("title")
    if not isinstance(properties, Mapping) or not isinstance(title, str):
        raise InvalidInput("a schema is a JSON Schema of an object, with properties and a title: give both", path="schema")
    check_state(document)
    free = document.get("additionalProperties", False)
    if not isinstance(free, bool):
        raise InvalidInput("additionalProperties of a schema is true or false: declare what has a form", path="schema")
    fields, sections = [], []
    for key, given in properties.items():
        spec = resolved(given, document, str(key))
        extra = spec.get(EXTRA, {})
        if not isinstance(extra, Mapping):
            raise InvalidInput(f"property {key!r}: {EXTRA} is an object, not {extra!r}", path=str(key))
        if spec.get("type") == "array" or "section" in extra:
            sections.append(_section(str(key), spec, extra))
        else:
            fields.append(_field(str(key), spec, extra))
    return _made(
        lambda: Schema(name=title, fields=tuple(fields), sections=tuple(sections), free=free),
        named=f"schema {title[:40]!r}",
        path="schema",
    )


def _field(key: str, spec: Mapping[str, Any], extra: Mapping[str, Any]) -> FieldSpec:
    _check(key, extra, _FIELD_OPTIONS | _FORMAT_OPTIONS.keys())
    format_of = _format(key, spec, extra)
    check_field(key, spec, _UNDERSTOOD.get(format_of["kind"], set()), format_of["kind"])
    for option, kind in _FORMAT_OPTIONS.items():
        if option in extra and format_of["kind"] != kind:
            raise InvalidInput(f"property {key!r}: {option} is for {kind}, not for {format_of['kind']}", path=key)
    options = {name: value for name, value in extra.items() if name in _FIELD_OPTIONS}
    about = spec.get("description")
    return _made(
        lambda: FieldSpec(name=key, format=format_of, about=about, **options),  # type: ignore[arg-type]
        named=f"property {key!r}",
        path=key,
    )


def _section(key: str, spec: Mapping[str, Any], extra: Mapping[str, Any]) -> SectionSpec:
    _check(key, extra, _SECTION_OPTIONS)
    section = extra.get("section", key)
    if section not in get_args(Section):
        raise InvalidInput(
            f"property {key!r} is a list, and lists are the sections {', '.join(get_args(Section))}: name one in "
            f"{EXTRA}.section",
            path=key,
        )
    check_list(key, spec)
    return _made(lambda: SectionSpec(**{**extra, "section": section}), named=f"property {key!r}", path=key)


def _format(key: str, spec: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """The format that a property's schema stands for."""
    if "enum" in spec or "const" in spec:
        return {"kind": "choice", "values": spec["enum"] if "enum" in spec else [spec["const"]]}
    if spec.get("format") in tuple(_TEXT_FORMATS) and spec.get("type") != "string":
        raise InvalidInput(f"property {key!r}: format {spec['format']!r} is for type string: say that, too", path=key)
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
            near = nearest(str(kind), _TYPES, most=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise InvalidInput(f"property {key!r}: no type {kind!r}{hint}: give one of {', '.join(_TYPES)}", path=key)


def _text_format(key: str, spec: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    name = spec.get("format")
    if name is None:
        return {"kind": "text", "pattern": spec.get("pattern"), "most_characters": spec.get("maxLength")}
    if not isinstance(name, str) or name not in _TEXT_FORMATS:
        raise InvalidInput(f"property {key!r}: format {name!r} is none of {', '.join(_TEXT_FORMATS)}", path=key)
    known = {"money": {"currencies": extra.get("currencies", ())}, "date": {"order": extra.get("date_order")}}
    return {"kind": _TEXT_FORMATS[name], **known.get(name, {})}


def _check(key: str, extra: Mapping[str, Any], known: set[str]) -> None:
    unknown = sorted(str(word) for word in extra if word not in known)
    if unknown:
        raise InvalidInput(f"property {key!r}: {EXTRA}.{unknown[0]} is not known: give {', '.join(sorted(known))}", path=key)
    for word, kind, said in _TYPED:
        if extra.get(word) is not None and type(extra[word]) is not kind:
            raise InvalidInput(f"property {key!r}: {word} is {said}, not {extra[word]!r}", path=key)


def _made(make: Callable[[], Made], *, named: str, path: str) -> Made:
    try:
        return make()
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        said = str(
            first.get("ctx", {}).get("error", first["msg"])
        )  # what a check of ours said, without pydantic's words before
        places = (named, ".".join(map(str, first["loc"])), said)
        raise InvalidInput(": ".join(place for place in places if place), path=path) from error
