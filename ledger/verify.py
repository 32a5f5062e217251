"""Whether what is stored is what was recorded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ledger import events as e
from ledger.admission import admit
from ledger.connect import Ledgers
from ledger.erased import Erased
from ledger.errors import CorruptRecord, LedgerError
from ledger.marks import artifact_mark, names_key
from ledger.opening import standing_without
from ledger.reading import Reader
from ledger.record import Envelope, Recorded
from ledger.retention import past_retention
from ledger.standing import Standing
from ledger.store import Head, Selection, Stored

_SCHEMA: Final = "schema.set"
_JUDGED: Final = (e.Claiming, e.FactRejected, e.EntryAdded, e.EntryClosed, e.ContradictionRecorded, e.ContradictionResolved)
"""What is judged by the schema in force."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the record that cannot be: where, and what."""

    ledger: str
    version: int
    problem: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The number of events checked and the problems found."""

    events: int
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems


def verify_store(store: Ledgers, name: str | None = None) -> Verification:
    """Check one ledger, or all: versions, times, commitments, payloads, artifacts, and that every event was admissible.

    What was forgotten must be gone, and everything else must be there.
    """
    heads = store.heads() if name is None else [store.head(name)]
    problems: list[Problem] = []
    events = 0
    for head in heads:
        check = _LedgerCheck(store, head)
        for version, found in check.rows():
            events += 1
            problems.extend(Problem(head.name, version, problem) for problem in found)
        problems.extend(Problem(head.name, head.version, found) for found in check.problems_at_end(head))
    return Verification(events, tuple(problems))


class _LedgerCheck:
    """Goes through one ledger in order and remembers what the next event must follow."""

    def __init__(self, store: Ledgers, head: Head) -> None:
        self._store = store
        self._head = head
        self._key = names_key(store.store.secret, head.ledger)
        self._standing = Standing(key=self._key)
        self._reader, self._knows_all = _reader_of(store, head)
        self._fences = {
            item.event.job: item.version
            for item in reversed(self._reader.governing)
            if isinstance(item.event, e.ContentForgotten)
        }
        self._lost = {mark.named for mark, _ in self._reader.marks.values() if mark.named is not None}
        self._artifacts: set[str] = set()
        self._retained: list[Recorded] | None = None
        if any(isinstance(item.event, e.RetentionSet) for item in self._reader.governing):
            self._retained = []
        self._recorded_at = 0
        self._knows_schema = True  # the one that is in force may be forgotten: what it took cannot be judged then

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Every stored version with its problems; one that cannot even be read is a problem and not the end."""
        while self._standing.version < self._head.version:
            try:
                for row in self._store.store.read(self._head.ledger, Selection(after=self._standing.version)):
                    yield row.envelope.version, list(self._problems_of(row))
            except CorruptRecord as error:
                self._knows_all = False
                before, self._standing.version = (
                    self._standing.version,
                    error.details.get("version", self._standing.version + 1),
                )
                yield self._standing.version, [*_gap(before, self._standing.version), _said(error)]
            else:
                return

    def _problems_of(self, row: Stored) -> Iterator[str]:
        envelope = row.envelope
        yield from _gap(self._standing.version, envelope.version)
        if envelope.recorded_at < self._recorded_at:
            yield "was recorded before the event that it follows"
        self._recorded_at = envelope.recorded_at
        yield from self._problems_of_event(row)
        self._standing.version = envelope.version

    def _problems_of_event(self, row: Stored) -> Iterator[str]:
        try:
            recorded = self._reader.recorded(row)
            event = recorded.event
        except LedgerError as error:
            self._knows_all = False
            where = error.details.get("version", row.envelope.version)
            other = "" if where == row.envelope.version else f"has no payload; version {where} may tell why, but "
            yield f"{other}{_said(error)}"
            return
        if isinstance(event, Erased):
            if row.payload is not None:
                yield f"was forgotten by job {event.forgotten.job}, but its content is still there: resume the job"
        else:
            yield from self._problems_of_admission(row.envelope, event)
        if self._retained is not None:
            self._retained.append(recorded)
        self._standing.apply(row.envelope.version, event)
        if row.envelope.type == _SCHEMA:
            self._knows_schema = not isinstance(event, Erased)
        if isinstance(event, e.ArtifactStored):
            yield from self._problems_of_artifact(event)

    def _problems_of_admission(self, envelope: Envelope, event: e.Event) -> Iterator[str]:
        try:
            if self._knows_all and (self._knows_schema or not isinstance(event, _JUDGED)):
                admit(self._standing, event)
        except LedgerError as error:
            if not self._was_admissible(envelope.version, event, error) and not self._was_past_retention(envelope, event):
                yield str(error)

    def _was_past_retention(self, envelope: Envelope, event: e.Event) -> bool:
        """Whether only what was past its retention, when the event was recorded, is in the way."""
        if self._retained is None:
            return False
        marks = past_retention(self._retained, self._reader.governing, judged_at=envelope.recorded_at, key=self._key)
        try:
            admit(standing_without(self._retained, marks, self._key), event)
        except LedgerError:
            return False
        return True

    def _was_admissible(self, version: int, event: e.Event, error: LedgerError) -> bool:
        """Whether only what was forgotten since is in the way: what refers to an artifact may outlive it, and an artifact the
        turn for which it was stored.
        """
        sha256, job = error.details.get("sha256"), error.details.get("job", "")
        if sha256 is not None:
            return artifact_mark(self._key, sha256) in self._lost
        is_of_turn = isinstance(event, e.ArtifactStored) and error.details.get("field") == "turn"
        return is_of_turn and version < self._fences.get(job, 0)

    def _problems_of_artifact(self, event: e.ArtifactStored) -> Iterator[str]:
        self._artifacts.add(event.sha256)
        content = self._store.store.blob(self._head.ledger, event.sha256)
        if content is None:
            yield f"artifact {event.sha256} is missing"
        elif hashlib.sha256(content).hexdigest() != event.sha256:
            yield f"artifact {event.sha256} has other bytes"

    def problems_at_end(self, head: Head) -> Iterator[str]:
        if self._standing.version != head.version:
            yield f"ends at version {self._standing.version}: events are missing"
        for sha256 in self._store.store.holdings(self._head.ledger).blobs:
            if self._knows_all and sha256 not in self._artifacts:
                yield f"bytes of {sha256} are kept, but no event that stored them"


def _reader_of(store: Ledgers, head: Head) -> tuple[Reader, bool]:
    """A reader, and whether all is known that may follow; once an event cannot be read, that cannot be judged."""
    try:
        return Reader(store.store, head.ledger), True
    except LedgerError:  # an event that says what was forgotten is damaged itself: it is listed in its place
        return Reader(store.store, head.ledger, eager=False), False


def _gap(before: int, version: int) -> list[str]:
    return [] if version == before + 1 else [f"follows version {before}: events are missing"]


def _said(error: LedgerError) -> str:
    """An error without the version, which the problem names."""
    return str(error.details.get("damage", error))
