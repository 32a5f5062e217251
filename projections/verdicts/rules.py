"""The rules of a policy, as frozen data: provided ones by name, patterns, and registered functions."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pydantic import Field, field_validator

from ledger.events import Role
from ledger.parts import Name
from projections.policy_values import PolicyPart, WholeNumber
from projections.verdicts.patterns import check_pattern
from projections.verdicts.provided import CATALOGUE, PROVIDED
from projections.verdicts.verdict import Ruled


class ProvidedRule(PolicyPart):
    """One of the provided rules, by its name."""

    type: Literal["provided"] = "provided"
    name: Name

    @field_validator("name")
    @classmethod
    def _is_provided(cls, name: str) -> str:
        if name not in PROVIDED:
            raise ValueError(f"name: no rule {name!r} is provided: take one of {', '.join(PROVIDED)}")
        return name


class PatternRule(PolicyPart):
    """Turns in whose text a regular expression is found, those of one ``role`` only where that is given.

    Of a long text the beginning and the end are searched, ``own_words.LOOKED_AT_CHARACTERS`` each.
    """

    type: Literal["pattern"] = "pattern"
    name: Name
    verdict: Ruled
    pattern: str
    role: Role | None = None

    @field_validator("pattern")
    @classmethod
    def _is_safe(cls, pattern: str) -> str:
        return check_pattern(pattern)

    @property
    def compiled(self) -> re.Pattern[str]:
        """The expression; ``re`` remembers it."""
        return re.compile(self.pattern)


class FunctionRule(PolicyPart):
    """A Python function that ``register_rule(name, version)`` registered."""

    type: Literal["function"] = "function"
    name: Name
    version: WholeNumber = Field(ge=1)


Rule = Annotated[ProvidedRule | PatternRule | FunctionRule, Field(discriminator="type")]
"""One rule of a policy; the first that claims a turn gives the verdict."""

DEFAULT_RULES: Final[tuple[Rule, ...]] = tuple(ProvidedRule(name=provided.name) for provided in CATALOGUE)
"""All provided rules, in their order."""
