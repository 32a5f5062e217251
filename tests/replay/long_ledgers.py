"""How many events an answer reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ledger import Ledgers
from ledger.store import Selection, Store, Stored


class Counted:
    """A store that counts the events that are read with their content."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.read_rows = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def read(self, ledger: bytes, selection: Selection) -> Iterator[Stored]:
        """See ``Store``."""
        for row in self._store.read(ledger, selection):
            self.read_rows += 1
            yield row


@contextmanager
def reads_only(ledgers: Ledgers, most: int) -> Iterator[Ledgers]:
    """The same ledgers; what is asked of them inside must not read more than so many events."""
    counted: Any = Counted(ledgers.store)
    yield Ledgers(counted, ledgers.clock)
    assert counted.read_rows <= most, f"read {counted.read_rows} events, not {most} at most"
