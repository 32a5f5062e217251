"""What a ledger's record claims of each field, from which turns, and what stands; kept up to date while claims are added."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from ledger import Ledger
from ledger.erased import Erased
from ledger.events import (
    ContentForgotten,
    ContradictionRecorded,
    FactReaffirmed,
    FactSet,
    FactSuperseded,
    LedgerClosed,
    Source,
)
from ledger.fields import RANK
from ledger.json_text import JsonText
from ledger.marks import field_mark
from ledger.record import Recorded
from ledger.schema.schema import Schema
from ledger.standing import Claim, meant
from projections.facts import FactsFold


@dataclass(frozen=True, slots=True)
class Told:
    """A value that was claimed from a turn, and the event that says so. A ``disputed`` one did not stand because of it."""

    recorded: Recorded
    value: JsonText
    turn: int
    source: Source
    disputed: bool


class Claims:
    """The claims of one ledger, compared by what their values mean under a schema. ``key`` is that of the ledger's names."""

    def __init__(self, ledger: Ledger, schema: Schema, key: bytes) -> None:
        self._ledger = ledger
        self._schema = schema
        self._key = key
        self._begin()
        self.catch_up()

    def _begin(self) -> None:
        self._version = 0
        self.is_closed = False
        self._facts = FactsFold()
        self._told: defaultdict[str, list[Told]] = defaultdict(list)
        self._forgotten: set[tuple[str, int]] = set()

    def catch_up(self) -> None:
        """Fold in what was recorded since; all of it anew if something was forgotten since."""
        events = list(self._ledger.events(after=self._version))
        if self._version and any(isinstance(recorded.event, ContentForgotten) for recorded in events):
            self._begin()
            events = list(self._ledger.events())
        for recorded in events:
            self._version = recorded.version
            self._evolve(recorded)

    def standing(self, field: str) -> Claim | None:
        """What stands in a field, by the name that it is declared with."""
        return self._facts.standing().get(field)

    def told(self, field: str, value: JsonText, *, turn: int, source: Source) -> Told | None:
        """The same value claimed from the same turn by a source that weighs no less, if it was; one that stood first."""
        wanted = self._meant(field, value)
        found = (
            told
            for told in self._told.get(field, ())
            if told.turn == turn and RANK[told.source] >= RANK[source] and self._meant(field, told.value) == wanted
        )
        return min(found, key=lambda told: told.disputed, default=None)

    def is_forgotten(self, field: str, turn: int) -> bool:
        """Whether a claim about a field from a turn was forgotten."""
        return (field_mark(self._key, field), turn) in self._forgotten

    def _meant(self, field: str, value: JsonText) -> str:
        meaning = self._schema.meaning(field, value)
        return (value if meaning is None else meaning).canonical

    def _evolve(self, recorded: Recorded) -> None:
        event = recorded.event
        if type(event) in FactsFold.reads:
            self._facts.evolve(recorded)
        match event:
            case LedgerClosed():
                self.is_closed = True
            case Erased(named=str(mark), turn=int(turn)):
                self._forgotten.add((mark, turn))
            case FactSet() | FactSuperseded():
                self._add(recorded, event.field, event.value, turn=event.turn, source=event.source, disputed=False)
            case FactReaffirmed():
                standing = self._facts.standing().get(event.field)
                stands = standing is not None and standing.canonical == meant(event)
                self._add(recorded, event.field, event.value, turn=event.turn, source=event.source, disputed=not stands)
            case ContradictionRecorded(field=str(field)):
                for side in event.sides:
                    if side.version is None and side.value is not None and side.source is not None:
                        self._add(recorded, field, side.value, turn=side.turn, source=side.source, disputed=True)
            case _:
                pass

    def _add(
        self, recorded: Recorded, field: str, value: JsonText, *, turn: int | None, source: Source, disputed: bool
    ) -> None:
        if turn is not None:
            self._told[self._schema.resolve(field)].append(Told(recorded, value, turn, source, disputed))
