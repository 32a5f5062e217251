"""What must hold of every stored record, checked from its events alone and written without the ledger's own rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ledger import events as e
from ledger.erased import Erased
from ledger.parts import ToolCallPart
from ledger.record import Recorded

WEIGHT = {"inferred": 0, "tool": 1, "user": 2, "interface": 2}


@dataclass
class Seen:
    """What the events so far have established."""

    version: int = 0
    recorded_at: int = 0
    roles: list[str] = field(default_factory=list)
    waiting: set[tuple[int, str]] = field(default_factory=set)
    claims: dict[str, tuple[int, str, str]] = field(default_factory=dict)
    weights: dict[str, int] = field(default_factory=dict)
    disputes: dict[str, e.ContradictionRecorded] = field(default_factory=dict)
    entries: set[str] = field(default_factory=set)
    artifacts: set[str] = field(default_factory=set)
    evidence: set[str] = field(default_factory=set)
    policies: set[str] = field(default_factory=set)
    opened: bool = False
    closed: bool = False


def check(recorded: Iterable[Recorded]) -> Seen:
    """Fails at the first event that may not stand where it stands; what all of them establish."""
    seen = Seen()
    for one in recorded:
        envelope, event = one.envelope, one.event
        assert not isinstance(event, Erased), "these are the rules of a record of which nothing was forgotten"
        assert envelope.version == seen.version + 1
        assert envelope.recorded_at >= seen.recorded_at
        assert envelope.turn == event.turn
        assert not seen.closed or isinstance(event, e.OutcomeRecorded | e.Governing)
        check_turn(seen, event)
        check_content(seen, envelope.version, event)
        seen.version, seen.recorded_at = envelope.version, envelope.recorded_at
    return seen


def check_turn(seen: Seen, event: e.Event) -> None:
    match event:
        case e.TurnRecorded(role="system"):
            assert event.turn is None
        case e.TurnRecorded():
            assert event.turn == len(seen.roles) + 1
            seen.roles.append(event.role)
            for part in event.parts:
                if isinstance(part, ToolCallPart):
                    assert event.role == "assistant"
                    assert (event.turn, part.call_id) not in seen.waiting
                    seen.waiting.add((event.turn, part.call_id))
        case e.ToolReturned(orphan=False):
            assert event.turn is not None
            seen.waiting.remove((event.turn, event.call_id))
        case e.ContradictionRecorded():
            for side in event.sides:
                if side.version is None:
                    check_provenance(seen, side.turn, side.source)
            check_provenance(seen, event.turn, None)
        case e.ForgettingDeclined():
            assert event.turn is not None
            assert seen.roles[event.turn - 1] == "user"
        case _ if not isinstance(event, e.Governing):
            check_provenance(seen, event.turn, getattr(event, "source", None))


def check_provenance(seen: Seen, turn: int | None, source: str | None) -> None:
    if turn is not None and seen.roles:
        assert turn <= len(seen.roles)
        assert source != "user" or seen.roles[turn - 1] == "user"


def check_content(seen: Seen, version: int, event: e.Event) -> None:
    match event:
        case e.LedgerOpened():
            assert not seen.opened
            seen.opened = True
        case e.LedgerClosed():
            seen.closed = True
        case e.FactSet() | e.FactReaffirmed() | e.FactSuperseded() | e.FactRetracted():
            check_fact(seen, version, event)
        case e.EntryAdded():
            seen.entries.add(f"en_{version}")
        case e.EntryClosed():
            seen.entries.remove(event.entry)
        case e.ArtifactStored():
            seen.artifacts.add(event.sha256)
        case e.EvidenceRecorded():
            assert event.sha256 in seen.artifacts
            seen.evidence.add(f"ev_{version}")
        case e.ContradictionRecorded():
            assert all(side.evidence is None or side.evidence in seen.evidence for side in event.sides)
            assert all(side.version is None or side.version < version for side in event.sides)
            seen.disputes[f"con_{version}"] = event
        case e.ContradictionResolved():
            check_resolution(seen, event)
        case e.TurnClassified():
            assert event.turn is not None
            assert event.turn <= len(seen.roles)
        case e.SummaryRecorded():
            assert 1 <= event.first_turn <= event.last_turn <= len(seen.roles)
            assert event.through_version < version
            assert event.text.strip()
        case e.PolicyRecorded():
            assert event.digest not in seen.policies
            seen.policies.add(event.digest)
        case e.WindowRecorded():
            assert event.policy in seen.policies
            assert event.of_version < version


def check_fact(seen: Seen, version: int, event: e.FactEvent) -> None:
    """A value goes only by an event that names it, from a source that weighs as much."""
    standing = seen.claims.get(event.field)
    match event:
        case e.FactSet():
            assert standing is None
        case e.FactSuperseded(replaces=named) | e.FactRetracted(retracts=named):
            assert standing is not None
            assert named == standing[0]
            assert WEIGHT[event.source] >= seen.weights[event.field]
        case e.FactReaffirmed():
            check_reaffirmed(seen, event)
            return
    if isinstance(event, e.FactRetracted):
        del seen.claims[event.field]
    else:
        seen.claims[event.field] = (version, event.value.canonical, event.source)
        seen.weights[event.field] = WEIGHT[event.source]


def check_reaffirmed(seen: Seen, event: e.FactReaffirmed) -> None:
    standing = seen.claims.get(event.field)
    if standing is not None and standing[1] == event.value.canonical:
        seen.weights[event.field] = max(seen.weights[event.field], WEIGHT[event.source])
        return
    disputed = [side.value for one in seen.disputes.values() if one.field == event.field for side in one.sides]
    assert event.value.canonical in [value.canonical for value in disputed if value is not None]


def check_resolution(seen: Seen, event: e.ContradictionResolved) -> None:
    dispute = seen.disputes.pop(event.contradiction)
    assert all(WEIGHT[event.source] >= WEIGHT[side.source] for side in dispute.sides if side.source is not None)
    if dispute.field in seen.claims:
        assert WEIGHT[event.source] >= seen.weights[dispute.field]
