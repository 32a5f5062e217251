"""Lets an extractor read the turns that it has not read yet, and records what it found: each value judged, sourced, once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Final

from ledger import Ledger, Ledgers
from ledger.errors import AdmissionRefused, InvalidInput, StoreError, SupersessionMismatch
from ledger.events import ExtractionRecorded, Source
from ledger.fields import canonical_field
from ledger.json_text import JsonText
from ledger.parts import Problem
from ledger.record import Recorded
from ledger.schema.schema import Schema
from projections.extraction import Candidate, Extraction, Extractor, source_of
from projections.transcript import Turn
from replay.view import view

_ATTEMPTS: Final = 8


@dataclass(frozen=True, slots=True)
class Extracted:
    """What came of a run: the turns that were read, and the event that each candidate led to.

    ``refused`` are candidates that the record does not take, such as those about a forgotten field: they leave no trace in it.
    ``incomplete`` says what is missing; the next run reads the same turns again, and records nothing twice.
    """

    turns: tuple[int, ...]
    recorded: tuple[Recorded, ...]
    refused: int
    incomplete: str | None


def extract(store: Ledgers, ledger: str, extractor: Extractor) -> Extracted:
    """Have an extractor read what was said since its last complete run.

    A candidate whose quote does not stand in its turn, or whose value does not fit the schema, is recorded as rejected.
    ``InvalidInput`` for a ledger without a schema.
    """
    seen = view(store, ledger)
    schema = seen.schema()
    if schema is None:
        raise InvalidInput(f"ledger {ledger!r} has no schema, so there is nothing to look for: declare one", path="schema")
    handle = store.ledger(ledger)
    turns = [turn for turn in seen.transcript().turns if not _is_forgotten(turn)]
    after = seen.read_through(extractor.name)
    unread = [turn for turn in turns if turn.number > after]
    if not unread:
        return Extracted((), (), 0, None)
    extraction = extractor.extract(unread, schema)
    recorded, refused = _record(store, handle, schema, extraction, {turn.number: turn for turn in unread})
    handle.append(
        ExtractionRecorded(
            extractor=extractor.name,
            after_turn=after,
            through_turn=unread[-1].number,
            candidates=len(extraction.candidates),
            model=extraction.model,
            prompt_hash=extraction.prompt_hash,
            usage=extraction.usage,
            incomplete=extraction.incomplete,
        )
    )
    return Extracted(tuple(turn.number for turn in unread), recorded, refused, extraction.incomplete)


def _is_forgotten(turn: Turn) -> bool:
    return turn.forgotten is not None


def _record(
    store: Ledgers, handle: Ledger, schema: Schema, extraction: Extraction, turns: dict[int, Turn]
) -> tuple[tuple[Recorded, ...], int]:
    """What each candidate led to, and how many the record does not take."""
    recorded, refused = [], 0
    for candidate in dict.fromkeys(extraction.candidates):
        try:
            recorded.append(_record_one(store, handle, schema, candidate, turns))
        except AdmissionRefused:
            refused += 1
    return tuple(recorded), refused


def _record_one(store: Ledgers, handle: Ledger, schema: Schema, candidate: Candidate, turns: dict[int, Turn]) -> Recorded:
    """A candidate as the event that it leads to. The key lets a run that is repeated record nothing twice."""
    turn = turns.get(candidate.turn)
    source = None if turn is None else source_of(candidate, turn, schema)
    key = _key(candidate)
    if turn is None or source is None:
        where = f"turn {candidate.turn}" if candidate.result is None else f"{candidate.result} of turn {candidate.turn}"
        problem = Problem(rule="quote", why=f"its quote does not stand in {where}")
        known: dict[str, Any] = {"turn": candidate.turn} if turn is not None else {}
        return handle.reject_fact(
            candidate.field,
            candidate.value,
            source="inferred",
            problems=[problem],
            quote=candidate.quote,
            idempotency_key=key,
            **known,
        )
    for _ in range(_ATTEMPTS):
        supersedes = _corrected(store, handle, schema, candidate, source)
        try:
            return handle.set_fact(
                candidate.field,
                candidate.value,
                source=source,
                turn=candidate.turn,
                supersedes=supersedes,
                because=None if supersedes is None else f"said anew in turn {candidate.turn}",
                idempotency_key=key,
            )
        except SupersessionMismatch:
            continue  # somebody else set it meanwhile: see what stands now
    raise StoreError(f"field {candidate.field!r} changes faster than it can be read: extract again when it is quieter")


def _corrected(store: Ledgers, handle: Ledger, schema: Schema, candidate: Candidate, source: Source) -> JsonText | None:
    """The user's own earlier value, which the user puts right; None where there is none, or where nobody says so."""
    if source != "user" or not candidate.corrects:
        return None
    standing = view(store, handle.name).state().entities.get(schema.resolve(canonical_field(candidate.field)))
    if standing is None or standing.source != "user" or (standing.turn or 0) >= candidate.turn:
        return None
    return standing.json


def _key(candidate: Candidate) -> str:
    """The same for the same claim, whoever makes it and however often."""
    said = (candidate.field, JsonText.of(candidate.value).canonical, candidate.quote, candidate.turn, candidate.result)
    return f"extracted/{hashlib.sha256(repr(said).encode('utf-8', 'surrogatepass')).hexdigest()}"
