"""Answers as JSON bytes: foreign JSON is embedded as its own text, never parsed and written again."""

from __future__ import annotations

from dataclasses import Field, fields, is_dataclass
from typing import Any, Final

import orjson
from pydantic import BaseModel

from ledger.erased import Forgotten
from ledger.json_text import JsonText, has_lone_surrogate, json_string

ABSENT: Final = {"absent": True}
"""Metadata of a dataclass field that an answer leaves out while it holds its default."""

_MOST_BITS = 63  # of an integer that the encoder takes


def to_json(value: Any) -> bytes:
    """The JSON of an answer made of dicts, lists, texts, numbers, ``JsonText``, dataclasses and recorded parts.

    In the place of a value that was forgotten stands ``{"forgotten": {"job", "reason", "at"}}``; among parts it is one of them,
    with its type.
    """
    return orjson.dumps(_wire(value))


def _wire(value: Any) -> Any:
    if isinstance(value, JsonText):
        return orjson.Fragment(str(value))
    if isinstance(value, str):
        return orjson.Fragment(json_string(value)) if has_lone_surrogate(value) else str(value)
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return orjson.Fragment(str(value))
    if isinstance(value, dict):
        return {_key(name): _wire(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_part(item) if isinstance(item, Forgotten) else _wire(item) for item in value]
    if isinstance(value, BaseModel):
        return {name: _wire(item) for name, item in value if item is not None}
    if isinstance(value, Forgotten):
        return {"forgotten": {name: text for name, text in _part(value).items() if name != "type"}}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _wire(getattr(value, field.name)) for field in fields(value) if not _is_absent(field, value)}
    return value


def _part(value: Forgotten) -> dict[str, Any]:
    return {"type": value.type, "job": value.job, "reason": _wire(value.reason), "at": value.at}


def _is_absent(field: Field[Any], value: Any) -> bool:
    return "absent" in field.metadata and getattr(value, field.name) == field.default


def _key(name: str) -> str:
    """Keys are ours or canonical field names; a lone surrogate in one is shown as its escape."""
    return name.encode("utf-8", "backslashreplace").decode() if has_lone_surrogate(name) else name
