"""The derived rows of one kind of one ledger, with those that are only in memory because nobody could or would write them yet.

They stand below the number of forgettings that were taken into account, so that rows from before a forgetting are never read
after it, also while it is not carried out yet.
"""

from __future__ import annotations

from collections.abc import Mapping

from ledger.deriving import Derived, beyond
from ledger.errors import StoreError
from ledger.store import Store
from replay.kept.overtaken import Overtaken


class DerivedRows:
    """Rows by their keys. ``forgettings``: how many forgettings were taken into account."""

    def __init__(self, store: Store, ledger: bytes, *, kind: str, forgettings: int) -> None:
        self._store = store
        self._ledger = ledger
        self._kind = kind
        self._prefix = f"{forgettings}/"
        self._unkept: dict[str, bytes] = {}
        self._erasures = purges(self._store, self._ledger)

    def begin_again(self) -> None:
        """Forget what is in memory: the rows in the store were purged."""
        self._unkept.clear()
        self._erasures = purges(self._store, self._ledger)

    def get(self, key: str) -> bytes | None:
        """A row; None if there is none."""
        return self._unkept.get(key) or self._store.derived_get(self._ledger, self._kind, self._prefix + key)

    def put(self, key: str, value: bytes) -> None:
        """Keep a row in memory."""
        self._unkept[key] = value

    def write(self, more: Mapping[str, bytes]) -> None:
        """Write what is only in memory, and some more; it stays there if rows were purged since, or nothing can be written."""
        rows = {self._prefix + key: value for key, value in {**self._unkept, **more}.items()}
        if not rows:
            return
        try:
            written = self._store.derived_put_many(self._ledger, self._kind, rows, erasures=self._erasures)
        except StoreError:  # what cannot be kept is no less true
            return
        if written:
            self._unkept.clear()

    def scan(
        self, prefix: str, *, before: str | None, after: str | None = None, newest_first: bool = False, limit: int | None = None
    ) -> list[Derived]:
        """Rows whose keys begin with ``prefix``, between two keys (both excluded); ``Overtaken`` if rows were purged."""
        ours, length = self._prefix, len(self._prefix)
        scan = self._store.derived_scan(
            self._kind,
            ours + prefix,
            ledger=self._ledger,
            after=None if after is None else ours + after,
            before=None if before is None else ours + before,
            newest_first=newest_first,
            limit=limit,
        )
        if purges(self._store, self._ledger) != self._erasures:
            raise Overtaken
        end = beyond(prefix) if before is None else before
        found = {row.key[length:]: row.value for row in scan.rows}
        found |= {
            key: value
            for key, value in self._unkept.items()
            if key.startswith(prefix) and (after is None or key > after) and (end is None or key < end)
        }
        return [Derived(self._ledger, key, found[key]) for key in sorted(found, reverse=newest_first)][:limit]


def purges(store: Store, ledger: bytes) -> int:
    """How often the store purged rows of a ledger: it rises in the same transaction."""
    head = store.head_of(ledger)
    return 0 if head is None else head.erasures
