"""From a path or a URL to a store, and from a store to its ledgers."""

from __future__ import annotations

import re
from typing import Final

from ledger.clock import Clock, system_clock
from ledger.errors import InvalidInput, UnknownLedger, nearest
from ledger.ledger import Ledger, check_name
from ledger.sqlite import open_sqlite
from ledger.store import Head, Store
from ledger.writer import Writer

_SCHEME: Final = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):(?=//)")
_SQLITE: Final = "sqlite:///"


class Ledgers:
    """An open store and its ledgers. Close it, or use it as a context manager."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.store = store
        self._clock = clock

    def ledger(self, name: str, *, task: str | None = None, schema: str | None = None, parent: str | None = None) -> Ledger:
        """The handle of a ledger, which need not exist yet. Appends nothing, unless a task, a schema or a parent is given."""
        handle = Ledger(Writer(self.store, check_name(name), self._clock))
        if task is not None or schema is not None or parent is not None:
            handle.open(task=task, schema=schema, parent=parent)
        return handle

    def head(self, name: str) -> Head:
        """Where a ledger is; ``UnknownLedger`` names the nearest ones."""
        head = self.store.head(check_name(name))
        if head is None:
            near = nearest(name, (known.name for known in self.store.heads()))
            raise UnknownLedger(
                f"no ledger {name!r} in this store (nearest: {', '.join(near) or 'none'})", ledger=name, nearest=near
            )
        return head

    def heads(self) -> list[Head]:
        """All ledgers, in the order in which they were made."""
        return self.store.heads()

    def close(self) -> None:
        """Release the store's connections."""
        self.store.close()

    def __enter__(self) -> Ledgers:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


def connect(where: str, *, clock: Clock = system_clock) -> Ledgers:
    """Open a store, making it if there is none.

    ``where`` is a path, ``sqlite:///file.db`` (``sqlite:////absolute/file.db``) or ``:memory:``. ``clock`` gives
    microseconds since 1970 (UTC). ``InvalidInput`` for other kinds of URL, ``StoreError`` where the store cannot be opened.
    """
    place = str(where)
    found = _SCHEME.match(place)
    if found is None:
        path = place
    elif place.startswith(_SQLITE):
        path = place.removeprefix(_SQLITE)
    elif place == "sqlite://:memory:":
        path = ":memory:"
    else:
        raise InvalidInput(f"store {place!r}: give a path, sqlite:///file.db or :memory:", path="store")
    if not path:
        raise InvalidInput("the path of the store is empty: give a file name, or :memory:", path="store")
    return Ledgers(open_sqlite(path), clock)
