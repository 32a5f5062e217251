"""What all events share."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from ledger.parts import Frozen, TurnNumber


class EventBase(Frozen):
    """What all events share: the turn that they belong to, if any."""

    type_version: ClassVar[int] = 1
    turn: TurnNumber | None = Field(default=None, exclude=True)
