"""What an answer rests on: the same basis gives the same bytes, for ever."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from projections.wire import ABSENT

ENGINE: Final = "6"
"""Version of the projections' code: it rises when the same events and policy would give other bytes."""


@dataclass(frozen=True, slots=True)
class Basis:
    """Ledger, version and its time (RFC 3339, UTC; None before the first event), policy digest, engine, count of erasures.

    ``erasures`` counts the forgettings of the whole ledger, those after the version too. ``judged_at`` is the time (RFC 3339,
    UTC) at which it was judged what is past its retention, by the rules up to the version ``rules``; both are None where the
    ledger has no such rule.
    """

    ledger: str
    version: int
    recorded_at: str | None
    policy: str | None
    engine: str
    erasures: int
    judged_at: str | None = field(default=None, metadata=ABSENT)
    rules: int | None = field(default=None, metadata=ABSENT)
