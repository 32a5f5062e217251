"""Where what is derived from one ledger is kept, as long as nothing of it is forgotten."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, TypeVar

from ledger.errors import StoreError
from ledger.store import Store
from replay.memory import Memory

Result = TypeVar("Result")

_MEMORY: Final = Memory(16_384)


class KeptRows:
    """The derived rows of one ledger. What cannot be kept, as on a standby, is made again by every process."""

    def __init__(self, store: Store, ledger: bytes, *, erasures: int) -> None:
        self._store = store
        self._ledger = ledger
        self._erasures = erasures

    def recall(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """What this process worked out of this ledger, as long as nothing more of it is forgotten.

        A ledger's id is random, so no store need be named.
        """
        return _MEMORY.recall((self._ledger, self._erasures, key), make)

    def get(self, kind: str, key: str) -> bytes | None:
        """A row."""
        return self._store.derived_get(self._ledger, kind, f"{self._erasures}/{key}")

    def put(self, kind: str, key: str, value: bytes) -> None:
        """Keep a row, if the ledger is still what it was."""
        try:
            self._store.derived_put(self._ledger, kind, f"{self._erasures}/{key}", value, erasures=self._erasures)
        except StoreError:
            return
