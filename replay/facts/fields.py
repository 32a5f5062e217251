"""What was said of one field of a ledger, read by way of the index: the events about it alone, however long the ledger is.

They are folded by the folds that fold all events, so the answers are the same. Where content may be past its retention, which
only the whole ledger tells, all of it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ledger import Ledgers
from ledger.decide import field_name
from ledger.deriving import Derived
from ledger.marks import field_mark
from ledger.record import Recorded
from ledger.schema.schema import Schema
from ledger.store import Selection
from projections.contradictions import Contradiction, ContradictionsFold
from projections.facts import FactsFold, FactValue
from projections.fold import run
from projections.schemas import SchemaFold
from replay.facts.index import LedgerIndex, in_force
from replay.facts.rows import CLAIM, SCHEMAS, Keys, version_of
from replay.kept.overtaken import undisturbed
from replay.loading import Loaded

_FEW: Final = 8


@dataclass(frozen=True)
class FieldFacts:
    """One field of a ledger at a version, by its canonical name, and its keyed hash in the ledger.

    ``positions``: where in the feed the events stand that were folded, by version.
    """

    field: str
    mark: str
    facts: FactsFold
    disputes: tuple[Contradiction, ...]
    positions: Mapping[int, int]

    @property
    def values(self) -> tuple[FactValue, ...]:
        """All values that the field held, oldest first; forgotten ones stand in their places."""
        return self.facts.history(self.field, self.mark)


def field_facts(loaded: Loaded, name: str) -> FieldFacts:
    """Everything that was said of a field up to the version, by any of its names."""
    if loaded.is_read or not loaded.nothing_is_due:
        return _of_all(loaded, name)
    return undisturbed(lambda: _ByIndex(loaded).facts(name))


def field_value(loaded: Loaded, name: str) -> FactValue | None:
    """The value that a field holds at the version; None if it holds none."""
    if loaded.is_read or not loaded.nothing_is_due:
        return _standing(_of_all(loaded, name).values)
    return undisturbed(lambda: _ByIndex(loaded).value(name))


def exact_field(loaded: Loaded, field: str) -> FieldFacts:
    """Everything that was said of a field under its canonical name, whatever other field this is a name of now."""
    if loaded.is_read or not loaded.nothing_is_due:
        return _of_all(loaded, field, resolves=False)
    return _ByIndex(loaded).facts(field, resolves=False)


def _standing(values: Sequence[FactValue]) -> FactValue | None:
    return values[-1] if values and values[-1].to_version is None else None


def _of_all(loaded: Loaded, name: str, *, resolves: bool = True) -> FieldFacts:
    folds = loaded.folds
    field = _resolved(name, folds.schemas.schema() if resolves else None)
    return _made(loaded, field, folds.facts, folds.contradictions, loaded.events)


def _resolved(name: str, schema: Schema | None) -> str:
    return field_name(name) if schema is None else schema.resolve(field_name(name))


def _made(
    loaded: Loaded, field: str, facts: FactsFold, contradictions: ContradictionsFold, events: Iterable[Recorded]
) -> FieldFacts:
    about = tuple(found for found in contradictions.all() if found.field == field)
    positions = {item.version: item.envelope.position for item in events}
    return FieldFacts(field, field_mark(loaded.key, field), facts, about, positions)


class _ByIndex:
    """Reads what the index names of one ledger."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._keys = Keys(loaded.store.store.secret)
        self._index = _index_of(loaded.store, loaded)
        self._index.catch_up()
        self._schemas = self._read(self._rows(SCHEMAS))

    def facts(self, name: str, *, resolves: bool = True) -> FieldFacts:
        """Everything about a field."""
        field = _resolved(name, self._schema() if resolves else None)
        mark = field_mark(self._loaded.key, field)
        rows = [*self._rows(self._keys.changes(mark)), *self._rows(self._keys.disputes(mark))]
        facts, contradictions = FactsFold(), ContradictionsFold()
        events = _in_order([*self._schemas, *self._read(rows)])
        run([facts, contradictions], events)
        return _made(self._loaded, field, facts, contradictions, events)

    def value(self, name: str) -> FactValue | None:
        """What stands in a field. Nothing that came before the last claim matters to it."""
        field = _resolved(name, self._schema())
        mark = field_mark(self._loaded.key, field)
        rows = self._since_last_claim(self._keys.changes(mark))
        if not rows:
            return None
        events = self._read(rows)
        facts = FactsFold()
        run([facts], _in_order([*events, *(item for item in self._schemas if item.version > events[0].version)]))
        return _standing(facts.history(field, mark))

    def _schema(self) -> Schema | None:
        fold = SchemaFold()
        run([fold], self._schemas)
        return fold.schema()

    def _since_last_claim(self, prefix: str) -> list[Derived]:
        """The rows from the last claim on, oldest first; none if nothing was ever claimed."""
        limit = _FEW
        while True:
            rows = self._index.rows(prefix, before=self._loaded.version + 1, newest_first=True, limit=limit)
            claims = [place for place, row in enumerate(rows) if row.value == CLAIM]
            if claims:
                return rows[claims[0] :: -1]
            if len(rows) < limit:
                return []
            limit *= _FEW

    def _rows(self, prefix: str) -> list[Derived]:
        return self._index.rows(prefix, before=self._loaded.version + 1)

    def _read(self, rows: Iterable[Derived]) -> list[Recorded]:
        versions = tuple(version_of(row.key) for row in rows)
        return list(self._loaded.reader.read(Selection(versions=versions))) if versions else []


def _index_of(store: Ledgers, loaded: Loaded) -> LedgerIndex:
    head = store.store.head_of(loaded.head.ledger) or loaded.head  # what was forgotten since it was loaded counts, too
    return LedgerIndex(store, in_force(store).kind, head, loaded.reader)


def _in_order(events: Iterable[Recorded]) -> list[Recorded]:
    return sorted(events, key=lambda item: item.version)
