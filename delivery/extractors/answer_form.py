"""The form that an answer is asked in, strictest first: a JSON Schema made from the ledger's, any JSON object, any text."""

from __future__ import annotations

from typing import Any, Final

from delivery.extractors.prompt import Batch
from ledger.schema.formats import BooleanFormat, JsonFormat, NumberFormat
from ledger.schema.schema import Schema

_MOST_CHOICES: Final = 900
"""Endpoints bound the choices of a whole schema, to 1,000 for instance."""


def answer_forms(schema: Schema, batch: Batch) -> tuple[dict[str, Any], ...]:
    """What to add to a request, strictest first: who refuses one may take the next."""
    form = {"name": "candidates", "strict": _is_bounded(schema), "schema": json_schema(schema, batch)}
    return (
        {"response_format": {"type": "json_schema", "json_schema": form}},
        {"response_format": {"type": "json_object"}},
        {},
    )


def json_schema(schema: Schema, batch: Batch) -> dict[str, Any]:
    """The JSON Schema of an answer: a list of candidates for declared fields, in turns and results that are given."""
    properties = {
        "field": {"type": "string"} if schema.free else {"type": "string", "enum": [spec.name for spec in schema.fields]},
        "value": _value(schema),
        "quote": {"type": "string"},
        "turn": {"type": "integer", "enum": list(batch.turns)},
        "result": _result(schema, batch),
        "corrects": {"type": "boolean"},
    }
    return _object({"candidates": {"type": "array", "items": _object(properties)}})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _result(schema: Schema, batch: Batch) -> dict[str, Any]:
    if not batch.results:
        return {"type": "null"}
    is_short = len(schema.fields) + len(batch.turns) + len(batch.results) < _MOST_CHOICES
    return {"type": ["string", "null"], **({"enum": [*batch.results, None]} if is_short else {})}


def _is_bounded(schema: Schema) -> bool:
    """Whether no field takes any JSON value, which a strict schema cannot say."""
    return not schema.free and not any(isinstance(spec.format, JsonFormat) for spec in schema.fields)


def _value(schema: Schema) -> dict[str, Any]:
    if not _is_bounded(schema):
        return {}
    formats = [spec.format for spec in schema.fields]
    numbers = ["number"] if any(isinstance(form, NumberFormat) for form in formats) else []
    booleans = ["boolean"] if any(isinstance(form, BooleanFormat) for form in formats) else []
    return {"type": ["string", *numbers, *booleans]}
