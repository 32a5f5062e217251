"""Where the time comes from: given from outside, so that tests and imports can give their own."""

from __future__ import annotations

import time
from collections.abc import Callable

Clock = Callable[[], int]
"""Microseconds since 1970 (UTC)."""


def system_clock() -> int:
    """The computer's clock."""
    return time.time_ns() // 1000
