"""What can be asked of a ledger, as frozen values: the same request has the same digest, whoever asks and whenever."""

from __future__ import annotations

import hashlib

from pydantic import Field

from ledger.codec import encode, type_of
from ledger.events import ArtifactStored, Event, EventBase, Role, Source
from ledger.json_text import JsonText, Text
from ledger.parts import Frozen, Moment, Name, Part, Problem, ReturnPart, Sha256, TurnNumber, Usage
from ledger.record import NO_TAGS, Tags


class OpenLedger(Frozen):
    """Give the ledger a task, a schema or a parent."""

    task: Text | None = None
    schema_name: Name | None = None
    parent: Name | None = None


class RecordTurn(Frozen):
    """Record the next turn; its number is the ledger's to give. ``artifacts`` are stored with it."""

    role: Role
    parts: tuple[Part, ...]
    artifacts: tuple[ArtifactStored, ...] = ()
    name: Text | None = None
    model: Name | None = None
    usage: Usage | None = None
    external_id: Name | None = None
    said_at: Moment | None = None


class RecordReturn(Frozen):
    """Record what a call returned; without ``turn``, of the latest turn in which the call waits."""

    call_id: Name
    parts: tuple[ReturnPart, ...]
    artifacts: tuple[ArtifactStored, ...] = ()
    turn: TurnNumber | None = None
    is_error: bool = False
    tool: Name | None = None
    external_id: Name | None = None
    said_at: Moment | None = None


class DeclareSchema(Frozen):
    """Put a schema in force; ``declared`` is its JSON."""

    name: Name
    digest: Sha256
    declared: JsonText


class SetFact(Frozen):
    """State the value of a field; ``supersedes`` names the value that it replaces.

    ``exists``: what was said of that to which the value refers, when it came in; the request is the same whatever it was.
    ``problems``: what was found wrong with the claim before it came here; it is then recorded as rejected, with its ``quote``.
    ``based_on``: the version of the ledger that the claim rests on: a value that was stated since is not replaced unasked.
    """

    field: Text
    value: JsonText
    source: Source
    turn: TurnNumber | None = None
    supersedes: JsonText | None = None
    because: Text | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    exists: bool | None = Field(default=None, exclude=True)
    problems: tuple[Problem, ...] = ()
    quote: Text | None = None
    based_on: int | None = Field(default=None, ge=0)


class SetFacts(Frozen):
    """State the values of several fields at once: all of it happens, or nothing."""

    facts: tuple[SetFact, ...] = Field(min_length=1)


class RetractFact(Frozen):
    """Say that a field has no value any more."""

    field: Text
    source: Source
    turn: TurnNumber | None = None
    because: Text | None = None


class ResolveContradiction(Frozen):
    """Close a contradiction; with ``value``, that value stands from now on."""

    contradiction: Name
    because: Text
    source: Source
    turn: TurnNumber | None = None
    value: JsonText | None = None


class RecordWindow(Frozen):
    """Record that a window was served, and its policy, whose JSON is ``declared``, where the ledger has not that one."""

    policy: Sha256
    declared: JsonText
    of_version: int = Field(ge=1)
    form: Name
    engine: Name
    erasures: int = Field(ge=0)
    bytes_digest: Sha256
    tokens: int = Field(ge=0)
    encoding: Name
    plan: JsonText
    judged_at: Moment | None = None
    rules: int | None = Field(default=None, ge=0)
    tools: Sha256 | None = None


class AppendEvents(Frozen):
    """Append these events as they are, if they are admitted."""

    events: tuple[Event, ...]


Request = (
    OpenLedger
    | DeclareSchema
    | RecordTurn
    | RecordReturn
    | SetFact
    | SetFacts
    | RetractFact
    | ResolveContradiction
    | RecordWindow
    | AppendEvents
)
"""Everything that ``decide`` understands."""


def digest(request: Request, tags: Tags = NO_TAGS) -> str:
    """What an idempotency key stands for: a SHA-256 of the request, and of whom and what it is about where that is said."""
    found = _digest(request)
    return found if tags == NO_TAGS else hashlib.sha256(repr((found, tags.subjects, tags.labels)).encode()).hexdigest()


def _digest(request: Request) -> str:
    hasher = hashlib.sha256(type(request).__name__.encode() + b"\0")
    if isinstance(request, AppendEvents):
        for event in request.events:
            hasher.update(_framed(event))
    else:
        hasher.update(request.__pydantic_serializer__.to_json(request, exclude_none=True))
    return hasher.hexdigest()


def _framed(event: EventBase) -> bytes:
    payload = encode(event)
    return b"%s %d %d %d\0%s" % (type_of(event).encode(), event.type_version, event.turn or 0, len(payload), payload)
