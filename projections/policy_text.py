"""A policy written as TOML: what is not said is as in the preset that it begins with."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from ledger.errors import InvalidInput, nearest
from ledger.parts import Frozen
from projections.policy import OF_THE_TABLE, Compaction, Policy, StubRules, SummaryChoice
from projections.presets import preset_named
from projections.state_block import BlockOptions
from projections.verdicts.rules import FunctionRule, PatternRule, ProvidedRule

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

PRESET: Final = "preset"
"""The key that names the preset to begin with."""

_TABLES: Final[dict[str, type[Frozen]]] = {
    "stubs": StubRules,
    "compaction": Compaction,
    "compaction.by": SummaryChoice,
    "state": BlockOptions,
}
_RULES: Final[dict[str, type[Frozen]]] = {"provided": ProvidedRule, "pattern": PatternRule, "function": FunctionRule}


def policy_from_toml(text: str) -> Policy:
    """The policy of a TOML text.

    Keys are the fields of ``Policy``, tables those of its parts (``[stubs]``, ``[compaction]``, ``[state]``, ``[[rules]]``);
    ``preset`` names what it begins with. A rule may be the name of a provided one. ``false`` for ``compaction`` or ``state``
    leaves it out. ``InvalidInput`` names the key and what is wrong with it, a line for each mistake (``mistakes`` has them).
    """
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"the policy is no TOML: {error}", path="policy") from None
    return policy_from(given)


def policy_from(given: dict[str, Any]) -> Policy:
    """The policy of plain values, as TOML or JSON hold them."""
    base, found = _begun(given)
    for key, value in given.items():
        if key in base:
            base[key] = _merged(base[key], value, key)
        elif key != PRESET:
            found.append(_no_key(key, base))
    try:
        policy = Policy.model_validate(base)
    except ValidationError as error:
        wrong = [_wrong(one) for one in error.errors(include_url=False, include_context=False)]
        raise _refused([*found, *wrong], given) from None
    if found:
        raise _refused(found, given)
    return policy


def _begun(given: dict[str, Any]) -> tuple[dict[str, Any], list[InvalidInput]]:
    """The values that a policy begins with; those of the default one where the preset is none."""
    name = given.get(PRESET, "default")
    if not isinstance(name, str):
        return Policy().model_dump(mode="json"), [InvalidInput(f"preset is {name!r:.80}: give the name of one", path=PRESET)]
    try:
        return preset_named(name).model_dump(mode="json"), []
    except InvalidInput as error:
        return Policy().model_dump(mode="json"), [error]


def _refused(found: list[InvalidInput], given: dict[str, Any]) -> InvalidInput:
    """All that is wrong, in the order in which it was given, a line each; ``path`` is the key of the first."""
    order = {key: place for place, key in enumerate(given)}
    in_order = sorted(found, key=lambda one: order.get(_table(one), len(order)))
    mistakes = tuple(str(one) for one in in_order)
    return InvalidInput("\n".join(mistakes), path=in_order[0].path, mistakes=mistakes)


def _table(mistake: InvalidInput) -> str:
    return str(mistake.path).partition(".")[0]


def _merged(before: Any, value: Any, key: str) -> Any:
    if key in ("compaction", "state") and value is False:
        return None
    if key == "rules" and isinstance(value, list):
        return [{"type": "provided", "name": rule} if isinstance(rule, str) else rule for rule in value]
    return {**before, **value} if isinstance(before, dict) and isinstance(value, dict) else value


def _no_key(key: str, base: dict[str, Any]) -> InvalidInput:
    near = nearest(key, base)
    hint = f": did you mean {near[0]}?" if near else f": a policy has {', '.join(base)}"
    return InvalidInput(f"a policy has no key {key}{hint}", path=key)


def _wrong(error: ErrorDetails) -> InvalidInput:
    """One thing that is wrong, by its key."""
    place = [str(part) for part in error["loc"]]
    if error["type"] == OF_THE_TABLE:
        del place[-1:]
    near = _near(place) if error["type"] == "extra_forbidden" else ""
    if place[:1] == ["rules"]:
        del place[2:3]  # the type of the rule, which is no key
    key = ".".join(place) or "policy"
    match error["type"]:
        case "union_tag_not_found":
            why = f'give its type: {key}.type = "pattern", "function" or "provided"'
        case "union_tag_invalid":
            why = f'there is no type {error["input"]["type"]!r:.80}: {key}.type is "pattern", "function" or "provided"'
        case "tuple_type":
            why = f"give a list (it is {error['input']!r:.80})"
        case "model_type":
            either = ", or false to leave it out" if place[0] in ("compaction", "state") and len(place) == 1 else ""
            why = f"give a table of keys{either} (it is {error['input']!r:.80})"
        case "extra_forbidden":
            why = f"there is no such key{near}"
        case found if found in ("value_error", OF_THE_TABLE):
            why = error["msg"].removeprefix("Value error, ").removeprefix(f"{place[-1] if place else key}: ")
        case _:
            why = f"{error['msg']} (it is {error['input']!r:.80})"
    return InvalidInput(f"policy key {key}: {why}", path=key)


def _near(place: list[str]) -> str:
    """The key that is meant, where one of the same table is like it."""
    *names, wrong = place
    table = _RULES[names[2]] if names[0] == "rules" else _TABLES[".".join(name for name in names if not name.isdigit())]
    near = nearest(wrong, table.model_fields)
    return f": did you mean {near[0]}?" if near else ""
