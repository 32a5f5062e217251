"""What an id stands for, as parts of a text: evidence, a contradiction with its claims, an entry, a turn. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from ledger.erased import Erased, Forgotten
from ledger.events import ArtifactStored, EvidenceRecorded, Side, TurnRecorded
from ledger.json_text import JsonText
from ledger.parts import DocumentPart, ImagePart, JsonPart, ReturnPart, TextPart, ToolCallPart, Unparsed
from ledger.record import Recorded
from ledger.standing import evidence_id
from projections.contradictions import Contradiction
from projections.entries import Entry
from projections.search.searchable import documents
from projections.wire import to_json

FetchedKind = Literal["result", "evidence", "contradiction", "entry", "turn"]
"""What can be fetched by its id: ``r_12``, ``ev_31``, ``con_9``, ``en_5``, and turn 12 as ``turn_12``."""

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


def turn_parts(event: TurnRecorded, results: Mapping[str, str]) -> tuple[ReturnPart, ...]:
    """What a turn says, and its calls as JSON with the ids of their results (by call id); reasoning is not part of it."""
    return tuple(_shown(event, results))


def _shown(event: TurnRecorded, results: Mapping[str, str]) -> Iterator[ReturnPart]:
    for part in event.parts:
        if isinstance(part, TextPart | JsonPart | ImagePart | DocumentPart):
            yield part
        elif isinstance(part, ToolCallPart):
            given = part.arguments
            arguments = given.unparsed if isinstance(given, Unparsed) else given
            known = {"call": part.call_id, "tool": part.tool, "arguments": arguments, "result": results.get(part.call_id)}
            yield _json(known)


def _json(known: Mapping[str, Any]) -> JsonPart:
    return JsonPart(value=JsonText(to_json(known).decode()))
