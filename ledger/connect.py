"""From a path or a URL to a store, and from a store to its ledgers."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Self

from ledger.clock import Clock, system_clock
from ledger.errors import InvalidInput
from ledger.following import check_position, follow
from ledger.forgetting_commands import ForgettingCommands
from ledger.given import check_name, known_head
from ledger.ledger import Ledger
from ledger.reading import FeedReader
from ledger.record import Recorded
from ledger.redaction import Redactor
from ledger.schema import Schema, StateModel
from ledger.sqlite import open_sqlite
from ledger.sqlite_connections import MEMORY, Journal
from ledger.store import Head, Lag, Store
from ledger.writer import Writer

_JOURNAL: Final = re.compile(r"\?journal=(\w*)$")
_JOURNALS: Final[dict[str, Journal]] = {"wal": "wal", "delete": "delete"}
_SCHEME: Final = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):(?=//)")


class Ledgers(ForgettingCommands):
    """An open store and its ledgers. Close it, or use it as a context manager."""

    def __init__(self, store: Store, clock: Clock, redactor: Redactor | None = None) -> None:
        super().__init__(store, clock)
        self._redactor = redactor
        self._resume()

    def __repr__(self) -> str:
        return f"<ledgers of {self.store!r}>"

    def ledger(
        self,
        name: str,
        *,
        task: str | None = None,
        schema: str | type[StateModel] | Schema | Mapping[str, Any] | None = None,
        parent: str | None = None,
    ) -> Ledger:
        """The handle of a ledger, which need not exist yet. Appends nothing, unless a task, a schema or a parent is given.

        ``schema``: a ``StateModel``, a ``Schema`` or a JSON Schema, which is put in force (see ``Ledger.declare``); or only a
        name.
        """
        handle = Ledger(Writer(self.store, check_name(name), self.clock, self._redactor), self.forget)
        named = schema if isinstance(schema, str) else None
        if task is not None or named is not None or parent is not None:
            handle.open(task=task, schema=named, parent=parent)
        if schema is not None and not isinstance(schema, str):
            handle.declare(schema)
        return handle

    def head(self, name: str) -> Head:
        """Where a ledger is; ``UnknownLedger`` names the nearest ones."""
        return known_head(self.store, name)

    def heads(self) -> list[Head]:
        """All ledgers, in the order in which they were made."""
        return self.store.heads()

    def follow(
        self, after: int = 0, *, stop: threading.Event | None = None, idle_seconds: float | None = None
    ) -> Iterator[Recorded]:
        """Every event of every ledger with a position above ``after``, once and in order, then those to come.

        Ends when ``stop`` is set, or when nothing came for ``idle_seconds`` (0: read what is there and end). Keep
        ``envelope.position`` of the last event that was dealt with and give it to resume. ``StoreError`` where the store cannot
        be reached, ``UnknownEventType`` for an event that this release does not know.
        """
        check_position(after)
        followed = follow(self.store, after=after, stop=stop, idle_seconds=idle_seconds)
        return map(FeedReader(self.store).recorded, followed)

    def lag(self, after: int) -> Lag:
        """How far a follower is behind that has dealt with everything up to the position ``after``."""
        return self.store.lag(after=check_position(after))

    def close(self) -> None:
        """Release the store's connections."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


def connect(where: str | os.PathLike[str], *, clock: Clock = system_clock, redact: Redactor | None = None) -> Ledgers:
    """Open a store, making it if there is none.

    ``where`` is a path, ``sqlite:///file.db`` (``sqlite:////absolute/file.db``; with ``?journal=delete`` at its end for a
    rollback journal), ``:memory:`` or ``postgresql://…`` (as libpq has it, with ``prepare=off`` behind a pooler in transaction
    mode). ``clock`` gives microseconds since 1970 (UTC). A SQLite store on a file system that is shared or virtual gets a
    rollback journal by itself, and a ``SharedFilesystem`` warning. ``redact`` keeps secrets out of what is recorded through
    these handles; without it all is recorded as it is.

    ``InvalidInput`` for what is no place and for other kinds of URL, ``NotAStore`` where something else lies, ``StoreError``
    where the store cannot be opened.
    """
    place = _place(where)
    found = _SCHEME.match(place)
    if found is None:
        return Ledgers(_open_path(place), clock, redact)
    scheme = found[1].lower()
    if scheme not in _OPENERS:
        raise InvalidInput(
            f"a store at {scheme}:// is not known: give a path, :memory: or one of {', '.join(f'{s}://' for s in _OPENERS)}",
            path="store",
        )
    return Ledgers(_OPENERS[scheme](place), clock, redact)


def _place(where: object) -> str:
    """The text of an address; ``InvalidInput`` for what would make a file that nobody meant."""
    place = os.fspath(where) if isinstance(where, os.PathLike) else where
    if not isinstance(place, str):
        raise InvalidInput(f"{where!r} is not the place of a store: give a path, :memory: or a URL", path="store")
    if not place.strip():
        raise InvalidInput("the path of the store is empty: give a file name, or :memory:", path="store")
    scheme, _, rest = place.partition(":")
    if scheme.lower() in _OPENERS and not rest.startswith("//"):
        raise InvalidInput(
            f"store {place!r} has no // after its scheme: write {_EXAMPLES[scheme.lower()]}; a file of that name is ./{place}",
            path="store",
        )
    return place


def sqlite_file(where: str) -> str | None:
    """The path of the SQLite file at an address; None where there is none (in memory, or another kind of store)."""
    found = _SCHEME.match(where)
    if found is None:
        return None if where == MEMORY else where
    if found[1].lower() != "sqlite":
        return None
    path = _JOURNAL.sub("", where[len("sqlite://") :])
    return None if path.endswith(MEMORY) else path.removeprefix("/")


def _open_path(path: str) -> Store:
    return open_sqlite(path)


def _open_sqlite_url(url: str) -> Store:
    path = url[len("sqlite://") :]
    if path != MEMORY and not path.startswith("/"):
        raise InvalidInput(f"store {url!r}: write {_EXAMPLES['sqlite']}", path="store")
    asked = _JOURNAL.search(path)
    if asked is not None and asked[1] not in _JOURNALS:
        raise InvalidInput(f"journal={asked[1]} in the address of the store: give {' or '.join(_JOURNALS)}", path="store")
    file = _JOURNAL.sub("", path).removeprefix("/")
    if not file.strip():
        raise InvalidInput(f"the path in {url!r} is empty: write {_EXAMPLES['sqlite']}, or :memory:", path="store")
    return open_sqlite(file, None if asked is None else _JOURNALS[asked[1]])


def _open_postgres_url(url: str) -> Store:
    from ledger.postgres import open_postgres  # not needed by those who use SQLite, and slow to import

    return open_postgres(url)


_OPENERS: Final[dict[str, Callable[[str], Store]]] = {
    "sqlite": _open_sqlite_url,
    "postgresql": _open_postgres_url,
    "postgres": _open_postgres_url,
}
"""How a store is opened, by the scheme of its URL."""

_SQLITE_URL: Final = "sqlite:///file.db, or sqlite:////absolute/file.db"
_EXAMPLES: Final = {"sqlite": _SQLITE_URL, "postgresql": "postgresql://host/database", "postgres": "postgresql://host/database"}
