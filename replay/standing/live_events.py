"""What stands in a ledger at a version, from the events that matter to it alone: at the cost of the state alone."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Final, TypeVar

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
from projections.state_block import Count
from projections.transcript import Turn
from replay.kept.derived_rows import DerivedRows
from replay.kept.memory import Memory
from replay.kept.overtaken import Overtaken, attempts
from replay.loading import Loaded
from replay.standing.live_rows import ROW_EVENTS, living_at, put_row

KIND: Final = "live/2"

MOST_READINGS: Final = 4
"""For so many versions is kept what was read."""

MOST_LINES: Final = 4_096
"""So many lines of state blocks are kept."""

Result = TypeVar("Result")

_FAR: Final = 4 * ROW_EVENTS


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
    """What stands in one ledger; ``forgettings`` is how many forgettings were taken into account. It is asked by one at a time.

    What was read for the last few versions is kept, and so is what was answered from it, as long as nothing that matters came
    since. ``task`` is the turn that states the task, once there is one that says something.
    """

    def __init__(self, store: Store, ledger: bytes, forgettings: int) -> None:
        self._rows = DerivedRows(store, ledger, kind=KIND, forgettings=forgettings)
        self._readings: OrderedDict[int, _Reading] = OrderedDict()
        self._lines: dict[Count, Memory] = {}
        self.task: Turn | None = None

    def standing(self, loaded: Loaded) -> StandingFolds:
        """What stands at the version that was loaded. These folds go on with the ledger: ask them before somebody else asks."""
        return self._reading(loaded, loaded.version).standing(loaded)

    def asked(
        self, loaded: Loaded, key: Hashable, answer: Callable[[StandingFolds], Result], *, quiet_from: int | None = None
    ) -> Result:
        """An answer from what stands at the version that was loaded; ``key`` names the question and all else it depends on.

        From ``quiet_from`` on nothing but turns and returns is known to be recorded up to there.
        """
        reading = self._reading(loaded, loaded.version if quiet_from is None else quiet_from)
        if key not in reading.answers:
            reading.answers[key] = answer(reading.standing(loaded))
        known: Result = reading.answers[key]
        return known

    def lines(self, count: Count) -> Memory:
        """The lines of state blocks that were written last, as ``count`` counts them."""
        if count not in self._lines:
            self._lines = {**dict([*self._lines.items()][-1:]), count: Memory(MOST_LINES)}
        return self._lines[count]

    def _reading(self, loaded: Loaded, quiet_from: int) -> _Reading:
        for _ in attempts():
            try:
                return self._read(loaded, quiet_from)
            except Overtaken:
                self._rows.begin_again()
                self._readings.clear()
        raise AssertionError("the attempts end in an error")

    def _read(self, loaded: Loaded, quiet_from: int) -> _Reading:
        version = loaded.version
        if version not in self._readings:
            known = max((one for one in self._readings if one < version), default=None)
            if known is None or version - known > _FAR:
                self._readings[version] = _Reading(self._rows, loaded).read(loaded)
            else:
                reading = self._readings.pop(known)
                if known < quiet_from:
                    reading.read(loaded)
                reading.version = version
                self._readings[version] = reading
        self._readings.move_to_end(version)
        if len(self._readings) > MOST_READINGS:
            self._readings.popitem(last=False)
        return self._readings[version]


class _Reading:
    """The events that matter, as far as they were read. ``answers`` has what they say, until something more matters."""

    def __init__(self, rows: DerivedRows, loaded: Loaded) -> None:
        self._rows = rows
        self._living = living_at(rows, loaded.version)
        self._fold = LiveEventsFold()
        self._events: dict[int, Recorded] = {}
        self._since = 0
        self._folds: StandingFolds | None = None
        self.answers: dict[Hashable, Any] = {}
        self.version = self._living.version
        self._take(loaded, sorted(self._living.versions), upto=self.version)

    def read(self, loaded: Loaded) -> _Reading:
        """Go on to the version that was loaded."""
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
        if made or any(self.version < version <= loaded.version for version in loaded.reader.marks):
            self._folds = None  # with what went before it falls what they hold of it
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
        model = type(item.event)
        if model in LiveEventsFold.reads:
            self._fold.evolve(item)
            self._events[item.version] = item
            self.answers.clear()
            for fold in () if self._folds is None else vars(self._folds).values():
                if model in fold.reads:
                    fold.evolve(item)

    def _drop_dead(self) -> None:
        living = self._fold.versions()
        self._events = {version: self._events[version] for version in sorted(living)}


def _erased(loaded: Loaded, upto: int) -> Iterable[Recorded]:
    versions = sorted(version for version in loaded.reader.marks if version <= upto)
    return loaded.reader.read(Selection(versions=versions, kind="others")) if versions else ()
