"""What a ledger was, at any version: the record read from a store and folded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ledger import Ledgers
from ledger.decide import field_name
from ledger.record import Recorded, timestamp
from ledger.store import Head, Selection
from ledger.writer import recorded
from projections.basis import ENGINE, Basis
from projections.contradictions import Contradiction, ContradictionsFold
from projections.entries import EntriesFold
from projections.evidence import EvidenceFold
from projections.facts import FactsFold, FactValue
from projections.fold import run
from projections.handoff import Handoff, handoff_of
from projections.lifecycle import LifecycleFold
from projections.policy import Policy
from projections.state import State, state_of
from projections.transcript import SystemText, Transcript, TranscriptFold
from projections.transcript import Turn as RecordedTurn
from projections.window import Counting, Window, draft_window, texts_of
from projections.wire import to_json
from replay.moment import At, Turn, version_at
from replay.tokens import counter, encoding_for

__all__ = ["At", "FieldHistory", "TranscriptAnswer", "Turn", "View", "view"]


@dataclass(frozen=True, slots=True)
class TranscriptAnswer:
    """The transcript with its basis."""

    basis: Basis
    transcript: Transcript

    @property
    def system(self) -> tuple[SystemText, ...]:
        """All system texts, in the order in which they were recorded."""
        return self.transcript.system

    @property
    def turns(self) -> tuple[RecordedTurn, ...]:
        """All turns with what their calls returned."""
        return self.transcript.turns

    def to_json(self) -> bytes:
        """The answer as JSON: basis, system, turns with their parts and returns, and returns that answer no call."""
        turns = [
            {
                "turn": turn.number,
                "version": turn.version,
                "role": turn.role,
                "name": turn.name,
                "model": turn.model,
                "parts": turn.parts,
                "returns": turn.returns,
            }
            for turn in self.transcript.turns
        ]
        return to_json(
            {"basis": self.basis, "system": self.transcript.system, "turns": turns, "orphans": self.transcript.orphans}
        )


@dataclass(frozen=True, slots=True)
class FieldHistory:
    """All values that a field held up to a version, oldest first, and the contradictions about it."""

    basis: Basis
    field: str
    values: tuple[FactValue, ...]
    contradictions: tuple[Contradiction, ...]

    def to_json(self) -> bytes:
        """The answer as JSON: basis, field, values, contradictions."""
        return to_json(
            {
                "basis": self.basis,
                "field": self.field,
                "values": [_value(value) for value in self.values],
                "contradictions": [_contradiction(found) for found in self.contradictions],
            }
        )


class View:
    """A ledger as of one version. The events are read and folded once, when something is first asked."""

    def __init__(self, store: Ledgers, head: Head, at: At) -> None:
        self._store = store
        self._head = head
        # A version is known without reading what came after it; a turn or a time is looked up among all events.
        upto = at if isinstance(at, int) and 0 <= at <= head.version else head.version
        rows = store.store.read(head.ledger, Selection(upto=upto))
        events = [recorded(row) for row in rows]
        self.version = version_at(events, at)
        self._events: list[Recorded] = events[: self.version]

    def __repr__(self) -> str:
        return f"<view of {self._head.name!r} at version {self.version}>"

    def basis(self, policy: Policy | None = None) -> Basis:
        """What an answer of this view rests on."""
        last = self._events[-1].envelope.recorded_at if self._events else None
        return Basis(
            ledger=self._head.name,
            version=self.version,
            recorded_at=None if last is None else timestamp(last),
            policy=None if policy is None else policy.digest,
            engine=ENGINE,
            erasures=self._head.erasures,
        )

    def transcript(self) -> TranscriptAnswer:
        """System texts, turns, and what their calls returned."""
        return TranscriptAnswer(self.basis(), self._transcript)

    def state(self) -> State:
        """Task, entities, constraints, decisions, rejected, open questions, with provenance; ``.block`` is their text."""
        folds = self._folds
        return state_of(
            self.basis(),
            lifecycle=folds.lifecycle,
            transcript=self._transcript,
            facts=folds.facts,
            entries=folds.entries,
            contradictions=folds.contradictions,
        )

    def window(self, policy: Policy | None = None, *, render: str = "openai") -> Window:
        """What a model call would receive under a policy (the default one, if none is given), in a provider's form.

        ``render``: "openai", "anthropic" or "text". Raises ``BudgetExceeded``, ``NothingToSend`` and, for an encoding or model
        that is not known, ``UnknownEncoding``.
        """
        chosen = policy or Policy()
        encoding = encoding_for(chosen.encoding)
        counting = Counting(encoding, counter(encoding))
        texts = self._artifacts(texts_of(self._transcript, chosen))
        draft = draft_window(self._transcript, self.state(), chosen, form=render, counting=counting, texts=texts)
        return draft.finish(self.basis(chosen), self._artifacts(draft.media))

    def _artifacts(self, hashes: set[str]) -> dict[str, bytes]:
        """The bytes of artifacts that are there."""
        found = {sha256: self._store.store.blob(self._head.ledger, sha256) for sha256 in sorted(hashes)}
        return {sha256: content for sha256, content in found.items() if content is not None}

    def handoff(self) -> Handoff:
        """A brief for a fresh session."""
        return handoff_of(
            self.state(), entries=self._folds.entries, evidence=self._folds.evidence, lifecycle=self._folds.lifecycle
        )

    def history(self, name: str) -> FieldHistory:
        """How a field changed: every value with its provenance and the versions where it stood; empty if there were none."""
        field = field_name(name)
        about = tuple(found for found in self._folds.contradictions.all() if found.field == field)
        return FieldHistory(self.basis(), field, self._folds.facts.history(field), about)

    def fields(self) -> tuple[str, ...]:
        """All fields that ever held a value."""
        return self._folds.facts.fields()

    @cached_property
    def _transcript(self) -> Transcript:
        return self._folds.transcript.result()

    @cached_property
    def _folds(self) -> _Folds:
        folds = _Folds()
        run(vars(folds).values(), self._events)
        return folds


class _Folds:
    """One fold of each kind over the same events."""

    def __init__(self) -> None:
        self.transcript = TranscriptFold()
        self.facts = FactsFold()
        self.entries = EntriesFold()
        self.contradictions = ContradictionsFold()
        self.evidence = EvidenceFold()
        self.lifecycle = LifecycleFold()


def view(store: Ledgers, ledger_id: str, *, at: At = None) -> View:
    """A ledger as of ``at``: a version, ``Turn(7)``, a recorded time (aware), or now.

    Raises ``UnknownLedger`` and ``UnknownVersion``.
    """
    return View(store, store.head(ledger_id), at)


def _value(value: FactValue) -> dict[str, Any]:
    known: dict[str, Any] = {
        "value": value.json,
        "turn": value.turn,
        "source": value.source,
        "from_version": value.from_version,
        "to_version": value.to_version,
        "superseded_by": value.superseded_by,
        "because": value.because,
    }
    if value.confirmed_source is not None:
        known["confirmed"] = {"turn": value.confirmed_turn, "source": value.confirmed_source}
    return known


def _contradiction(found: Contradiction) -> dict[str, Any]:
    return {
        "id": found.id,
        "about": found.about,
        "sides": found.sides,
        "turns": list(found.turns),
        "version": found.version,
        "open": found.resolution is None,
        "resolution": found.resolution,
    }
