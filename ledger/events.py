"""Everything that can happen to a ledger, as frozen models in one closed union.

``type`` and ``type_version`` are the stored format and never change their meaning. No model reads a clock or makes an id:
what a
model does not hold, it is given. ``turn`` stands in the envelope and not in the payload; for a fact or an entry it is the
turn that it came from.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ledger.json_text import JsonText, Text
from ledger.parts import Frozen, Moment, Name, Part, ReturnPart, Sha256, TurnNumber, Usage

Role = Literal["system", "user", "assistant"]
Source = Literal["user", "interface", "tool", "inferred"]
Section = Literal["constraints", "decisions", "rejected", "open"]


class EventBase(Frozen):
    """What all events share: the turn that they belong to, if any."""

    type_version: ClassVar[int] = 1
    turn: TurnNumber | None = Field(default=None, exclude=True)


class LedgerOpened(EventBase):
    """The ledger was given a task, the name of a schema, or a parent ledger."""

    type: Literal["ledger.opened"] = Field(default="ledger.opened", exclude=True)
    task: Text | None = None
    schema_name: Name | None = None
    parent: Name | None = None


class LedgerClosed(EventBase):
    """Nothing more will be recorded, save an outcome."""

    type: Literal["ledger.closed"] = Field(default="ledger.closed", exclude=True)
    because: Text | None = None


class TurnRecorded(EventBase):
    """A user or assistant turn, or system text (which has no turn number), exactly as it happened, even if it is empty."""

    type: Literal["turn.recorded"] = Field(default="turn.recorded", exclude=True)
    role: Role
    parts: tuple[Part, ...]
    name: Text | None = None
    model: Name | None = None
    usage: Usage | None = None
    external_id: Name | None = None
    said_at: Moment | None = None


class ToolReturned(EventBase):
    """What a tool returned for a call; bears the turn of the call. An ``orphan`` answers no call that was recorded."""

    type: Literal["tool.returned"] = Field(default="tool.returned", exclude=True)
    call_id: Name
    parts: tuple[ReturnPart, ...]
    is_error: bool = False
    orphan: bool = False
    tool: Name | None = None
    external_id: Name | None = None
    said_at: Moment | None = None


class FactSet(EventBase):
    """A field without a value got one. ``field`` is the canonical name, ``spelling`` the name as given where it differs."""

    type: Literal["fact.set"] = Field(default="fact.set", exclude=True)
    field: Name
    value: JsonText
    source: Source
    spelling: Text | None = None


class FactReaffirmed(EventBase):
    """The value that stands, or one that is disputed, was stated again."""

    type: Literal["fact.reaffirmed"] = Field(default="fact.reaffirmed", exclude=True)
    field: Name
    value: JsonText
    source: Source


class FactSuperseded(EventBase):
    """A new value took the place of the claim that was made at version ``replaces``; both stay in the record."""

    type: Literal["fact.superseded"] = Field(default="fact.superseded", exclude=True)
    field: Name
    value: JsonText
    source: Source
    replaces: int = Field(ge=1)
    because: Text | None = None


class FactRetracted(EventBase):
    """A field has no value any more; ``retracts`` is the version of the claim that stood."""

    type: Literal["fact.retracted"] = Field(default="fact.retracted", exclude=True)
    field: Name
    source: Source
    retracts: int = Field(ge=1)
    because: Text | None = None


class EntryAdded(EventBase):
    """A constraint, decision, rejected option or open question. Its id is ``en_`` and the version of this event."""

    type: Literal["entry.added"] = Field(default="entry.added", exclude=True)
    section: Section
    what: Text
    source: Source
    why: Text | None = None


class EntryClosed(EventBase):
    """An entry holds no longer: answered, lifted, withdrawn."""

    type: Literal["entry.closed"] = Field(default="entry.closed", exclude=True)
    entry: Name
    because: Text


class ArtifactStored(EventBase):
    """Raw bytes were stored under their hash; the bytes themselves stand in the ledger's blobs."""

    type: Literal["artifact.stored"] = Field(default="artifact.stored", exclude=True)
    sha256: Sha256
    size_bytes: int = Field(ge=0)
    media_type: Name | None = None
    name: Text | None = None
    url: Text | None = None
    retrieved_at: Moment | None = None


class EvidenceRecorded(EventBase):
    """A claim and the quote that it rests on, in one exact artifact. Its id is ``ev_`` and the version of this event.

    ``match`` says whether the quote stands in the artifact's UTF-8 text, verbatim; ``start`` and ``end`` are then its
    characters.
    """

    type: Literal["evidence.recorded"] = Field(default="evidence.recorded", exclude=True)
    claim: Text
    quote: Text
    sha256: Sha256
    match: Literal["exact", "not_found"]
    start: int | None = Field(default=None, ge=0)
    end: int | None = Field(default=None, ge=0)
    retrieved_at: Moment | None = None
    requirement: Text | None = None


class Side(Frozen):
    """One of the claims that cannot both hold: a recorded claim (its version), an evidence id, or a value with provenance."""

    version: int | None = Field(default=None, ge=1)
    evidence: Name | None = None
    value: JsonText | None = None
    source: Source | None = None
    turn: TurnNumber | None = None


class ContradictionRecorded(EventBase):
    """Claims that cannot all hold; open until resolved. Its id is ``con_`` and the version of this event.

    ``field`` is set where the claims are about a fact; the value that stands goes on standing.
    """

    type: Literal["contradiction.recorded"] = Field(default="contradiction.recorded", exclude=True)
    about: Text
    sides: tuple[Side, ...] = Field(min_length=2)
    field: Name | None = None


class ContradictionResolved(EventBase):
    """Somebody decided; ``value`` is the value that holds, where one was chosen."""

    type: Literal["contradiction.resolved"] = Field(default="contradiction.resolved", exclude=True)
    contradiction: Name
    because: Text
    source: Source
    value: JsonText | None = None


class OutcomeRecorded(EventBase):
    """How the task ended, by whose judgement."""

    type: Literal["outcome.recorded"] = Field(default="outcome.recorded", exclude=True)
    status: Literal["completed", "partial", "failed", "abandoned"]
    judge: Name
    detail: Text | None = None


Event = Annotated[
    LedgerOpened
    | LedgerClosed
    | TurnRecorded
    | ToolReturned
    | FactSet
    | FactReaffirmed
    | FactSuperseded
    | FactRetracted
    | EntryAdded
    | EntryClosed
    | ArtifactStored
    | EvidenceRecorded
    | ContradictionRecorded
    | ContradictionResolved
    | OutcomeRecorded,
    Field(discriminator="type"),
]
"""The closed union of all events."""

FactEvent = FactSet | FactReaffirmed | FactSuperseded | FactRetracted
"""Events that change or repeat what a field holds."""
