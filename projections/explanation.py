"""The audit of one field: everything that was ever said of it, by whom, in which words, and what became of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ledger import events as e
from ledger.erased import Erased, Forgotten
from ledger.fields import RANK, SPOKEN_RANK
from ledger.json_text import JsonText
from ledger.parts import Problem
from ledger.record import Recorded, timestamp
from ledger.schema.schema import Schema
from ledger.standing import Claim, contradiction_id, meant, successor
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
    teller = _Teller(transcript, None if schema is None else schema.spec(field))
    disputes: dict[str, bool] = {}
    standing: Claim | None = None
    steps: list[Step] = []
    for item in events:
        event = item.event
        steps += map(teller.told, _steps(item, field, mark, standing, disputes))
        if isinstance(event, e.FactEvent) and event.field == field:
            standing = successor(standing, item.version, event)
        elif isinstance(event, Erased) and standing is not None and event.ends == standing.version:
            standing = None
        elif isinstance(event, e.ContradictionRecorded) and event.field == field:
            disputes[contradiction_id(item.version)] = True
    return Explanation(basis, field, standing, tuple(steps))


def _steps(item: Recorded, field: str, mark: str, standing: Claim | None, disputes: dict[str, bool]) -> Iterator[Step]:
    """What an event means for a field, if anything."""
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
        case e.FactSet() | e.FactSuperseded() | e.FactReaffirmed() if event.field == field:
            replaces = event.replaces if isinstance(event, e.FactSuperseded) else None
            because = event.because if isinstance(event, e.FactSuperseded) else None
            said: dict[str, Any] = {"value": event.value, "meaning": event.meaning, "source": event.source}
            yield Step(**place, kind=_kind(event, standing), replaces=replaces, because=because, **said)
        case e.FactRetracted() if event.field == field:
            yield Step(**place, kind="retracted", source=event.source, replaces=event.retracts, because=event.because)
        case e.FactRejected() if event.field == field:
            yield Step(**place, kind="rejected", value=event.value, source=event.source, problems=event.problems)
        case e.ContradictionRecorded() if event.field == field:
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
    """A step without what it does not have; what was forgotten of it stands under "forgotten"."""
    known = {name: getattr(step, name) for name in Step.__slots__}
    if isinstance(step.value, Forgotten):
        known |= {"value": None, "source": None, "forgotten": step.value}
    return {name: value for name, value in known.items() if value not in (None, ())}
