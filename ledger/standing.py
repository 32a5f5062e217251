"""What stands in a ledger: the one place that says which value of a field holds.

``decide`` and ``admit`` ask it before an event is appended, the projections ask the same functions when they fold the record.
"""

from __future__ import annotations

import unicodedata
from collections import ChainMap
from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass, field, replace
from typing import Final

from ledger import events as e
from ledger.json_text import JsonText
from ledger.parts import ToolCallPart

RANK: Final[dict[e.Source, int]] = {"inferred": 0, "tool": 1, "user": 2, "interface": 2}
"""Who outranks whom: what the user said or chose, then what a tool returned, then what was inferred."""

SPOKEN_RANK: Final = RANK["user"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A value of a field with its provenance; ``version`` is that of the event that claimed it."""

    version: int
    value: JsonText
    source: e.Source
    turn: int | None
    canonical: str

    @property
    def rank(self) -> int:
        """How much its source weighs."""
        return RANK[self.source]


@dataclass(frozen=True, slots=True)
class Dispute:
    """An open contradiction: the field that it is about, if any, and the values claimed beside the standing one.

    ``rank`` is how much the weightiest of its sides weighs: a lesser source may not resolve it.
    """

    id: str
    field: str | None
    claimed: frozenset[str]
    rank: int


def canonical_field(name: str) -> str:
    """The one form of a field's name: NFC, case-folded, runs of white space, hyphens and underscores become one ``_``."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    return "_".join(word for word in folded.replace("-", " ").replace("_", " ").split() if word)


def claim_of(version: int, event: e.FactSet | e.FactSuperseded) -> Claim:
    """The claim that an event makes."""
    return Claim(version, event.value, event.source, event.turn, event.value.canonical)


def successor(standing: Claim | None, version: int, event: e.FactEvent) -> Claim | None:
    """What stands in a field after an event about it.

    A reaffirmation changes nothing, except that a better source which states the standing value becomes its provenance.
    """
    match event:
        case e.FactSet() | e.FactSuperseded():
            return claim_of(version, event)
        case e.FactRetracted():
            return None
        case e.FactReaffirmed():
            confirms = standing is not None and RANK[event.source] > standing.rank
            if standing is None or not confirms or event.value.canonical != standing.canonical:
                return standing
            return replace(standing, source=event.source, turn=event.turn)


def supersedes_unasked(source: e.Source, standing: Claim) -> bool:
    """Whether a new value takes the place of the standing one although nobody named what it supersedes."""
    if RANK[source] == SPOKEN_RANK:
        return standing.rank < SPOKEN_RANK
    return may_supersede(source, standing)


def may_supersede(source: e.Source, standing: Claim) -> bool:
    """Whether a source may take the place of a standing value at all, given that it names it."""
    return RANK[source] >= standing.rank


@dataclass(slots=True)
class Standing:
    """Everything that a decision needs to know of a ledger, folded from its events.

    ``turn`` is the number of the last turn. ``roles`` and ``open_calls`` know the turns from ``known_from`` on; a writer
    that opened the ledger without reading all of its turns looks older ones up when they are named.
    """

    version: int = 0
    recorded_at: int = 0
    turn: int = 0
    known_from: int = 1
    opened: e.LedgerOpened | None = None
    closed: bool = False
    roles: MutableMapping[int, e.Role] = field(default_factory=dict)
    open_calls: MutableMapping[str, tuple[int, ...]] = field(default_factory=dict)
    facts: MutableMapping[str, Claim | None] = field(default_factory=dict)
    entries: MutableMapping[str, bool] = field(default_factory=dict)
    disputes: MutableMapping[str, Dispute | None] = field(default_factory=dict)
    artifacts: MutableMapping[str, bool] = field(default_factory=dict)
    evidence: MutableMapping[str, bool] = field(default_factory=dict)

    def branch(self) -> Standing:
        """A copy for trying out several events; what is applied to it does not reach this one."""
        return replace(
            self,
            roles=ChainMap({}, self.roles),
            open_calls=ChainMap({}, self.open_calls),
            facts=ChainMap({}, self.facts),
            entries=ChainMap({}, self.entries),
            disputes=ChainMap({}, self.disputes),
            artifacts=ChainMap({}, self.artifacts),
            evidence=ChainMap({}, self.evidence),
        )

    def disputes_about(self, name: str) -> Iterable[Dispute]:
        """The open contradictions about a field, oldest first."""
        return [dispute for dispute in self.disputes.values() if dispute is not None and dispute.field == name]

    def apply(self, version: int, event: e.Event) -> None:
        """Fold one event in. ``version`` must be the next one."""
        self.version = version
        match event:
            case e.TurnRecorded():
                self._turn(event)
            case e.ToolReturned():
                self._returned(event)
            case e.FactSet() | e.FactReaffirmed() | e.FactSuperseded() | e.FactRetracted():
                self.facts[event.field] = successor(self.facts.get(event.field), version, event)
            case _:
                self._other(version, event)

    def _turn(self, event: e.TurnRecorded) -> None:
        if event.turn is None:
            return
        self.turn = max(self.turn, event.turn)
        self.roles[event.turn] = event.role
        for part in event.parts:
            if isinstance(part, ToolCallPart):
                self.open_calls[part.call_id] = (*self.open_calls.get(part.call_id, ()), event.turn)

    def _returned(self, event: e.ToolReturned) -> None:
        if event.orphan:
            return
        turns = self.open_calls.get(event.call_id, ())
        self.open_calls[event.call_id] = tuple(turn for turn in turns if turn != event.turn)

    def _other(self, version: int, event: e.Event) -> None:
        match event:
            case e.LedgerOpened():
                self.opened = event
            case e.LedgerClosed():
                self.closed = True
            case e.EntryAdded():
                self.entries[entry_id(version)] = True
            case e.EntryClosed():
                self.entries[event.entry] = False
            case e.ArtifactStored():
                self.artifacts[event.sha256] = True
            case e.EvidenceRecorded():
                self.evidence[evidence_id(version)] = True
            case e.ContradictionRecorded():
                self.disputes[contradiction_id(version)] = dispute_of(version, event)
            case e.ContradictionResolved():
                self.disputes[event.contradiction] = None
            case _:
                pass


def dispute_of(version: int, event: e.ContradictionRecorded) -> Dispute:
    """The open contradiction that an event records."""
    claimed = frozenset(side.value.canonical for side in event.sides if side.version is None and side.value is not None)
    rank = max((RANK[side.source] for side in event.sides if side.source is not None), default=0)
    return Dispute(contradiction_id(version), event.field, claimed, rank)


def entry_id(version: int) -> str:
    """The id of the entry that was added at a version."""
    return f"en_{version}"


def evidence_id(version: int) -> str:
    """The id of the evidence that was recorded at a version."""
    return f"ev_{version}"


def contradiction_id(version: int) -> str:
    """The id of the contradiction that was recorded at a version."""
    return f"con_{version}"


def result_id(version: int) -> str:
    """The id of the tool result that was recorded at a version."""
    return f"r_{version}"
