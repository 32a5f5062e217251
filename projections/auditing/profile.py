"""Where in a conversation its tokens are, by verdict: a bounded number of steps, however long it is."""

from __future__ import annotations

from typing import Final

from projections.auditing.audit import Step
from projections.verdicts.verdict import Verdict

MOST_STEPS: Final = 128
"""How many steps a profile has at most; twice as long ones, all alike, where the conversation needs more."""


class Profile:
    """Adds up the tokens of turns in steps of a width that doubles as the conversation grows."""

    def __init__(self) -> None:
        self._width = 1
        self._last = 0
        self._steps: list[dict[Verdict, int]] = []

    def add(self, turn: int, verdict: Verdict, tokens: int) -> None:
        """Take a turn; turns come in order, numbered from 1."""
        while (turn - 1) // self._width >= MOST_STEPS:
            self._double()
        place = (turn - 1) // self._width
        self._steps += [{} for _ in range(place + 1 - len(self._steps))]
        self._steps[place][verdict] = self._steps[place].get(verdict, 0) + tokens
        self._last = turn

    def _double(self) -> None:
        self._width *= 2
        pairs = (self._steps[place : place + 2] for place in range(0, len(self._steps), 2))
        self._steps = [
            {verdict: sum(step.get(verdict, 0) for step in pair) for step in pair for verdict in step} for pair in pairs
        ]

    def steps(self) -> tuple[Step, ...]:
        """The steps so far, in order."""
        width = self._width
        return tuple(
            Step(place * width + 1, min(self._last, (place + 1) * width), dict(sorted(step.items())))
            for place, step in enumerate(self._steps)
        )
