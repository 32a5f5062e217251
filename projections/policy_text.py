"""A policy written as TOML: what is not said is as in the preset that it begins with."""

from __future__ import annotations

import tomllib
from typing import Any, Final

from pydantic import ValidationError

from ledger.errors import InvalidInput, nearest
from projections.policy import Policy
from projections.presets import preset_named

PRESET: Final = "preset"
"""The key that names the preset to begin with."""


def policy_from_toml(text: str) -> Policy:
    """The policy of a TOML text.

    Keys are the fields of ``Policy``, tables those of its parts (``[stubs]``, ``[compaction]``, ``[state]``, ``[[rules]]``);
    ``preset`` names what it begins with. A rule may be the name of a provided one. ``false`` for ``compaction`` or ``state``
    leaves it out. ``InvalidInput`` names the key and what is wrong with it.
    """
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"the policy is no TOML: {error}", path="policy") from None
    return policy_from(given)


def policy_from(given: dict[str, Any]) -> Policy:
    """The policy of plain values, as TOML or JSON hold them."""
    name = given.get(PRESET, "default")
    if not isinstance(name, str):
        raise InvalidInput(f"preset is {name!r}: give the name of one", path=PRESET)
    base = preset_named(name).model_dump(mode="json")
    values = {key: value for key, value in given.items() if key != PRESET}
    unknown = next((key for key in values if key not in base), None)
    if unknown is not None:
        near = nearest(unknown, base)
        hint = f": did you mean {near[0]}?" if near else f": a policy has {', '.join(base)}"
        raise InvalidInput(f"a policy has no key {unknown}{hint}", path=unknown)
    for key, value in values.items():
        base[key] = _merged(base[key], value, key)
    try:
        return Policy.model_validate(base)
    except ValidationError as error:
        raise _refused(error) from None


def _merged(before: Any, value: Any, key: str) -> Any:
    if key in ("compaction", "state") and value is False:
        return None
    if key == "rules" and isinstance(value, list):
        return [{"type": "provided", "name": rule} if isinstance(rule, str) else rule for rule in value]
    return {**before, **value} if isinstance(before, dict) and isinstance(value, dict) else value


def _refused(error: ValidationError) -> InvalidInput:
    """The first thing that is wrong, by its key."""
    first = error.errors(include_url=False, include_context=False)[0]
    key = ".".join(str(part) for part in first["loc"]) or "policy"
    why = first["msg"].removeprefix("Value error, ")
    what = "" if first["type"] == "value_error" else f" (it is {first['input']!r:.80})"
    return InvalidInput(f"policy key {key}: {why}{what}", path=key)
