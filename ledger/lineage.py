"""What must go with what: from the events that somebody asked to forget to all that rests on them. Pure.

Forgetting a turn takes what belongs to it: its returns, the facts, entries, evidence and contradictions that come from it, and
the artifacts that nothing else shows; forgetting a return, what the tools of its turn are the source of, and what was said of
its turn as a whole. Either takes every summary of turns among which theirs is. Forgetting a claim takes what repeats it, an
entry its closing, an artifact the evidence that quotes it, evidence the contradictions that name it, and a contradiction its
resolution and what repeats the disputed value. Policies and windows that were served hold no content, so they stay.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ledger import events as e
from ledger.erased import Erased
from ledger.marks import artifact_mark, field_mark
from ledger.parts import DocumentPart, ImagePart, ToolCallPart
from ledger.record import Recorded
from ledger.standing import meant

_AGAIN: Final = "states the value again"


@dataclass(frozen=True, slots=True)
class Cause:
    """Why an event goes: ``root`` is the version that was asked for, ``because`` says how this one rests on it."""

    root: int
    because: str


class Lineage:
    """How the events of one ledger rest on each other. Erased and governing events are no part of it."""

    def __init__(self, events: Sequence[Recorded]) -> None:
        self.events = {item.version: item for item in events if not isinstance(item.event, Erased | e.Governing)}
        self._by_turn: dict[int, list[int]] = defaultdict(list)
        self._from_turn: dict[int, list[tuple[int, e.Source | None]]] = defaultdict(list)
        self._resting: dict[int, list[tuple[int, str]]] = defaultdict(list)
        self._stored: dict[str, list[int]] = defaultdict(list)
        self._shown: dict[str, list[int]] = defaultdict(list)
        self._quoted: dict[str, list[int]] = defaultdict(list)
        self._summaries: dict[int, e.SummaryRecorded] = {}
        stands = _Stands()
        for item in events:
            if item.version in self.events:
                self._add(item, stands)
            elif isinstance(item.event, Erased) and item.event.ends is not None:
                stands.end(item.event.ends)

    def closure(self, asked: Iterable[int]) -> dict[int, Cause]:
        """Everything that goes with the versions asked for, in order of version."""
        found = {version: Cause(version, "asked for") for version in asked if version in self.events}
        waiting = list(found)
        while waiting:
            version = waiting.pop()
            for other, because in [*self._dependents(version, found), *self._artifacts(version, found)]:
                if other not in found and other in self.events:
                    found[other] = Cause(found[version].root, because)
                    waiting.append(other)
            if not waiting:
                covering = self._covering(found)
                found.update(covering)
                waiting += covering
        return dict(sorted(found.items()))

    def _covering(self, found: Mapping[int, Cause]) -> dict[int, Cause]:
        """The summaries that are not found yet, of turns that go, or of which something goes: a return, an artifact shown.

        All at once: a summary may be of many turns, and each turn in many summaries.
        """
        waiting = [(version, event) for version, event in self._summaries.items() if version not in found]
        versions: dict[int, int] = {}
        for version in found if waiting else ():
            for turn in self._turns_told_in(version):
                versions.setdefault(turn, version)
        turns = sorted(versions)
        covering: dict[int, Cause] = {}
        for version, event in waiting:
            place = bisect_left(turns, event.first_turn)
            if place < len(turns) and turns[place] <= event.last_turn:
                turn = turns[place]
                covering[version] = Cause(found[versions[turn]].root, f"summarises turn {turn}")
        return covering

    def _turns_told_in(self, version: int) -> Iterator[int]:
        """The turns whose content an event is, or a part of it."""
        event = self.events[version].event
        shown = self._shown.get(event.sha256, ()) if isinstance(event, e.ArtifactStored) else ()
        told = [event, *(self.events[other].event for other in shown)]
        yield from (one.turn for one in told if isinstance(one, e.TurnRecorded | e.ToolReturned) and one.turn is not None)

    def about_field(self, field: str) -> list[int]:
        """The versions of all claims, retractions and contradictions about a field, by its canonical name."""
        return [version for version, item in self.events.items() if getattr(item.event, "field", None) == field]

    def stored(self, sha256: str) -> list[int]:
        """The versions at which an artifact was stored."""
        return self._stored.get(sha256, [])

    def artifacts_of(self, version: int) -> list[str]:
        """The hashes of the artifacts that an event stored or shows, or that were stored for the turn which it records."""
        event = self.events[version].event
        if isinstance(event, e.ArtifactStored):
            return [event.sha256]
        found = shown_by(event)
        if isinstance(event, e.TurnRecorded) and event.turn is not None:
            same_turn = (self.events[other].event for other in self._by_turn[event.turn])
            found += [other.sha256 for other in same_turn if isinstance(other, e.ArtifactStored)]
        return found

    def of_turn(self, turn: int) -> int | None:
        """The version of a turn."""
        found = (version for version in self._by_turn.get(turn, ()) if isinstance(self.events[version].event, e.TurnRecorded))
        return next(found, None)

    def _add(self, item: Recorded, stands: _Stands) -> None:
        event, version = item.event, item.version
        if item.turn is not None:
            self._by_turn[item.turn].append(version)
        match event:
            case e.FactSet() | e.FactSuperseded():
                self._rests(stands.claim(version, event), version, _AGAIN)
            case e.FactReaffirmed():
                self._rests(version, stands.repeated(event), _AGAIN)
            case e.FactRetracted():
                stands.end(event.retracts)
            case e.EntryClosed():
                self._rests(version, ended_by(event), "closes it")
            case e.ContradictionResolved():
                self._rests(version, ended_by(event), "closes it")
                self._rests(version, stands.resolve(version, event), _AGAIN)
            case e.ContradictionRecorded():
                stands.dispute(version, event)
                for side in event.sides:
                    self._rests(version, side.version or _number(side.evidence), "names it as a side")
                    if side.turn is not None:
                        self._from_turn[side.turn].append((version, side.source))
            case e.SummaryRecorded():
                self._summaries[version] = event
            case e.ArtifactStored():
                self._stored[event.sha256].append(version)
            case e.EvidenceRecorded():
                self._quoted[event.sha256].append(version)
            case e.TurnRecorded() | e.ToolReturned():
                for sha256 in shown_by(event):
                    self._shown[sha256].append(version)

    def _rests(self, version: int | None, on: int | None, because: str) -> None:
        if version is not None and on is not None:
            self._resting[on].append((version, because))

    def _dependents(self, version: int, found: Mapping[int, Any]) -> Iterator[tuple[int, str]]:
        event = self.events[version].event
        yield from self._resting.get(version, ())
        if isinstance(event, e.TurnRecorded) and event.turn is not None:
            mine = (other for other in self._by_turn[event.turn] if not self._is_shown_elsewhere(other, found))
            yield from ((other, f"belongs to turn {event.turn}") for other in mine)
            yield from ((other, f"has a side from turn {event.turn}") for other, _ in self._from_turn.get(event.turn, ()))
        if isinstance(event, e.ToolReturned) and event.turn is not None:
            because = f"rests on what the tools of turn {event.turn} returned"
            for other in self._by_turn[event.turn]:
                if _may_tell_of_returns(self.events[other].event):
                    yield other, because
            yield from ((other, because) for other, source in self._from_turn.get(event.turn, ()) if source == "tool")

    def _artifacts(self, version: int, found: Mapping[int, Any]) -> Iterator[tuple[int, str]]:
        """Evidence goes with the last storing of its artifact; an artifact goes with the last turn or return that shows it."""
        event = self.events[version].event
        if isinstance(event, e.ArtifactStored) and all(other in found for other in self._stored[event.sha256]):
            yield from ((other, f"quotes the artifact of version {version}") for other in self._quoted.get(event.sha256, ()))
        for sha256 in shown_by(event) if not isinstance(event, e.EvidenceRecorded) else (event.sha256,):
            shown, quoted = self._shown.get(sha256, []), self._quoted.get(sha256, [])
            if not shown or not all(other in found for other in shown):
                continue
            is_quoted = not all(other in found for other in quoted)
            for other in self._stored[sha256]:
                if not is_quoted or self.of_turn(self.events[other].turn or 0) in found:
                    yield other, f"is shown by version {version} alone"

    def _is_shown_elsewhere(self, version: int, found: Mapping[int, Any]) -> bool:
        """Whether something that does not go, or not yet, shows the artifact that a version stored."""
        event = self.events[version].event
        shown = self._shown.get(event.sha256, []) if isinstance(event, e.ArtifactStored) else []
        return not all(other in found for other in shown)


class _Stands:
    """What holds and what is disputed while the record is gone through, so that it is known what an event repeats.

    A value is known by what it means and by how it was given.
    """

    def __init__(self) -> None:
        self._claims: dict[str, tuple[int, frozenset[str]]] = {}
        self._disputes: dict[int, tuple[str, frozenset[str]]] = {}
        self._chosen: tuple[int, str] | None = None  # a resolution just now, and the value that it chose

    def claim(self, version: int, event: e.FactSet | e.FactSuperseded) -> int | None:
        """A value stands; the version of the resolution that chose it, if one did."""
        said = _said(event)
        self._claims[event.field] = version, said
        chosen, self._chosen = self._chosen, None
        return chosen[0] if chosen is not None and chosen[0] == version - 1 and chosen[1] in said else None

    def dispute(self, version: int, event: e.ContradictionRecorded) -> None:
        """Values are disputed."""
        if event.field is not None:
            claimed = (_said(side) for side in event.sides if side.version is None and side.value is not None)
            self._disputes[version] = event.field, frozenset().union(*claimed)

    def repeated(self, event: e.FactReaffirmed) -> int | None:
        """The claim that states the same value; the latest contradiction in which it is claimed, if what stands is another."""
        claim, said = self._claims.get(event.field), _said(event)
        if claim is not None and claim[1] & said:
            return claim[0]
        disputing = (one for one, (field, claimed) in self._disputes.items() if field == event.field and said & claimed)
        return max(disputing, default=None if claim is None else claim[0])

    def resolve(self, version: int, event: e.ContradictionResolved) -> int | None:
        """A contradiction is resolved; the claim that states the chosen value, if it stands already."""
        field, _ = self._disputes.pop(ended_by(event) or 0, (None, None))
        if field is None or event.value is None:
            return None
        claim = self._claims.get(field)
        if claim is not None and event.value.canonical in claim[1]:
            return claim[0]
        self._chosen = version, event.value.canonical
        return None

    def end(self, version: int) -> None:
        """What was claimed or disputed at a version is so no longer."""
        self._disputes.pop(version, None)
        self._claims = {field: claim for field, claim in self._claims.items() if claim[0] != version}


def _may_tell_of_returns(event: e.Event | Erased) -> bool:
    """Whether an event of a turn may rest on what its tools returned; a classification that says no more than its verdict does
    not tell anything.
    """
    if isinstance(event, e.TurnClassified):
        return event.because is not None or event.kind is not None
    return getattr(event, "source", None) == "tool"


def _said(claim: e.FactSet | e.FactSuperseded | e.FactReaffirmed | e.Side) -> frozenset[str]:
    return frozenset({meant(claim)} if claim.value is None else {meant(claim), claim.value.canonical})


def shown_by(event: e.Event | Erased) -> list[str]:
    """The hashes of the artifacts that a turn or a return shows; none for other events."""
    parts = event.parts if isinstance(event, e.TurnRecorded | e.ToolReturned) else ()
    return [part.sha256 for part in parts if isinstance(part, ImagePart | DocumentPart) and part.sha256 is not None]


def ended_by(event: e.Event) -> int | None:
    """The version of the claim, entry or contradiction that an event puts an end to."""
    match event:
        case e.FactSuperseded():
            return event.replaces
        case e.FactRetracted():
            return event.retracts
        case e.EntryClosed():
            return _number(event.entry)
        case e.ContradictionResolved():
            return _number(event.contradiction)
        case _:
            return None


def skeletons(events: Sequence[Recorded], versions: Iterable[int], key: bytes) -> tuple[e.Erasure, ...]:
    """What is kept of the events of some versions; ``key`` is that of the ledger's names."""
    wanted = set(versions)
    calls: dict[int, list[str]] = {}
    kept = []
    for item in events:
        event = item.event
        if isinstance(event, e.TurnRecorded) and event.turn is not None:
            calls[event.turn] = [part.call_id for part in event.parts if isinstance(part, ToolCallPart)]
        if item.version in wanted and not isinstance(event, Erased):
            kept.append(_skeleton(item.version, event, key, calls))
    return tuple(kept)


def _skeleton(version: int, event: e.Event, key: bytes, calls: Mapping[int, list[str]]) -> e.Erasure:
    match event:
        case e.TurnRecorded():
            return e.Erasure(version=version, role=event.role)
        case e.ToolReturned():
            asked = calls.get(event.turn or 0, [])
            known = not event.orphan and event.call_id in asked
            return e.Erasure(version=version, answers=asked.index(event.call_id) if known else None)
        case e.FactSet() | e.FactReaffirmed() | e.FactSuperseded() | e.FactRetracted() | e.FactRejected():
            return e.Erasure(version=version, ends=ended_by(event), named=field_mark(key, event.field))
        case e.ArtifactStored():
            return e.Erasure(version=version, named=artifact_mark(key, event.sha256))
        case _:
            return e.Erasure(version=version, ends=ended_by(event))


def _number(name: str | None) -> int | None:
    """The version in an id."""
    number = "" if name is None else name.rpartition("_")[2]
    return int(number) if number.isdecimal() else None
