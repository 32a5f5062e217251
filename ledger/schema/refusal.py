"""Why a value is not one that its field takes."""

from __future__ import annotations


class Refused(Exception):
    """``rule`` names what the value breaks, ``why`` says how, to stand after the value."""

    def __init__(self, rule: str, why: str) -> None:
        super().__init__(why)
        self.rule = rule
        self.why = why
