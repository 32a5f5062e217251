"""What a way to ask is made of, in any language.

Sentences come in lower case, with straight apostrophes. Every repetition in a pattern has a bound, so that no text takes long.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """A way to ask. ``pattern`` has a group ``verb``.

    It does not count where ``before`` is found in the clause in front of the verb, or ``after`` where the match ends.
    """

    name: str
    pattern: re.Pattern[str]
    before: re.Pattern[str] | None = None
    after: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Language:
    """The rules of a language; a text without any of the ``stems`` breaks none of them, and need not be looked at closely."""

    name: str
    stems: tuple[str, ...]
    rules: tuple[Rule, ...]


def rule(name: str, pattern: str, before: str | None = None, after: str | None = None) -> Rule:
    """A rule, from the sources of its patterns."""
    compiled = [None if text is None else re.compile(text) for text in (before, after)]
    return Rule(name, re.compile(pattern), *compiled)
