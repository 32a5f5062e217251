"""Lets an extractor read the turns that it has not read yet, and records what it found: each value judged, sourced, once."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ledger import Ledger, Ledgers
from ledger.decide import field_name
from ledger.errors import (
    AdmissionRefused,
    ClosedLedger,
    ForgottenLedger,
    IdempotencyConflict,
    InvalidInput,
    LimitExceeded,
    StoreError,
    SupersessionMismatch,
)
from ledger.events import ExtractionRecorded, Source
from ledger.fields import RANK, SPOKEN_RANK
from ledger.json_text import JsonText
from ledger.marks import names_key
from ledger.parts import Problem
from ledger.record import Recorded
from ledger.schema.schema import Schema
from ledger.standing import Claim
from projections.corrections import puts_right
from projections.extraction import Candidate, Extractor, places_of, quoted_text, source_of
from projections.transcript import Turn
from replay.facts.claims import Claims, Told
from replay.view import view

_ATTEMPTS: Final = 8


@dataclass(frozen=True, slots=True)
class Extracted:
    """What came of a run: the turns that were read, and the event that each candidate led to, now or in an earlier run.

    ``refused`` are candidates that leave no trace in the record: no value, name or quote at all, a field that was forgotten,
    or what an earlier turn says against what a later one said with the same weight. ``incomplete`` says what is missing; the
    next run reads the same turns again, and records nothing twice. After three such runs they count as read.
    """

    turns: tuple[int, ...]
    recorded: tuple[Recorded, ...]
    refused: int
    incomplete: str | None


def extract(store: Ledgers, ledger: str | Ledger, extractor: Extractor) -> Extracted:
    """Have an extractor read what was said since its last complete run under the schema in force, and what results came since.

    A candidate whose quote does not stand in its turn, or whose value does not fit the schema, is recorded as rejected, and so
    is one that refers to something if nobody is at hand to ask. ``ledger``: its name, or, where a field refers to something,
    the handle that declared the schema: it has the checks.
    ``InvalidInput`` for a ledger without a schema, ``ClosedLedger`` for one that takes no more.
    """
    handle = store.ledger(ledger) if isinstance(ledger, str) else ledger
    seen = view(store, handle.name)
    schema = seen.schema()
    if schema is None:
        raise InvalidInput(f"ledger {handle.name!r} has no schema, so there is nothing to look for: declare one", path="schema")
    unread = seen.unread(extractor.name)
    if not unread:
        return Extracted((), (), 0, None)
    claims = Claims(handle, schema, names_key(store.store.secret, store.head(handle.name).ledger))
    if claims.is_closed:
        raise ClosedLedger(f"ledger {handle.name!r} was closed and takes no more facts: open another one", ledger=handle.name)
    extraction = extractor.extract(unread, schema)
    run = _Run(handle, schema, claims, {turn.number: turn for turn in unread})
    run.take_all(extraction.candidates)
    after = seen.read_through(extractor.name)
    handle.append(
        ExtractionRecorded(
            extractor=extractor.name,
            after_turn=after,
            through_turn=max(after, unread[-1].number),
            through_version=seen.version,
            candidates=len(extraction.candidates),
            model=extraction.model,
            prompt_hash=extraction.prompt_hash,
            usage=extraction.usage,
            incomplete=extraction.incomplete,
        )
    )
    recorded = tuple(run.recorded.values())
    return Extracted(tuple(turn.number for turn in unread), recorded, run.refused, extraction.incomplete)


class _Run:
    """Takes the candidates of one run, in the order in which they were said."""

    def __init__(self, ledger: Ledger, schema: Schema, claims: Claims, turns: Mapping[int, Turn]) -> None:
        self._ledger = ledger
        self._schema = schema
        self._claims = claims
        self._turns = turns
        self._said: dict[str, int] = {}
        self.recorded: dict[int, Recorded] = {}
        self.refused = 0

    def take_all(self, candidates: Sequence[Candidate]) -> None:
        """Record what the candidates lead to, in the order in which they were said; what has no form of one is refused."""
        whole = [candidate for candidate in candidates if _is_whole(candidate)]
        self.refused += len(candidates) - len(whole)
        seen: Counter[tuple[object, ...]] = Counter()
        placed = []
        for candidate in whole:
            said = (candidate.field, candidate.quote, candidate.turn, candidate.result)
            placed.append((candidate, self._place(candidate, seen[said])))
            seen[said] += 1
        for candidate, start in sorted(placed, key=_order):
            self._take(candidate, start)

    def _place(self, candidate: Candidate, before: int) -> int:
        """Where a quote stands; of the same one that was given so often before, the next place. -1 for what stands nowhere."""
        turn = self._turns.get(candidate.turn)
        text = "" if turn is None else quoted_text(turn, candidate.result)
        start = text.find(candidate.quote)
        for _ in range(before if candidate.quote else 0):
            after = text.find(candidate.quote, start + 1)
            start = start if after < 0 else after
        return start

    def _take(self, candidate: Candidate, start: int) -> None:
        """Record what a candidate leads to, unless it is recorded already, or refused."""
        try:
            value, field = JsonText.of(candidate.value), self._schema.resolve(field_name(candidate.field))
        except (InvalidInput, LimitExceeded):
            self.refused += 1
            return
        try:
            found = self._taken(candidate, start, field, value)
        except (ClosedLedger, ForgottenLedger):
            raise
        except (AdmissionRefused, LimitExceeded):
            found = None
        except IdempotencyConflict as conflict:  # recorded by another run, which saw something else stand
            found = next(self._ledger.events(after=conflict.version - 1, upto=conflict.version))
        if found is None:
            self.refused += 1
            return
        self._said[field] = found.version
        self.recorded[found.version] = found

    def _taken(self, candidate: Candidate, start: int, field: str, value: JsonText) -> Recorded | None:
        turn = self._turns.get(candidate.turn)
        source = None if turn is None else source_of(candidate, turn, self._schema)
        if turn is None or source is None:
            return self._unquoted(candidate, field, value)
        for _ in range(_ATTEMPTS):
            self._claims.catch_up()
            standing = self._claims.standing(field)
            if self._claims.is_forgotten(field, turn.number) or _is_outdated(candidate, turn, source, standing):
                return None
            supersedes = self._corrected(candidate, start, field, source, standing)
            told = self._claims.told(field, value, turn=turn.number, source=source)
            comes_back = supersedes is not None and told is not None and self._comes_back(field, told, standing)
            if told is not None and not comes_back and (not told.disputed or supersedes is None):
                return told.recorded
            how = "plain" if supersedes is None else f"corrects at {start}" if comes_back else "corrects"
            key = self._key(candidate, field, value, how)
            try:
                return self._set(candidate, value, source=source, supersedes=supersedes, key=key)
            except SupersessionMismatch:
                continue  # somebody else set it meanwhile: see what stands now
            except InvalidInput as refused:
                if refused.path != "references":
                    raise
                return self._unasked(candidate, field, value, source)
        raise StoreError(f"field {field!r} changes faster than it can be read: extract again when it is quieter")

    def _set(self, candidate: Candidate, value: JsonText, *, source: Source, supersedes: JsonText | None, key: str) -> Recorded:
        because = None if supersedes is None else f"said anew in turn {candidate.turn}"
        return self._ledger.set_fact(
            candidate.field,
            value,
            source=source,
            turn=candidate.turn,
            supersedes=supersedes,
            because=because,
            idempotency_key=key,
        )

    def _key(self, candidate: Candidate, field: str, value: JsonText, how: str) -> str:
        return _key(candidate, field, value, self._schema.digest, how)

    def _unquoted(self, candidate: Candidate, field: str, value: JsonText) -> Recorded:
        """A claim whose quote stands nowhere."""
        where = f"turn {candidate.turn}" if candidate.result is None else f"{candidate.result} of turn {candidate.turn}"
        problem = Problem(rule="quote", why=f"its quote does not stand in {where}")
        return self._rejected(candidate, field, value, "inferred", problem, key=_key(candidate, field, value, "rejected"))

    def _unasked(self, candidate: Candidate, field: str, value: JsonText, source: Source) -> Recorded:
        """A claim that refers to something, and this handle has no check of it."""
        spec = self._schema.spec(field)
        asked = "what it refers to" if spec is None or spec.refers_to is None else spec.refers_to
        problem = Problem(rule="reference", why=f"nobody was at hand to ask {asked} whether it exists")
        return self._rejected(candidate, field, value, source, problem, key=self._key(candidate, field, value, "unasked"))

    def _rejected(
        self, candidate: Candidate, field: str, value: JsonText, source: Source, problem: Problem, *, key: str
    ) -> Recorded:
        known: dict[str, Any] = {"turn": candidate.turn} if candidate.turn in self._turns else {}
        return self._ledger.reject_fact(
            field, value, source=source, problems=[problem], quote=candidate.quote, idempotency_key=key, **known
        )

    def _comes_back(self, field: str, told: Told, standing: Claim | None) -> bool:
        """Whether a value that this turn named before is named again, after another one that this run has just read in it."""
        return standing is not None and told.recorded.version < standing.version == self._said.get(field)

    def _corrected(
        self, candidate: Candidate, start: int, field: str, source: Source, standing: Claim | None
    ) -> JsonText | None:
        """The user's own earlier value, which the user puts right; None where there is none, or where the user's words do not
        bear it out.
        """
        if source != "user" or not candidate.corrects or standing is None or standing.source != "user":
            return None
        said_before = (standing.turn or 0) < candidate.turn
        # In one turn, of what this run read before: candidates come in the order in which they were said.
        said_just_now = standing.turn == candidate.turn and self._said.get(field) == standing.version
        return standing.value if (said_before or said_just_now) and self._puts_right(candidate, start, standing) else None

    def _puts_right(self, candidate: Candidate, start: int, standing: Claim) -> bool:
        """Whether the turn says at the value, from the quote's own place on, that it puts something right."""
        turn = self._turns[candidate.turn]
        before = standing.value.value
        text = quoted_text(turn, candidate.result)
        return any(
            puts_right(text, place, before=before if isinstance(before, str) else str(standing.value))
            for place in places_of(candidate, turn, self._schema)
            if place >= start
        )


def _is_whole(given: Any) -> bool:
    """Whether what an extractor gave has the form of a candidate: its own code, or a model, may give anything."""
    if not isinstance(given, Candidate) or isinstance(given.turn, bool):
        return False
    said: tuple[Any, ...] = (given.field, given.quote, given.turn, given.result, given.corrects)
    return all(isinstance(value, form) for value, form in zip(said, (str, str, int, str | None, bool), strict=True))


def _order(placed: tuple[Candidate, int]) -> tuple[int, bool, bool, int]:
    """Where a candidate was said: its turn, whether in a result, and where in the text; last what stands nowhere."""
    candidate, start = placed
    return candidate.turn, candidate.result is not None, start < 0, start


def _key(candidate: Candidate, field: str, value: JsonText, *what: str) -> str:
    """The same for the same claim, whoever makes it and however often; what the schema judges is judged once under each."""
    said = (field, value.canonical, candidate.quote, candidate.turn, candidate.result, *what)
    return f"extracted/{hashlib.sha256(repr(said).encode('utf-8', 'surrogatepass')).hexdigest()}"


def _is_outdated(candidate: Candidate, turn: Turn, source: Source, standing: Claim | None) -> bool:
    """Whether what stands was said later, with the same weight. What the user says twice is for the user to decide."""
    if standing is None or standing.turn is None or standing.rank != RANK[source] or standing.rank == SPOKEN_RANK:
        return False
    said = next((found.version for found in turn.returns if found.id == candidate.result), turn.version)
    return standing.turn > turn.number and said < standing.version
