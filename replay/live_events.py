"""What stands in a ledger at a version, from the events that matter to it alone: at the cost of the state alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ledger.record import Recorded
from ledger.store import Selection, Store
from projections.contradictions import ContradictionsFold
from projections.entries import EntriesFold
from projections.evidence import EvidenceFold
from projections.facts import FactsFold
from projections.fold import run
from projections.forgetting import ForgottenFold
from projections.lifecycle import LifecycleFold
from projections.live_events import LiveEventsFold
from projections.schemas import SchemaFold
from replay.derived_rows import DerivedRows
from replay.fact_index import Overtaken, attempts
from replay.live_rows import ROW_EVENTS, living_at, put_row
from replay.loading import Loaded

KIND: Final = "live/2"


class StandingFolds:
    """Folds over the events that matter to the state. They answer what stands, and nothing of what stood before.

    ``evidence``, ``contradictions`` and ``forgotten`` are complete, and ``schemas`` knows the schema in force.
    """

    def __init__(self) -> None:
        self.facts = FactsFold()
        self.entries = EntriesFold()
        self.contradictions = ContradictionsFold()
        self.evidence = EvidenceFold()
        self.lifecycle = LifecycleFold()
        self.forgotten = ForgottenFold()
        self.schemas = SchemaFold()


class LiveEvents:
    """What stands in one ledger; ``forgettings`` is how many forgettings were taken into account."""

    def __init__(self, store: Store, ledger: bytes, forgettings: int) -> None:
        self._rows = DerivedRows(store, ledger, kind=KIND, forgettings=forgettings)
        self._newest: _Reading | None = None

    def standing(self, loaded: Loaded) -> StandingFolds:
        """What stands at the version that was loaded."""
        for _ in attempts():
            try:
                return self._read(loaded).standing(loaded)
            except Overtaken:
                self._rows.begin_again()
                self._newest = None
        raise AssertionError("the attempts end in an error")

    def _read(self, loaded: Loaded) -> _Reading:
        newest = self._newest
        if newest is None or newest.version > loaded.version:
            reading = _Reading(self._rows, loaded)
            if newest is not None:
                return reading.read(loaded)
            self._newest = newest = reading
        return newest.read(loaded)


class _Reading:
    """The events that matter, as far as they were read."""

    def __init__(self, rows: DerivedRows, loaded: Loaded) -> None:
        self._rows = rows
        self._living = living_at(rows, loaded.version)
        self._fold = LiveEventsFold()
        self._events: dict[int, Recorded] = {}
        self._since = 0
        self._folds: StandingFolds | None = None
        self.version = self._living.version
        self._take(loaded, sorted(self._living.versions), upto=self.version)

    def read(self, loaded: Loaded) -> _Reading:
        """Go on to the version that was loaded."""
        if loaded.version == self.version:
            return self
        made = False
        for item in loaded.reader.read(Selection(kind="others", after=self.version, upto=loaded.version)):
            self._evolve(item)
            self._since += 1
            if self._since == ROW_EVENTS:
                self._since, made = 0, True
                self._drop_dead()
                self._living = put_row(self._rows, self._living, item.version, self._fold.versions())
        if made:
            self._rows.write({})
        if any(self.version < version <= loaded.version for version in loaded.reader.marks):
            self._folds = None
        self.version = loaded.version
        return self

    def standing(self, loaded: Loaded) -> StandingFolds:
        """The folds over these events, and over what was erased up to the version."""
        if self._folds is None:
            self._drop_dead()
            folds = self._folds = StandingFolds()
            events = {item.version: item for item in _erased(loaded, self.version)} | self._events
            run(vars(folds).values(), (events[version] for version in sorted(events)))
            run([folds.forgotten], loaded.forgettings)
        return self._folds

    def _take(self, loaded: Loaded, versions: list[int], *, upto: int) -> None:
        living = loaded.reader.read(Selection(versions=versions)) if versions else ()
        for item in sorted([*living, *_erased(loaded, upto)], key=lambda item: item.version):
            self._evolve(item)

    def _evolve(self, item: Recorded) -> None:
        if type(item.event) in LiveEventsFold.reads:
            self._fold.evolve(item)
            self._events[item.version] = item
            self._folds = None

    def _drop_dead(self) -> None:
        living = self._fold.versions()
        self._events = {version: self._events[version] for version in sorted(living)}


def _erased(loaded: Loaded, upto: int) -> Iterable[Recorded]:
    versions = sorted(version for version in loaded.reader.marks if version <= upto)
    return loaded.reader.read(Selection(versions=versions, kind="others")) if versions else ()
