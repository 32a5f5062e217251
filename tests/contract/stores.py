"""The catalogue of stores that the contract is tested on: a new store is one line here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from ledger.clock import Clock, system_clock
from ledger.connect import Ledgers, connect
from tests.postgres.server import databases


class OpenStore(Protocol):
    """Opens a new handle on the same store at every call; ``address`` is what another process gives to ``connect``."""

    @property
    def address(self) -> str: ...

    def __call__(self, clock: Clock = system_clock) -> Ledgers: ...

    def close(self) -> None: ...


class AtAddress:
    """A store that stands at an address, for every handle and every process."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._opened: list[Ledgers] = []

    def __call__(self, clock: Clock = system_clock) -> Ledgers:
        self._opened.append(connect(self.address, clock=clock))
        return self._opened[-1]

    def close(self) -> None:
        """Close every handle that was opened."""
        for handle in self._opened:
            handle.close()


class InDatabase(AtAddress):
    """A store in a database of the test's PostgreSQL."""

    def __init__(self) -> None:
        super().__init__(databases().new())

    def close(self) -> None:
        """Close every handle, and let the next test have the database."""
        super().close()
        databases().give_back(self.address)


class InMemory(AtAddress):
    """A store that ends with its handle: every other handle shares the first one's connection."""

    def __init__(self) -> None:
        super().__init__(":memory:")

    def __call__(self, clock: Clock = system_clock) -> Ledgers:
        return Ledgers(self._opened[0].store, clock) if self._opened else super().__call__(clock)


CATALOGUE: Final[dict[str, Callable[[Path], OpenStore]]] = {
    "sqlite-file": lambda folder: AtAddress(str(folder / "record.db")),
    "sqlite-memory": lambda _: InMemory(),
    "postgres": lambda _: InDatabase(),
}

NOT_SHARED: Final = {"sqlite-memory": "its database is one connection of one process, and ends with it"}
"""Stores that no second connection or process can reach, and why: left out of the tests that need one."""
