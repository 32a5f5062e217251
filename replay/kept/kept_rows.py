"""Where what is derived from one ledger is kept, as long as nothing of it is forgotten."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

from ledger.errors import StoreError
from ledger.store import Store
from replay.kept.memory import Memory
from replay.loading import Loaded
from replay.windows.middles import Shelf

Result = TypeVar("Result")

_MOST: int = 4_096


def rows_of(loaded: Loaded, memory: Memory) -> Shelf:
    """Where what is derived from a ledger is kept, for those who know the forgettings that ``loaded`` knows.

    ``memory``: what this process remembers of the ledger, from its shelf. What is past its retention is judged anew at every
    moment: nothing is kept then, nor taken from what was kept before.
    """
    return KeptRows(loaded, memory) if loaded.nothing_is_due else OwnResults()


class KeptRows:
    """The derived rows of one ledger. What cannot be kept, as on a standby, is made again by every process."""

    def __init__(self, loaded: Loaded, memory: Memory) -> None:
        self._store: Store = weakref.proxy(loaded.store.store)  # what is remembered does not keep a store alive
        self._head = loaded.head
        self._forgettings = loaded.erasures
        self._memory = memory

    def recall(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """What this process worked out of this ledger, as long as nothing more of it is forgotten."""
        return self._memory.recall(key, make)

    def get(self, kind: str, key: str) -> bytes | None:
        """A row."""
        return self._store.derived_get(self._head.ledger, kind, f"{self._forgettings}/{key}")

    def put(self, kind: str, rows: Mapping[str, bytes]) -> None:
        """Keep rows, if the ledger is still what it was and something can be written."""
        named = {f"{self._forgettings}/{key}": value for key, value in rows.items()}
        try:
            self._store.derived_put_many(self._head.ledger, kind, named, erasures=self._head.erasures)
        except StoreError:  # what cannot be kept is no less true
            return


class OwnResults:
    """What one answer works out, for itself alone."""

    def __init__(self) -> None:
        self._memory = Memory(_MOST)

    def recall(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """What this answer worked out already."""
        return self._memory.recall(key, make)

    def get(self, kind: str, key: str) -> bytes | None:
        """Nothing is kept."""
        return None

    def put(self, kind: str, rows: Mapping[str, bytes]) -> None:
        """Nothing is kept."""
