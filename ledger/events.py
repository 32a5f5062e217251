"""Everything that can happen to a ledger, as frozen models in one closed union.

``type`` and ``type_version`` are the stored format and never change their meaning. No model reads a clock or makes an id:
what a model does not hold, it is given. ``turn`` stands in the envelope and not in the payload; for a fact or an entry it is
the turn that it came from. The events about windows are written in ``window_events``, and are named here like all others.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ledger.event import EventBase as EventBase  # noqa: PLC0414
from ledger.json_text import JsonText, Text
from ledger.parts import Frozen, Moment, Name, Part, Problem, ReturnPart, Sha256, TurnNumber, Usage
from ledger.window_events import PolicyRecorded as PolicyRecorded  # noqa: PLC0414
from ledger.window_events import SummaryRecorded as SummaryRecorded  # noqa: PLC0414
from ledger.window_events import TurnClassified as TurnClassified  # noqa: PLC0414
from ledger.window_events import WindowRecorded as WindowRecorded  # noqa: PLC0414

Role = Literal["system", "user", "assistant"]
Source = Literal["user", "interface", "tool", "inferred"]
Section = Literal["constraints", "decisions", "rejected", "open"]
ForgettingScope = Literal["turns", "facts", "artifacts", "ids", "subject", "ledger", "retention"]


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


class SchemaSet(EventBase):
    """The schema that is in force from here on; ``declared`` is its JSON, ``digest`` its SHA-256."""

    type: Literal["schema.set"] = Field(default="schema.set", exclude=True)
    name: Name
    digest: Sha256
    declared: JsonText


class Claiming(EventBase):
    """What the events have in common that state a value.

    ``value`` is as it was given; ``meaning`` is what it means in the field's declared format, where it has one.
    ``valid_from`` and ``valid_to`` say when it holds in the world, where that was said. ``reference`` says whether what the
    value refers to was found to exist when it came in.
    """

    field: Name
    value: JsonText
    source: Source
    meaning: JsonText | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    reference: Literal["exists", "unchecked"] | None = None


class FactSet(Claiming):
    """A field without a value got one. ``field`` is the canonical name, ``spelling`` the name as given where it differs."""

    type: Literal["fact.set"] = Field(default="fact.set", exclude=True)
    spelling: Text | None = None


class FactReaffirmed(Claiming):
    """The value that stands, or one that is disputed, was stated again."""

    type: Literal["fact.reaffirmed"] = Field(default="fact.reaffirmed", exclude=True)


class FactSuperseded(Claiming):
    """A new value took the place of the claim that was made at version ``replaces``; both stay in the record."""

    type: Literal["fact.superseded"] = Field(default="fact.superseded", exclude=True)
    replaces: int = Field(ge=1)
    because: Text | None = None


class FactRetracted(EventBase):
    """A field has no value any more; ``retracts`` is the version of the claim that stood."""

    type: Literal["fact.retracted"] = Field(default="fact.retracted", exclude=True)
    field: Name
    source: Source
    retracts: int = Field(ge=1)
    because: Text | None = None


class FactRejected(EventBase):
    """A value was refused by the schema, for ``problems``; it stands nowhere, but it was claimed."""

    type: Literal["fact.rejected"] = Field(default="fact.rejected", exclude=True)
    field: Name
    value: JsonText
    source: Source
    problems: tuple[Problem, ...] = Field(min_length=1)
    quote: Text | None = None


class ExtractionRecorded(EventBase):
    """An extractor read the turns up to ``through_turn``, from after ``after_turn`` on, and found so many candidates.

    It knew what was recorded up to ``through_version``; results of tools that came later it has not read.
    For a model, which one, the hash of its prompt and what it used. ``incomplete`` says what is missing where it broke off.
    """

    type: Literal["extraction.recorded"] = Field(default="extraction.recorded", exclude=True)
    extractor: Name
    after_turn: int = Field(ge=0)
    through_turn: int = Field(ge=0)
    through_version: int | None = Field(default=None, ge=1)
    candidates: int = Field(ge=0)
    model: Name | None = None
    prompt_hash: Name | None = None
    usage: Usage | None = None
    incomplete: Text | None = None


class EntryAdded(EventBase):
    """A constraint, decision, rejected option or open question. Its id is ``en_`` and the version of this event."""

    type: Literal["entry.added"] = Field(default="entry.added", exclude=True)
    section: Section
    what: Text
    source: Source
    why: Text | None = None


class EntryClosed(EventBase):
    """An entry holds no longer: answered, lifted, withdrawn. Without a source it weighs as little as what is inferred."""

    type: Literal["entry.closed"] = Field(default="entry.closed", exclude=True)
    entry: Name
    because: Text
    source: Source | None = None


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
    meaning: JsonText | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None


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


class Erasure(Frozen):
    """What is kept of an erased event, beside its envelope, so that what came before and after it still holds together.

    ``role``: of a turn. ``answers``: the place (from 0) of the call that a return answered, among the calls of its turn.
    ``ends``: the version of the claim, entry or contradiction that it superseded, retracted, closed or resolved.
    ``named``: the keyed hash of its field's name or of its artifact's hash.
    """

    version: int = Field(ge=1)
    role: Role | None = None
    answers: int | None = Field(default=None, ge=0)
    ends: int | None = Field(default=None, ge=1)
    named: Name | None = None


class ContentForgotten(EventBase):
    """Content of this ledger was erased: which events lost theirs, in the course of which job, and why; never what it was.

    ``fields``: keyed hashes of the fields that were forgotten by name; claims about them from turns up to ``through_turn``
    are not taken again. ``answers``: the user turns whose wish to have something forgotten it fulfils; none if not given.
    """

    type: Literal["content.forgotten"] = Field(default="content.forgotten", exclude=True)
    job: Name
    scope: ForgettingScope
    reason: Text
    erased: tuple[Erasure, ...]
    through_turn: int = Field(ge=0)
    fields: tuple[Name, ...] = ()
    answers: tuple[TurnNumber, ...] | None = None

    @property
    def count(self) -> int:
        """How many events lost their content."""
        return len(self.erased)


class ForgettingDeclined(EventBase):
    """What the user asked to have forgotten in ``turn`` is kept, and why."""

    type: Literal["forgetting.declined"] = Field(default="forgetting.declined", exclude=True)
    because: Text


class LedgerReauthorised(EventBase):
    """A forgotten ledger takes events again."""

    type: Literal["ledger.reauthorised"] = Field(default="ledger.reauthorised", exclude=True)
    because: Text


class HoldPlaced(EventBase):
    """A legal hold: nothing of this ledger is erased until it is lifted."""

    type: Literal["hold.placed"] = Field(default="hold.placed", exclude=True)
    because: Text


class HoldLifted(EventBase):
    """The legal hold on this ledger ended."""

    type: Literal["hold.lifted"] = Field(default="hold.lifted", exclude=True)
    because: Text


class RetentionSet(EventBase):
    """How long some of this ledger's content is kept, counted from its recording, or from the ledger's closing.

    ``scope`` and ``name`` say what: the whole ledger, events with a label, a section, or a type of events. A later rule for the
    same takes its place; without ``keep_seconds`` it is kept as long as the record.
    """

    type: Literal["retention.set"] = Field(default="retention.set", exclude=True)
    scope: Literal["ledger", "label", "section", "type"]
    name: Name | None = None
    keep_seconds: int | None = Field(default=None, ge=0)
    after_close: bool = False


Event = Annotated[
    LedgerOpened
    | LedgerClosed
    | TurnRecorded
    | ToolReturned
    | SchemaSet
    | FactSet
    | FactReaffirmed
    | FactSuperseded
    | FactRetracted
    | FactRejected
    | ExtractionRecorded
    | EntryAdded
    | EntryClosed
    | ArtifactStored
    | EvidenceRecorded
    | ContradictionRecorded
    | ContradictionResolved
    | OutcomeRecorded
    | TurnClassified
    | SummaryRecorded
    | PolicyRecorded
    | WindowRecorded
    | ContentForgotten
    | ForgettingDeclined
    | LedgerReauthorised
    | HoldPlaced
    | HoldLifted
    | RetentionSet,
    Field(discriminator="type"),
]
"""The closed union of all events."""

FactEvent = FactSet | FactReaffirmed | FactSuperseded | FactRetracted
"""Events that change or repeat what a field holds."""

Governing = ContentForgotten | ForgettingDeclined | LedgerReauthorised | HoldPlaced | HoldLifted | RetentionSet
"""Events about what is kept and what is forgotten; they are never forgotten themselves."""
