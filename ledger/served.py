"""A window as it is recorded when it was served."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What is recorded of a window: see ``events.WindowRecorded``; ``tools`` are the bytes of the definitions of its tools."""

    ledger: str
    policy: str
    declared: str
    of_version: int
    form: str
    engine: str
    erasures: int
    bytes_digest: str
    tokens: int
    encoding: str
    plan: str
    judged_at: str | None
    rules: int | None
    tools: bytes | None


class Servable(Protocol):
    """A window that can be recorded as served."""

    def served(self) -> Served:
        """What is recorded of it."""
        ...
