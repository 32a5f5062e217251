"""Rules that a user wrote as Python functions, by name and version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ledger.errors import InvalidInput
from projections.errors import PolicyUnavailable
from projections.verdicts.verdict import Ruled, Surroundings

RuleFunction = Callable[[Surroundings], Ruled | None]
"""A pure function of a turn and its neighbours: a verdict, or None if the rule does not claim the turn."""

_FUNCTIONS: Final[dict[tuple[str, int], RuleFunction]] = {}


def register_rule(name: str, version: int) -> Callable[[RuleFunction], RuleFunction]:
    """Register the decorated function as the rule ``name`` in ``version``, for policies that name it.

    A policy names both, so that its windows can be built again: what changes its answers gets a new version. Raises
    ``InvalidInput`` if another function has this name and version.
    """

    def register(function: RuleFunction) -> RuleFunction:
        known = _FUNCTIONS.setdefault((name, version), function)
        if known is not function:
            raise InvalidInput(
                f"the rule {name!r} has a function of version {version} already: register this one as version {version + 1}",
                path="version",
                name=name,
                version=version,
            )
        return function

    return register


def registered_rule(name: str, version: int) -> RuleFunction:
    """The function of a rule; raises ``PolicyUnavailable``."""
    if (name, version) not in _FUNCTIONS:
        versions = sorted(known for registered, known in _FUNCTIONS if registered == name)
        there = f"it is registered as version {', '.join(map(str, versions))}" if versions else "no function has this name"
        raise PolicyUnavailable(
            f"the policy needs the rule {name!r} of version {version}, but {there}: in Python, import the module that registers"
            " it before; on the command line, name it with --rules MODULE",
            name=name,
            version=version,
            versions=tuple(versions),
        )
    return _FUNCTIONS[name, version]
