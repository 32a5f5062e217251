"""What stands in a ledger: the one place that says which value of a field holds.

``decide`` and ``admit`` ask it before an event is appended, the projections ask the same functions when they fold the record.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from ledger import events as e
from ledger.erased import Erased, Forgotten
from ledger.fields import RANK, SPOKEN_RANK
from ledger.json_text import JsonText
from ledger.marks import field_mark
from ledger.parts import ToolCallPart
from ledger.schema.schema import Schema
from ledger.window_events import UNDECIDING

Validity = tuple[datetime | None, datetime | None]
"""From when (inclusive) to when (exclusive) something holds in the world; None where that was not said."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A value of a field with its provenance; ``version`` is that of the event that claimed it.

    ``canonical`` is what the value means, in the form in which values are compared; ``valid`` from when to when it holds in
    the world, where that was said.
    """

    version: int
    value: JsonText
    source: e.Source
    turn: int | None
    canonical: str
    valid: Validity = (None, None)

    @property
    def rank(self) -> int:
        """How much its source weighs."""
        return RANK[self.source]


@dataclass(frozen=True, slots=True)
class Dispute:
    """An open contradiction: the field that it is about, if any, and the values claimed beside the standing one, as they are
    and as what they mean (``claimed``).

    ``rank`` is how much the weightiest of its sides weighs: a lesser source may not resolve it. ``claimed_rank`` is that of
    the claimed values.
    """

    id: str
    field: str | None
    claimed: frozenset[str]
    rank: int
    values: tuple[JsonText, ...] = ()
    claimed_rank: int = 0


def claim_of(version: int, event: e.FactSet | e.FactSuperseded) -> Claim:
    """The claim that an event makes."""
    return Claim(version, event.value, event.source, event.turn, meant(event), (event.valid_from, event.valid_to))


def meant(claim: e.FactSet | e.FactSuperseded | e.FactReaffirmed | e.Side) -> str:
    """What a claimed value means, in the form in which values are compared."""
    if claim.meaning is not None:
        return claim.meaning.canonical
    return "" if claim.value is None else claim.value.canonical


def as_meant(claim: Claim, name: str, schema: Schema) -> Claim:
    """A claim with what its value means under another schema."""
    meaning = schema.meaning(name, claim.value)
    return replace(claim, canonical=(claim.value if meaning is None else meaning).canonical)


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
            if standing is None or not confirms or meant(event) != standing.canonical:
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

    ``turn`` is the number of the last turn. ``roles``, ``calls`` (the call ids of a turn, in their order) and ``open_calls``
    know the turns from ``known_from`` on; a writer that opened the ledger without reading all of its turns looks older ones up
    when they are named. ``entries`` names the source of each entry that holds, None for one that was closed.

    ``erased`` holds what was forgotten, by version; ``tombstones`` the fields that were forgotten by name (keyed with ``key``),
    with the turn up to which claims about them are not taken again. ``forgot_at`` is the version of the last forgetting.
    ``forgotten`` names the job while the whole ledger is forgotten, ``held`` the reason of a legal hold.

    ``policies`` holds the policies of windows by their digests. On the other events about windows no decision rests.
    """

    key: bytes = b""

    version: int = 0
    recorded_at: int = 0
    turn: int = 0
    known_from: int = 1
    opened: e.LedgerOpened | None = None
    closed: bool = False
    roles: MutableMapping[int, e.Role] = field(default_factory=dict)
    calls: MutableMapping[int, tuple[str, ...]] = field(default_factory=dict)
    open_calls: MutableMapping[str, tuple[int, ...]] = field(default_factory=dict)
    facts: MutableMapping[str, Claim | None] = field(default_factory=dict)
    entries: MutableMapping[str, e.Source | None] = field(default_factory=dict)
    disputes: MutableMapping[str, Dispute | None] = field(default_factory=dict)
    artifacts: MutableMapping[str, bool] = field(default_factory=dict)
    evidence: MutableMapping[str, bool] = field(default_factory=dict)
    erased: MutableMapping[int, Erased] = field(default_factory=dict)
    forgotten_turns: MutableMapping[int, Forgotten] = field(default_factory=dict)
    tombstones: MutableMapping[str, int] = field(default_factory=dict)
    policies: MutableMapping[str, JsonText] = field(default_factory=dict)
    schema: Schema | None = None
    forgot_at: int = 0
    forgotten: str | None = None
    held: str | None = None

    def branch(self) -> Standing:
        """A copy for trying out several events; what is applied to it does not reach this one."""
        return replace(
            self,
            roles=ChainMap({}, self.roles),
            calls=ChainMap({}, self.calls),
            open_calls=ChainMap({}, self.open_calls),
            facts=ChainMap({}, self.facts),
            entries=ChainMap({}, self.entries),
            disputes=ChainMap({}, self.disputes),
            artifacts=ChainMap({}, self.artifacts),
            evidence=ChainMap({}, self.evidence),
            tombstones=ChainMap({}, self.tombstones),
            policies=ChainMap({}, self.policies),
        )

    def disputes_about(self, name: str) -> Iterable[Dispute]:
        """The open contradictions about a field, oldest first."""
        return [dispute for dispute in self.disputes.values() if dispute is not None and dispute.field == name]

    def tombstone(self, name: str) -> int | None:
        """The turn up to which claims about a field are not taken, if it was forgotten by its name."""
        return self.tombstones.get(field_mark(self.key, name)) if self.tombstones else None

    def apply(self, version: int, event: e.Event | Erased) -> None:
        """Fold one event in. ``version`` must be the next one."""
        self.version = version
        match event:
            case Erased():
                self._erased(version, event)
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
        calls = tuple(part.call_id for part in event.parts if isinstance(part, ToolCallPart))
        if calls:
            self.calls[event.turn] = calls
        for call_id in calls:
            self.open_calls[call_id] = (*self.open_calls.get(call_id, ()), event.turn)

    def _returned(self, event: e.ToolReturned) -> None:
        if not event.orphan:
            self._answered(event.call_id, event.turn)

    def _answered(self, call_id: str, turn: int | None) -> None:
        turns = self.open_calls.get(call_id, ())
        self.open_calls[call_id] = tuple(waiting for waiting in turns if waiting != turn)

    def _erased(self, version: int, event: Erased) -> None:
        """An event without its content still takes its place, and ends what it ended: nothing older comes back to life."""
        if event.type in UNDECIDING:
            return
        self.erased[version] = event
        match event.type:
            case "turn.recorded" if event.turn is not None:
                self.turn = max(self.turn, event.turn)
                self.roles[event.turn] = event.role or "user"
                self.forgotten_turns[event.turn] = event.forgotten
            case "tool.returned" if event.turn is not None and event.answers is not None:
                for call_id in self.calls.get(event.turn, ())[event.answers : event.answers + 1]:
                    self._answered(call_id, event.turn)
            case "ledger.closed":
                self.closed = True
            case _ if event.ends is not None:
                self._ended(event.type, event.ends)

    def _ended(self, type_name: str, version: int) -> None:
        match type_name:
            case "entry.closed":
                self.entries[entry_id(version)] = None
            case "contradiction.resolved":
                self.disputes[contradiction_id(version)] = None
            case _:
                ended = [name for name, claim in self.facts.items() if claim is not None and claim.version == version]
                self.facts.update(dict.fromkeys(ended))

    def _other(self, version: int, event: e.Event) -> None:
        match event:
            case e.LedgerOpened():
                self.opened = event
            case e.LedgerClosed():
                self.closed = True
            case e.EntryAdded():
                self.entries[entry_id(version)] = event.source
            case e.EntryClosed():
                self.entries[event.entry] = None
            case e.ArtifactStored():
                self.artifacts[event.sha256] = True
            case e.EvidenceRecorded():
                self.evidence[evidence_id(version)] = True
            case e.ContradictionRecorded():
                self.disputes[contradiction_id(version)] = dispute_of(version, event)
            case e.ContradictionResolved():
                self.disputes[event.contradiction] = None
            case e.SchemaSet():
                self.schema = Schema.model_validate_json(event.declared)
                held = {name: claim for name, claim in self.facts.items() if claim is not None}
                self.facts.update({name: as_meant(claim, name, self.schema) for name, claim in held.items()})
                open_ones = {name: dispute for name, dispute in self.disputes.items() if dispute is not None}
                self.disputes.update({name: _as_disputed(dispute, self.schema) for name, dispute in open_ones.items()})
            case e.ContentForgotten() | e.LedgerReauthorised() | e.HoldPlaced() | e.HoldLifted():
                self._governed(version, event)
            case e.PolicyRecorded():
                self.policies[event.digest] = event.declared
            case _:
                pass

    def _governed(self, version: int, event: e.ContentForgotten | e.LedgerReauthorised | e.HoldPlaced | e.HoldLifted) -> None:
        """What a forgetting erased was folded as ``Erased`` before; what is left to know is what it refuses from now on."""
        match event:
            case e.ContentForgotten():
                self.forgot_at = version
                self.tombstones.update(dict.fromkeys(event.fields, event.through_turn))
                if event.scope == "ledger":
                    self.forgotten = event.job
            case e.LedgerReauthorised():
                self.forgotten = None
            case e.HoldPlaced():
                self.held = event.because
            case e.HoldLifted():
                self.held = None


def dispute_of(version: int, event: e.ContradictionRecorded) -> Dispute:
    """The open contradiction that an event records."""
    sides = [side for side in event.sides if side.version is None and side.value is not None]
    claimed = frozenset(map(meant, sides))
    rank = max((RANK[side.source] for side in event.sides if side.source is not None), default=0)
    values = tuple(side.value for side in sides if side.value is not None)
    claimed_rank = max((RANK[side.source] for side in sides if side.source is not None), default=0)
    return Dispute(contradiction_id(version), event.field, claimed, rank, values, claimed_rank)


def _as_disputed(dispute: Dispute, schema: Schema) -> Dispute:
    """A contradiction with what its values mean under another schema."""
    if dispute.field is None:
        return dispute
    meanings = ((value, schema.meaning(dispute.field, value)) for value in dispute.values)
    claimed = frozenset((value if meaning is None else meaning).canonical for value, meaning in meanings)
    return replace(dispute, claimed=claimed)


def entry_id(version: int) -> str:
    """The id of the entry that was added at a version."""
    return f"en_{version}"


def evidence_id(version: int) -> str:
    """The id of the evidence that was recorded at a version."""
    return f"ev_{version}"


def contradiction_id(version: int) -> str:
    """The id of the contradiction that was recorded at a version."""
    return f"con_{version}"


def summary_id(version: int) -> str:
    """The id of the summary that was recorded at a version."""
    return f"sum_{version}"


def window_id(version: int) -> str:
    """The id of the window that was recorded as served at a version."""
    return f"win_{version}"


def result_id(version: int) -> str:
    """The id of the tool result that was recorded at a version."""
    return f"r_{version}"
