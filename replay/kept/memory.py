"""What this process worked out last, by all that it depends on: what is remembered is what would come again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Final, TypeVar

Result = TypeVar("Result")

_MISSING: Final = object()


class Memory:
    """The results that were used last, at most ``most`` of them. Threads may share it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = Lock()

    def recall(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """The result of a key, made where it is not remembered."""
        with self._lock:
            found = self._kept.get(key, _MISSING)
            if found is not _MISSING:
                self._kept.move_to_end(key)
                known: Result = found
                return known
        made = make()
        with self._lock:
            self._kept[key] = made
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made
