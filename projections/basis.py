"""What an answer rests on: the same basis gives the same bytes, for ever."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ENGINE: Final = "1"
"""Version of the projections' code: it rises when the same events and policy would give other bytes."""


@dataclass(frozen=True, slots=True)
class Basis:
    """Ledger, version and its time (RFC 3339, UTC; None before the first event), policy digest, engine, count of erasures."""

    ledger: str
    version: int
    recorded_at: str | None
    policy: str | None
    engine: str
    erasures: int
