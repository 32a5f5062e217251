"""What stands in a policy: whole numbers, and yes or no. Neither is read as the other, nor out of a fraction or a text."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator

from ledger.parts import TurnNumber


def _whole_number(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError(f"give a whole number (it is {value!r:.80})")


def _yes_or_no(value: object) -> object:
    if isinstance(value, bool):
        return value
    raise ValueError(f"give true or false (it is {value!r:.80})")


WholeNumber = Annotated[int, BeforeValidator(_whole_number)]
"""An integer that was given as one."""

YesOrNo = Annotated[bool, BeforeValidator(_yes_or_no)]
"""True or False, not what counts as one of them elsewhere."""

PinnedTurn = Annotated[TurnNumber, BeforeValidator(_whole_number)]
"""The number of a turn, given as an integer."""
