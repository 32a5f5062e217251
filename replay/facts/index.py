"""The index of facts: which versions of a ledger are about a field, and which ledgers ever had a value.

It is a view in the store, made by following the feed, and brought up to date before each answer. Rows are made per ledger from
its events, so that making them twice changes nothing; a row ``through`` says how far they go, and goes with them when something
is forgotten. What cannot be kept, as on a standby, is made again for each answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from ledger import Ledgers
from ledger.deriving import EVERYWHERE, Derived, FollowedView, Scan, beyond
from ledger.errors import StoreError
from ledger.events import SchemaSet
from ledger.reading import Reader
from ledger.record import Recorded
from ledger.schema.schema import Schema
from ledger.store import Head, Selection
from replay.facts.rows import SCHEMAS, Rows, numbered, version_of
from replay.kept.overtaken import Overtaken, undisturbed

NAME: Final = "facts"
_FIRST: Final = "facts/1"
_THROUGH: Final = "through"
_PAGE: Final = 500
_WORTH_KEEPING: Final = 50
"""So many events without a row are worth a row that says they need not be read again."""


def in_force(store: Ledgers) -> FollowedView:
    """The kind of the index that answers now; the first one is begun where there is none."""
    found = _active(store)
    if found is None:
        try:
            store.store.view_begin(NAME, _FIRST)
        except StoreError:  # nothing can be kept here
            return FollowedView(NAME, _FIRST, "active", 0)
        found = _active(store)
    assert found is not None, "a view was begun"
    return found


def rebuild_facts(store: Ledgers) -> str:
    """Make the index anew beside the one that answers, then put it in its place at one moment; the kind that answers now.

    One that was interrupted goes on where it was.
    """
    in_force(store)
    known = store.store.views(NAME)
    begun = [one.kind for one in known if one.state == "building"]
    kind = begun[0] if begun else f"{NAME}/{1 + max(int(one.kind.rpartition('/')[2]) for one in known)}"
    store.store.view_begin(NAME, kind)
    building = next(one for one in store.store.views(NAME) if one.kind == kind)
    undisturbed(lambda: FactIndex(store, building).catch_up())
    store.store.view_switch(kind)
    for old in store.store.views(NAME):
        if old.state == "retired":
            store.store.view_purge(old.kind)
    return kind


def _active(store: Ledgers) -> FollowedView | None:
    return next((one for one in store.store.views(NAME) if one.state == "active"), None)


@dataclass
class LedgerIndex:
    """The index of one ledger. ``unkept`` are rows that the store could not keep."""

    store: Ledgers
    kind: str
    head: Head
    reader: Reader
    unkept: dict[str, bytes] = field(default_factory=dict)

    def catch_up(self) -> None:
        """Make the rows of the events that were appended since; ``Overtaken`` if something was forgotten meanwhile."""
        rows = Rows(self.store.store.secret, self.head.ledger, event_at=self._event_at, schema_before=self._schema_before)
        kept = self.store.store.derived_get(self.head.ledger, self.kind, _THROUGH)
        selection = Selection(after=0 if kept is None else int(kept), kind="others")
        events = self.reader.read(selection)
        while page := list(islice(events, _PAGE)):
            made = rows.of(page, self.reader.marks)
            if made or len(page) >= _WORTH_KEEPING:
                self._keep({**made, _THROUGH: str(page[-1].version).encode()})

    def rows(
        self, prefix: str, *, before: int | None = None, newest_first: bool = False, limit: int | None = None
    ) -> list[Derived]:
        """The rows whose keys are ``prefix`` and a version below ``before``, in order; ``Overtaken`` if they are not all.

        To be asked after ``catch_up``.
        """
        found = self._scan(prefix, before, newest_first=newest_first, limit=limit)
        if EVERYWHERE in found.purged or (found.purged and not self.restored()):
            raise Overtaken
        return self._with_unkept(found.rows, prefix, before, newest_first=newest_first)[:limit]

    def restored(self) -> bool:
        """Say that the rows of this ledger are complete, after ``catch_up``; False if something was forgotten meanwhile."""
        try:
            return self.store.store.view_restored(self.kind, self.head.ledger, erasures=self.head.erasures)
        except StoreError:  # what the store does not have is among the unkept
            return True

    def _scan(self, prefix: str, before: int | None, *, newest_first: bool, limit: int | None) -> Scan:
        end = None if before is None else numbered(prefix, before)
        return self.store.store.derived_scan(
            self.kind, prefix, ledger=self.head.ledger, before=end, newest_first=newest_first, limit=limit
        )

    def _with_unkept(self, rows: list[Derived], prefix: str, before: int | None, *, newest_first: bool) -> list[Derived]:
        if not self.unkept:
            return rows
        end = beyond(prefix) if before is None else numbered(prefix, before)
        ours = {key: value for key, value in self.unkept.items() if prefix <= key and (end is None or key < end)}
        known = {row.key: row.value for row in rows} | ours
        return [Derived(self.head.ledger, key, known[key]) for key in sorted(known, reverse=newest_first)]

    def _keep(self, rows: dict[str, bytes]) -> None:
        try:
            kept = self.store.store.derived_put_many(self.head.ledger, self.kind, rows, erasures=self.head.erasures)
        except StoreError:  # what cannot be kept is no less true
            self.unkept |= rows
            return
        if not kept:
            raise Overtaken

    def _event_at(self, version: int) -> Recorded | None:
        return next(self.reader.read(Selection(versions=(version,))), None)

    def _schema_before(self, version: int) -> Schema | None:
        found_before = self._scan(SCHEMAS, version, newest_first=True, limit=None).rows
        for row in self._with_unkept(found_before, SCHEMAS, version, newest_first=True):
            found = self._event_at(version_of(row.key))
            if found is not None and isinstance(found.event, SchemaSet):
                return Schema.model_validate_json(found.event.declared)
        return None


class FactIndex:
    """The index of all ledgers, in one of its kinds."""

    def __init__(self, store: Ledgers, view: FollowedView) -> None:
        self._store = store
        self._view = view
        self._unkept: dict[bytes, dict[str, bytes]] = {}
        self._answered_here: set[bytes] = set()

    def catch_up(self) -> None:
        """Follow the feed to its end, and make again what a forgetting purged.

        What the feed still holds back, because a transaction is open that began before it, is dealt with too, and comes again.
        """
        store, after = self._store.store, self._view.position
        end, newest = store.last_position(), store.newest_position()
        seen: dict[bytes, int] = {}
        while after < newest and (page := store.news(after=after, limit=_PAGE)):
            for ledger in dict.fromkeys(news.ledger for news in page):
                self._bring_up(ledger, seen)
            after = page[-1].position
            self._advance(min(after, end))
        self._advance(end)
        for ledger in store.view_purged(self._view.kind):
            self._restore(ledger)

    def scan(self, prefix: str, *, after: str | None = None, limit: int | None = None) -> list[Derived]:
        """The rows of all ledgers whose keys begin with ``prefix``; ``Overtaken`` if they are not all."""
        found = self._store.store.derived_scan(self._view.kind, prefix, after=after, limit=limit)
        if found.purged - self._answered_here:
            raise Overtaken
        ours = (Derived(ledger, key, value) for ledger, rows in self._unkept.items() for key, value in rows.items())
        kept = {(row.key, row.ledger): row for row in found.rows}
        kept |= {
            (row.key, row.ledger): row for row in ours if row.key.startswith(prefix) and (after is None or row.key > after)
        }
        return [kept[place] for place in sorted(kept)][:limit]

    def _bring_up(self, ledger: bytes, seen: dict[bytes, int]) -> None:
        head = self._store.store.head_of(ledger)
        if head is None or seen.get(ledger) == head.version:
            return
        self._index(head)
        seen[ledger] = head.version

    def _restore(self, ledger: bytes) -> None:
        head = self._store.store.head_of(ledger)
        if head is None:
            return
        if not self._index(head).restored():
            raise Overtaken
        self._answered_here.add(ledger)

    def _index(self, head: Head) -> LedgerIndex:
        reader = Reader(self._store.store, head.ledger)
        index = LedgerIndex(self._store, self._view.kind, head, reader, self._unkept.get(head.ledger, {}))
        index.catch_up()
        if index.unkept:
            self._unkept[head.ledger] = index.unkept
        return index

    def _advance(self, position: int) -> None:
        if position <= self._view.position or self._unkept:
            return
        try:
            self._store.store.view_advance(self._view.kind, position)
        except StoreError:  # it is followed again next time
            return
