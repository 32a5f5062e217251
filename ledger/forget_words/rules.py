"""What a way to ask is made of, in any language.

Sentences come in lower case, with straight apostrophes. Every repetition in a pattern has a bound, so that no text takes long.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Rule:
    """A way to ask, as sources of patterns, which are compiled when a text is looked at closely. ``asks`` has a group ``verb``.

    It does not count where ``not_before`` is found in the clause in front of the verb, or ``not_after`` where the match ends.
    """

    name: str
    asks: str
    not_before: str | None = None
    not_after: str | None = None

    @property
    def pattern(self) -> re.Pattern[str]:
        """How somebody asks."""
        return _compiled(self.asks)

    @property
    def before(self) -> re.Pattern[str] | None:
        """What makes it none, in front of the verb."""
        return None if self.not_before is None else _compiled(self.not_before)

    @property
    def after(self) -> re.Pattern[str] | None:
        """What makes it none, where the match ends."""
        return None if self.not_after is None else _compiled(self.not_after)


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)


@dataclass(frozen=True, slots=True)
class Language:
    """The rules of a language; a text without any of the ``stems`` breaks none of them, and need not be looked at closely."""

    name: str
    stems: tuple[str, ...]
    rules: tuple[Rule, ...]
