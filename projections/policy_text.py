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
        raise _refused(error, base) from None


def _merged(before: Any, value: Any, key: str) -> Any:
    if key in ("compaction", "state") and value is False:
        return None
    if key == "rules" and isinstance(value, list):
        return [{"type": "provided", "name": rule} if isinstance(rule, str) else rule for rule in value]
    return {**before, **value} if isinstance(before, dict) and isinstance(value, dict) else value


def _refused(error: ValidationError, given: dict[str, Any]) -> InvalidInput:
    """The first thing that is wrong, by its key."""
    first = error.errors(include_url=False, include_context=False)[0]
    place = [str(part) for part in first["loc"]]
    if place[:1] == ["rules"]:
        del place[2:3]  # the type of the rule, which is no key
    key = ".".join(place) or "policy"
    match first["type"]:
        case "union_tag_not_found":
            why = f'give its type: {key}.type = "pattern", "function" or "provided"'
        case "extra_forbidden":
            why = f"there is no such key{_near(given, place)}"
        case "value_error":
            why = first["msg"].removeprefix("Value error, ").removeprefix(f"{place[-1] if place else key}: ")
        case _:
            why = f"{first['msg']} (it is {first['input']!r:.80})"
    return InvalidInput(f"policy key {key}: {why}", path=key)


def _near(given: dict[str, Any], place: list[str]) -> str:
    """The key that is meant, where one of those beside it is like it."""
    table = given.get(place[0])
    others = [name for name in table if name != place[-1]] if isinstance(table, dict) and len(place) == 2 else []
    near = nearest(place[-1], others)
    return f": did you mean {near[0]}?" if near else ""
