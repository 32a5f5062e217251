"""Round numbers along an axis."""

from __future__ import annotations

import math


def ticks(most: int, *, about: int = 4) -> list[int]:
    """Round whole numbers from 0 to ``most`` or just beyond it, about as many as asked for."""
    step = _round_step(max(most, 1) / about)
    return [step * place for place in range(math.ceil(max(most, 1) / step) + 1)]


def _round_step(least: float) -> int:
    """The least of 1, 2, 5, 10, 20, 50 … that is no less."""
    power = 10 ** math.floor(math.log10(max(least, 1)))
    return int(next(power * factor for factor in (1, 2, 5, 10) if power * factor >= max(least, 1)))


def short(number: int) -> str:
    """A number as an axis shows it: 850, 12k, 1.5M."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.1f}".rstrip("0").rstrip(".") + unit
    return str(number)
