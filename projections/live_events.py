"""Which events still matter to the state: folding these alone gives the state that folding all of them gives.

What was erased matters always and is not counted here: who folds adds it. Of a field that ever had a value two things matter:
the first event about it, which gives it its place among the fields, and what was said since the last claim.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ledger import events as e
from ledger.erased import Erased
from ledger.record import Recorded
from ledger.schema.schema import Schema
from ledger.standing import Claim, as_meant, entry_id, successor


class LiveEventsFold:
    """Folds the versions of the events that matter. Folding only these, with what was erased, comes to the same again."""

    reads: ClassVar[frozenset[type[Any]]] = frozenset(
        {
            e.LedgerOpened,
            e.LedgerClosed,
            e.OutcomeRecorded,
            e.SchemaSet,
            e.FactSet,
            e.FactReaffirmed,
            e.FactSuperseded,
            e.FactRetracted,
            e.EntryAdded,
            e.EntryClosed,
            e.ContradictionRecorded,
            e.ContradictionResolved,
            e.EvidenceRecorded,
            Erased,
        }
    )

    def __init__(self) -> None:
        self._always: set[int] = set()
        self._latest: dict[str, int] = {}
        self._open: dict[str, int] = {}
        self._first: dict[str, int] = {}
        self._said: dict[str, list[int]] = {}
        self._standing: dict[str, Claim | None] = {}
        self._claimed: dict[int, str] = {}

    def evolve(self, recorded: Recorded) -> None:
        """Add an event, and leave out those that it makes immaterial."""
        version = recorded.version
        match recorded.event:
            case e.FactSet() | e.FactReaffirmed() | e.FactSuperseded() | e.FactRetracted() as event:
                self._fact(version, event)
            case e.EntryAdded():
                self._open[entry_id(version)] = version
            case e.EntryClosed(entry=ended):
                self._open.pop(ended, None)
            case e.LedgerOpened() | e.LedgerClosed() | e.OutcomeRecorded():
                self._latest[recorded.envelope.type] = version
            case e.SchemaSet() as event:
                self._always.add(version)
                self._meant_anew(Schema.model_validate_json(event.declared))
            case e.EvidenceRecorded() | e.ContradictionRecorded() | e.ContradictionResolved():
                self._always.add(version)  # windows name them, so that these stay as they are when one is resolved
            case Erased() as event:
                self._erased(event)
            case _:
                pass

    def versions(self) -> frozenset[int]:
        """The versions of the events that matter now."""
        said = (version for versions in self._said.values() for version in versions)
        return frozenset((*self._always, *self._latest.values(), *self._open.values(), *self._first.values(), *said))

    def _fact(self, version: int, event: e.FactEvent) -> None:
        self._first.setdefault(event.field, version)
        before = self._standing.get(event.field)
        after = self._standing[event.field] = successor(before, version, event)
        if not isinstance(event, e.FactReaffirmed):
            self._said[event.field] = [version]
            if before is not None:
                self._claimed.pop(before.version, None)
            if after is not None:
                self._claimed[version] = event.field
        elif after != before:
            self._said[event.field].append(version)

    def _meant_anew(self, schema: Schema) -> None:
        held = {name: claim for name, claim in self._standing.items() if claim is not None}
        self._standing.update({name: as_meant(claim, name, schema) for name, claim in held.items()})

    def _erased(self, event: Erased) -> None:
        """What was erased still ends what it ended."""
        self._latest.pop(event.type, None)
        if event.ends is None:
            return
        if event.type == "entry.closed":
            self._open.pop(entry_id(event.ends), None)
        field = self._claimed.pop(event.ends, None)
        if field is not None and event.type in ("fact.set", "fact.superseded", "fact.retracted"):
            self._standing[field] = None
