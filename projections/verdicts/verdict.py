"""A verdict, the rule that gave it, and what a rule may look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from ledger import window_events
from projections.transcript import Turn

Ruled = window_events.Verdict
"""The verdicts that a rule may give: what was forgotten is no matter of rules, and whoever reads a window is told of it."""

Verdict = Literal[Ruled, "never"]
"""What becomes of a turn that left the tail: verbatim, as part of a shorter text, as a stand-in that can be fetched, not at
all; ``never`` for what may not be kept at all, since it was forgotten.
"""

LOOK_BACK: Final = 6
"""So many turns before a turn are looked at, at most."""


class Judgement(NamedTuple):
    """A verdict and its reason: the name of the rule, "classified by person" or "by model", "forgotten", or "otherwise"."""

    verdict: Verdict
    rule: str


FORGOTTEN: Final = Judgement("never", "forgotten")
"""The verdict on a turn that was forgotten, whatever else is said of it."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A turn and its nearest neighbours, in order: at most ``LOOK_BACK`` before it, after it what the policy looks at."""

    before: tuple[Turn, ...]
    turn: Turn
    after: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Classified:
    """What stands of the recorded classifications of a turn."""

    verdict: Ruled
    by: Literal["person", "model"]
