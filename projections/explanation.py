"""The audit of one field: everything that was ever said of it, by whom, in which words, and what became of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ledger import events as e
from ledger.erased import Erased, Forgotten
from ledger.fields import RANK, SPOKEN_RANK
from ledger.json_text import JsonText
from ledger.parts import Problem
from ledger.record import Recorded, timestamp
from ledger.schema.schema import Schema
from ledger.standing import Claim, as_meant, contradiction_id, meant, successor
from projections.basis import Basis
from projections.extraction import stands_in
from projections.transcript import Transcript
from projections.wire import to_json

Kind = Literal["set", "confirmed", "repeated", "superseded", "retracted", "rejected", "disputed", "resolved", "forgotten"]

_SENTENCE: Final = re.compile(r"[^.!?\n]*(?:[.!?](?!\s|$)[^.!?\n]*)*(?:[.!?]+(?=\s|$)|\n|$)")


@dataclass(frozen=True, slots=True)
class Told:
    """Where a value comes from: the sentence of a turn in which it stands, and the place of the sentence in the turn's text."""

    turn: int
    role: str
    sentence: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that happened to a field.

    ``replaces`` is the version of the claim that it took the place of, or took away; ``contradiction`` the id of the one that
    it opened, or that it closed. A step that was forgotten has its mark in the place of value and source.
    """

    version: int
    at: str
    kind: Kind
    value: JsonText | Forgotten | None = None
    meaning: JsonText | None = None
    source: e.Source | Forgotten | None = None
    turn: int | None = None
    told: Told | None = None
    because: str | None = None
    replaces: int | None = None
    contradiction: str | None = None
    problems: tuple[Problem, ...] = ()
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The audit of a field up to a version: what stands, and every step that led there, oldest first."""

    basis: Basis
    field: str
    standing: Claim | None
    steps: tuple[Step, ...]

    def to_json(self) -> bytes:
        """The answer as JSON: basis, field, standing (value, source, turn, version), steps."""
        claim = self.standing
        standing = None
        if claim is not None:
            standing = {"value": claim.value, "source": claim.source, "turn": claim.turn, "version": claim.version}
        steps = [_known(step) for step in self.steps]
        return to_json({"basis": self.basis, "field": self.field, "standing": standing, "steps": steps})


def explanation_of(
    field: str, events: Sequence[Recorded], *, basis: Basis, transcript: Transcript, schema: Schema | None, mark: str
) -> Explanation:
    """The audit of a field by its canonical name. Forgotten claims are known by ``mark``, the keyed hash of the name."""
    spec = None if schema is None else schema.spec(field)
    names = {field} if spec is None else {field, *spec.aliases}
    teller = _Teller(transcript, spec)
    said = _Said(names, mark)
    steps = [teller.told(step) for item in events for step in said.steps(item)]
    standing = next((claim for name in (field, *names) if (claim := said.standing.get(name)) is not None), None)
    return Explanation(basis, field, standing, tuple(steps))


class _Said:
    """Goes through a ledger's events in order, and knows what stands in a field, under each of its names."""

    def __init__(self, names: set[str], mark: str) -> None:
        self._names = names
        self._mark = mark
        self._disputes: set[str] = set()
        self.standing: dict[str, Claim | None] = {}

    def steps(self, item: Recorded) -> list[Step]:
        """What an event means for the field, if anything."""
        event = item.event
        name = getattr(event, "field", None)
        standing = self.standing.get(name or "")
        about = isinstance(event, Erased | e.ContradictionResolved) or name in self._names
        found = list(_steps(item, self._mark, standing, self._disputes)) if about else []
        match event:
            case e.FactSet() | e.FactSuperseded() | e.FactReaffirmed() | e.FactRetracted() if name in self._names:
                self.standing[event.field] = successor(standing, item.version, event)
            case e.ContradictionRecorded() if name in self._names:
                self._disputes.add(contradiction_id(item.version))
            case Erased(ends=int(ends)):
                ended = [name for name, claim in self.standing.items() if claim is not None and claim.version == ends]
                self.standing.update(dict.fromkeys(ended))
            case e.SchemaSet(declared=declared):
                schema = Schema.model_validate_json(declared)
                held = {name: claim for name, claim in self.standing.items() if claim is not None}
                self.standing.update({name: as_meant(claim, name, schema) for name, claim in held.items()})
            case _:
                pass
        return found


def _steps(item: Recorded, mark: str, standing: Claim | None, disputes: Collection[str]) -> Iterator[Step]:
    """What an event about a field means for it."""
    event = item.event
    place: dict[str, Any] = {
        "version": item.version,
        "at": timestamp(item.envelope.recorded_at),
        "turn": item.turn,
        "actor": item.envelope.actor,
    }
    match event:
        case Erased(named=named, forgotten=forgotten) if named == mark:
            yield Step(**place, kind="forgotten", value=forgotten, source=forgotten)
        case e.FactSet() | e.FactSuperseded() | e.FactReaffirmed():
            replaces = event.replaces if isinstance(event, e.FactSuperseded) else None
            because = event.because if isinstance(event, e.FactSuperseded) else None
            said: dict[str, Any] = {"value": event.value, "meaning": event.meaning, "source": event.source}
            yield Step(**place, kind=_kind(event, standing), replaces=replaces, because=because, **said)
        case e.FactRetracted():
            yield Step(**place, kind="retracted", source=event.source, replaces=event.retracts, because=event.because)
        case e.FactRejected():
            yield Step(**place, kind="rejected", value=event.value, source=event.source, problems=event.problems)
        case e.ContradictionRecorded():
            claimed = next((side for side in event.sides if side.version is None), event.sides[-1])
            origin: dict[str, Any] = {"value": claimed.value, "meaning": claimed.meaning, "source": claimed.source}
            name = contradiction_id(item.version)
            yield Step(**{**place, "turn": claimed.turn or item.turn}, kind="disputed", contradiction=name, **origin)
        case e.ContradictionResolved() if event.contradiction in disputes:
            decided: dict[str, Any] = {"value": event.value, "source": event.source, "because": event.because}
            yield Step(**place, kind="resolved", contradiction=event.contradiction, **decided)
        case _:
            return


def _kind(event: e.FactSet | e.FactSuperseded | e.FactReaffirmed, standing: Claim | None) -> Kind:
    match event:
        case e.FactSet():
            return "set"
        case e.FactSuperseded():
            return "superseded"
        case _:
            is_its_own = standing is not None and meant(event) == standing.canonical
            return "confirmed" if is_its_own and RANK[event.source] >= SPOKEN_RANK else "repeated"


class _Teller:
    """Finds the sentence in which a value stands."""

    def __init__(self, transcript: Transcript, spec: Any) -> None:
        self._turns = {turn.number: turn for turn in transcript.turns}
        self._spec = spec

    def told(self, step: Step) -> Step:
        """The step with the words that it rests on, where its turn holds them."""
        turn = self._turns.get(step.turn or 0)
        if turn is None or turn.forgotten is not None or not isinstance(step.value, JsonText):
            return step
        found = self._sentence(turn.text, step.value)
        if found is None:
            return step
        sentence, start = found
        told = Told(turn.number, turn.role, sentence, start, start + len(sentence))
        return Step(**{name: getattr(step, name) for name in Step.__slots__} | {"told": told})

    def _sentence(self, text: str, value: JsonText) -> tuple[str, int] | None:
        for match in _SENTENCE.finditer(text):
            sentence = match.group().strip()
            if sentence and stands_in(sentence, value.value, self._spec):
                return sentence, match.start() + match.group().index(sentence)
        return None


def _known(step: Step) -> dict[str, Any]:
    """A step without what it does not have; the mark of what was forgotten stands in the place of its value."""
    known = {name: getattr(step, name) for name in Step.__slots__}
    if isinstance(step.value, Forgotten):
        known["source"] = None
    return {name: value for name, value in known.items() if value not in (None, ())}
