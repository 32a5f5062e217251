"""What a policy is made of: parts that are always checked, whole numbers, and yes or no.

Neither of these is read as the other, nor out of a fraction or a text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BeforeValidator

from ledger.parts import Frozen, TurnNumber


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


class PolicyPart(Frozen):
    """A policy, or a part of one."""

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other values, checked like a policy that is made anew: ``ValidationError`` for what may not stand there.

        What was worked out of the old values is not copied.
        """
        copied = super().model_copy(deep=deep)
        values = {name: getattr(copied, name) for name in copied.model_fields_set}
        return self.model_validate(values | dict(update or {}))
