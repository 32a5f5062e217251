"""What of an event is searched: its texts, with the kind of thing that they are. Pure.

JSON counts as what it says: its keys and values, each on its own line, without its escapes. Reasoning and blocks that only
their provider understands are not searched, nor are the bytes of artifacts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from ledger import events as e
from ledger.json_text import JsonText
from ledger.parts import DocumentPart, ImagePart, JsonPart, TextPart, ToolCallPart, Unparsed
from ledger.record import Recorded
from ledger.standing import contradiction_id, entry_id, evidence_id, result_id

Kind = Literal["turn", "call", "result", "system", "task", "fact", "entry", "evidence", "artifact", "contradiction", "outcome"]
"""What was found: the text of a turn, what it calls a tool with, what a tool returned, and so on."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
ROLES: Final[tuple[e.Role, ...]] = get_args(e.Role)


@dataclass(frozen=True, slots=True)
class Document:
    """A text that is found as one. An event has at most one in each ``slot`` (0 or 1)."""

    slot: int
    kind: Kind
    text: str
    role: e.Role | None = None
    id: str | None = None


def documents(recorded: Recorded) -> tuple[Document, ...]:
    """The texts of an event that can be searched; none of an event that was forgotten."""
    return tuple(document for document in _documents(recorded) if document.text.strip())


def _documents(recorded: Recorded) -> Iterator[Document]:
    version = recorded.version
    match recorded.event:
        case e.TurnRecorded() as event:
            kind: Kind = "system" if event.role == "system" else "turn"
            yield Document(0, kind, _lines(map(_said, event.parts)), event.role)
            yield Document(1, "call", _lines(map(_called, event.parts)), event.role)
        case e.ToolReturned() as event:
            yield Document(0, "result", _lines(map(_said, event.parts)), id=result_id(version))
        case e.EntryAdded() as event:
            yield Document(0, "entry", _lines((event.what, event.why)), id=entry_id(version))
        case e.EntryClosed() as event:
            yield Document(0, "entry", event.because, id=event.entry)
        case e.EvidenceRecorded() as event:
            yield Document(0, "evidence", _lines((event.claim, event.quote, event.requirement)), id=evidence_id(version))
        case e.ArtifactStored() as event:
            yield Document(0, "artifact", _lines((event.name, event.url)))
        case e.ContradictionRecorded() as event:
            sides = (None if side.value is None else _plain(side.value) for side in event.sides)
            yield Document(0, "contradiction", _lines((event.field, event.about, *sides)), id=contradiction_id(version))
        case e.ContradictionResolved() as event:
            chosen = None if event.value is None else _plain(event.value)
            yield Document(0, "contradiction", _lines((event.because, chosen)), id=event.contradiction)
        case e.FactSet() | e.FactReaffirmed() | e.FactSuperseded() | e.FactRetracted() | e.FactRejected() as event:
            yield Document(0, "fact", _lines(_fact(event)))
        case e.LedgerOpened() as event:
            yield Document(0, "task", event.task or "")
        case e.OutcomeRecorded() as event:
            yield Document(0, "outcome", event.detail or "")
        case e.LedgerClosed() as event:
            yield Document(0, "outcome", event.because or "")
        case _:
            return


def _fact(event: e.FactEvent | e.FactRejected) -> Iterator[str | None]:
    value = None if isinstance(event, e.FactRetracted) else _plain(event.value)
    yield event.field if value is None else f"{event.field}: {value}"
    yield event.spelling if isinstance(event, e.FactSet) else None
    yield event.because if isinstance(event, e.FactSuperseded | e.FactRetracted) else None
    yield event.quote if isinstance(event, e.FactRejected) else None


def _said(part: Any) -> str | None:
    match part:
        case TextPart(text=text):
            return _plain(text) if text.lstrip()[:1] in {"{", "["} else text
        case JsonPart(value=value):
            return _plain(value)
        case ImagePart() | DocumentPart():
            return _lines((part.name, part.url))
        case _:
            return None


def _called(part: Any) -> str | None:
    if not isinstance(part, ToolCallPart):
        return None
    given = part.arguments
    return _lines((part.tool, given.unparsed if isinstance(given, Unparsed) else _plain(given)))


def _lines(texts: Iterable[str | None]) -> str:
    return "\n".join(text for text in texts if text)


def _plain(source: JsonText | str) -> str:
    """What JSON says, a line for each value; any other text as it is."""
    try:
        tree = json.loads(source, parse_int=str, parse_float=str, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return source
    return "\n".join(_leaves(tree))


class _Pairs(list[tuple[str, Any]]):
    """The members of an object, in order; a name may stand there twice."""


def _leaves(tree: Any) -> Iterator[str]:
    """The values of a tree, each after the name that it has; depth costs no stack."""
    waiting: list[tuple[str, Any]] = [("", tree)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, list):
            if name:
                yield f"{name}:"
            members = value if isinstance(value, _Pairs) else [("", item) for item in value]
            waiting.extend(reversed(members))
        else:
            said = value if isinstance(value, str) else json.dumps(value)
            yield f"{name}: {said}" if name else said
