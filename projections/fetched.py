"""What an id stands for, as parts of a text: evidence, a contradiction with its claims, an entry, a turn, any event. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel

from ledger.erased import Erased, Forgotten
from ledger.events import ArtifactStored, EvidenceRecorded, Side, ToolReturned, TurnRecorded
from ledger.json_text import JsonText
from ledger.parts import DocumentPart, ImagePart, JsonPart, ReturnPart, TextPart, ToolCallPart, Unparsed
from ledger.record import Recorded
from ledger.standing import evidence_id, result_id
from projections.contradictions import Contradiction
from projections.entries import Entry
from projections.search.searchable import documents
from projections.wire import to_json

FetchedKind = Literal[
    "result", "evidence", "contradiction", "entry", "turn", "summary", "window", "system", "artifact", "event"
]
"""What can be fetched by its id: ``r_12``, ``ev_31``, ``con_9``, ``en_5``, turn 12 as ``turn_12``, ``sum_8``, ``win_40``.

System texts, artifacts and all other events have the id of their version, ``v_7``.
"""

_EVIDENCE: Final = "ev_"


def evidence_part(recorded: Recorded, page: Recorded | None) -> JsonPart:
    """A piece of evidence as JSON: claim, quote, when it was retrieved, and the page that it stands in.

    ``page``: the event that stored its bytes; None where none is known, erased where they were forgotten.
    """
    event = recorded.event
    assert isinstance(event, EvidenceRecorded), "only evidence is described so"
    stored = None if page is None or not isinstance(page.event, ArtifactStored) else page.event
    known: dict[str, Any] = {
        "id": evidence_id(recorded.version),
        "claim": event.claim,
        "quote": event.quote,
        "match": event.match,
        "requirement": event.requirement,
        "url": None if stored is None else stored.url,
        "retrieved_at": event.retrieved_at or (None if stored is None else stored.retrieved_at),
        "page": _page(event.sha256, page),
    }
    return _json({name: value for name, value in known.items() if value is not None})


def _page(sha256: str, page: Recorded | None) -> dict[str, Any] | Forgotten:
    if page is not None and isinstance(page.event, Erased):
        return page.event.forgotten
    if page is None or not isinstance(page.event, ArtifactStored):
        return {"sha256": sha256}
    event = page.event
    return {
        "sha256": sha256,
        "version": page.version,
        "name": event.name,
        "media_type": event.media_type,
        "size_bytes": event.size_bytes,
    }


def claim_versions(found: Contradiction) -> tuple[int, ...]:
    """The versions of the events that the sides of a contradiction name."""
    return tuple(version for version in map(_named, found.sides) if version is not None)


def contradiction_part(found: Contradiction, claims: Mapping[int, Recorded]) -> JsonPart:
    """A contradiction as JSON: what it is about, each side with what it claims, whether it is open, and how it was resolved.

    ``claims``: the events that the sides name, by their versions.
    """
    return _json(
        {
            "id": found.id,
            "about": found.about,
            "field": found.field,
            "status": "open" if found.resolution is None else "resolved",
            "sides": [_side(side, claims.get(_named(side) or 0)) for side in found.sides],
            "resolution": found.resolution,
        }
    )


def _named(side: Side) -> int | None:
    evidence = side.evidence or ""
    number = evidence.removeprefix(_EVIDENCE)
    if evidence.startswith(_EVIDENCE) and number.isascii() and number.isdigit():
        return int(number)
    return side.version


def _side(side: Side, claim: Recorded | None) -> dict[str, Any]:
    known: dict[str, Any] = {name: value for name, value in side if value is not None}
    if claim is None:
        return known
    return known | {"claim": _claim(claim)}


def _claim(recorded: Recorded) -> str | Forgotten | None:
    match recorded.event:
        case Erased(forgotten=forgotten):
            return forgotten
        case EvidenceRecorded(claim=claim):
            return claim
        case _:
            return next((document.text for document in documents(recorded)), None)


def entry_part(found: Entry) -> JsonPart:
    """An entry of a list section as JSON: what it says and why, by whom, whether it holds, and why it was closed."""
    known: dict[str, Any] = {
        "id": found.id,
        "section": found.section,
        "what": found.what,
        "why": found.why,
        "source": found.source,
        "turn": found.turn,
        "status": "holds" if found.to_version is None else "closed",
    }
    if found.to_version is not None:
        known["closed"] = {"version": found.to_version, "turn": found.closed_turn, "because": found.closed_because}
    return _json(known)


def event_part(recorded: Recorded, name: str) -> JsonPart:
    """An event as JSON: the id that it has, its type, and what it holds."""
    return _json({"id": name, "type": recorded.envelope.type} | _held(recorded.event))


def _held(event: BaseModel | Erased) -> dict[str, Any]:
    assert isinstance(event, BaseModel), "what was forgotten holds nothing"
    beside = {"type", "turn"}  # they stand in the envelope
    return {name: value for name, value in event if value is not None and name not in beside}


def artifact_part(event: ArtifactStored) -> ImagePart | DocumentPart:
    """An artifact as a part that refers to it: a picture by its media type, else a document."""
    part = ImagePart if (event.media_type or "").startswith("image/") else DocumentPart
    return part(sha256=event.sha256, media_type=event.media_type, name=event.name, size_bytes=event.size_bytes)


def turn_parts(event: TurnRecorded, returned: Iterable[Recorded]) -> tuple[ReturnPart, ...]:
    """What a turn says, and its calls as JSON with the ids of their results; reasoning is not part of it.

    ``returned``: what its calls returned. A call that nothing answered has the result null; one whose result was forgotten has
    its id and the mark.
    """
    return tuple(_shown(event, _results(event, returned)))


def _results(event: TurnRecorded, returned: Iterable[Recorded]) -> dict[str, dict[str, Any]]:
    """What is known of the result of each call that was answered, by the id of the call."""
    calls = [part.call_id for part in event.parts if isinstance(part, ToolCallPart)]
    found: dict[str, dict[str, Any]] = {}
    for item in returned:
        match item.event:
            case ToolReturned(orphan=False, call_id=call_id):
                found[call_id] = {"result": result_id(item.version)}
            case Erased(type="tool.returned", answers=int(place), forgotten=mark):
                known = {"job": mark.job, "reason": mark.reason, "at": mark.at}
                found |= {
                    call_id: {"result": result_id(item.version), "forgotten": known} for call_id in calls[place : place + 1]
                }
            case _:
                pass
    return found


def _shown(event: TurnRecorded, results: Mapping[str, dict[str, Any]]) -> Iterator[ReturnPart]:
    for part in event.parts:
        if isinstance(part, TextPart | JsonPart | ImagePart | DocumentPart):
            yield part
        elif isinstance(part, ToolCallPart):
            given = part.arguments
            arguments = given.unparsed if isinstance(given, Unparsed) else given
            known: dict[str, Any] = {"call": part.call_id, "tool": part.tool, "arguments": arguments}
            yield _json(known | results.get(part.call_id, {"result": None}))


def _json(known: Mapping[str, Any]) -> JsonPart:
    return JsonPart(value=JsonText(to_json(known).decode()))
