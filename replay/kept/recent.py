"""Values of a ledger that were used last, each with the versions at which it holds: bounded in number and in weight."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Iterable
from typing import Final, Generic, TypeVar

Kept = TypeVar("Kept")

_NO_END: Final = sys.maxsize


class Recent(Generic[Kept]):
    """The values that were used last, by number, as many and as heavy as may be.

    A value holds from one version on, and up to the one before another at which it changed.
    """

    def __init__(self, most: int, heaviest: int = 0) -> None:
        self._most = most
        self._heaviest = heaviest
        self._weight = 0
        self._kept: OrderedDict[int, tuple[int, int, Kept, int]] = OrderedDict()

    def at(self, version: int, numbers: Iterable[int]) -> dict[int, Kept]:
        """The values of some numbers, in the order in which these are given, as far as they are kept and hold at a version."""
        get, use = self._kept.get, self._kept.move_to_end
        found = {
            number: entry[2] for number in numbers if (entry := get(number)) is not None and entry[0] <= version < entry[1]
        }
        for number in found:
            use(number)
        return found

    def put(self, number: int, value: Kept, *, since: int, until: int | None = None, weight: int = 0) -> None:
        """Keep a value, unless it is too heavy by itself; those that were used longest ago give way.

        ``since``: the version from which on it holds; ``until``: the one at which it changes, as far as that is known.
        """
        if number in self._kept:
            self._weight -= self._kept.pop(number)[3]
        if weight > self._heaviest:
            return
        self._kept[number] = since, _NO_END if until is None else until, value, weight
        self._weight += weight
        while len(self._kept) > self._most or self._weight > self._heaviest:
            self._weight -= self._kept.popitem(last=False)[1][3]

    def changed(self, number: int, version: int) -> None:
        """Say that what a number stands for changed at a version."""
        entry = self._kept.get(number)
        if entry is not None and entry[0] < version < entry[1]:
            self._kept[number] = (entry[0], version, entry[2], entry[3])
