"""Carries out requests on one ledger: what stands, what is decided, what is appended; one transaction a request."""

from __future__ import annotations

import hashlib
import hmac
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ledger import events as e
from ledger import requests as r
from ledger.clock import Clock
from ledger.codec import commitment, encode, request_digest_of, type_of
from ledger.decide import decide
from ledger.erased import Erased, Forgotten
from ledger.errors import (
    AdmissionRefused,
    IdempotencyConflict,
    InvalidInput,
    LedgerError,
    LimitExceeded,
    StoreError,
    VersionConflict,
)
from ledger.fields import canonical_field
from ledger.json_text import has_lone_surrogate
from ledger.limits import MAX_ARTIFACT_BYTES, MAX_EVENTS_PER_COMMAND, MAX_NAME_CHARACTERS
from ledger.marks import FORGOTTEN_NAME, artifact_mark, names_key, subject_mark
from ledger.opening import FOR_EVER, opened, read_all_turns
from ledger.quotes import stands_as_said
from ledger.reading import Reader
from ledger.record import NO_TAGS, Envelope, Recorded, Tags
from ledger.redaction import Redactor, keyed
from ledger.standing import Standing
from ledger.store import Batch, Draft, Head, Selection, Store

_CHANGING: Final = (e.ContentForgotten, e.LedgerReauthorised, e.LedgerClosed, e.RetentionSet)
"""Events after which what was folded before them may be forgotten, or past its retention."""

_ATTEMPTS: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What accompanies a request: its idempotency key, who asked (``actor``), what led to it (``cause``), all opaque ids; and
    the tags of the events that it leads to.
    """

    idempotency_key: str | None = None
    actor: str | None = None
    cause: str | None = None
    expected_version: int | None = None
    tags: Tags = NO_TAGS


class Writer:
    """Executes requests on one ledger: load what stands, decide, append; on a conflict fold the tail in and decide again."""

    def __init__(self, store: Store, name: str, clock: Clock, redactor: Redactor | None = None) -> None:
        self._store = store
        self._name = name
        self._clock = clock
        self._redactor = redactor
        self._lock = threading.RLock()
        self._id: bytes | None = None
        self._stored_name = name  # another one once the ledger was forgotten
        self._standing = Standing()
        self._lasting = FOR_EVER

    @property
    def name(self) -> str:
        """The ledger's name in its store."""
        return self._name

    @property
    def version(self) -> int:
        """The last version in the store."""
        head = self._store.head(self._name)
        return 0 if head is None else head.version

    def events(self, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        """The recorded events with versions in ``(after, upto]``, in order; none for a ledger that was never appended to."""
        head = self._store.head(self._name)
        if head is not None:
            yield from Reader(self._store, head.ledger).read(Selection(after=after, upto=upto))

    def blob(self, sha256: str) -> bytes | None:
        """The bytes of an artifact of this ledger; None if there is none."""
        head = self._store.head(self._name)
        content = None if head is None else self._store.blob(head.ledger, sha256)
        if head is None or content is None or self._forgotten(head, sha256) is None:
            return content
        stored = (item.event for item in Reader(self._store, head.ledger).read(Selection(kind="others")))
        is_stored = any(isinstance(event, e.ArtifactStored) and event.sha256 == sha256 for event in stored)
        return content if is_stored else None  # else it is to be swept

    def referring(self, request: r.SetFact) -> tuple[str, Any] | None:
        """The check that a value has to pass, by its name, and what it is asked about: what the value means.

        None if there is no check, or if the value is refused without it.
        """
        with self._lock:
            if self._id is None:
                self._catch_up()
            schema = self._standing.schema
            field = canonical_field(request.field)
            spec = None if schema is None else schema.spec(field)
            if schema is None or spec is None or spec.refers_to is None:
                return None
            if schema.problems(field, request.value, request.source):
                return None
            return spec.refers_to, (schema.meaning(field, request.value) or request.value).value

    def has_carried_out(self, key: str) -> bool:
        """Whether a command with this idempotency key was carried out."""
        head = self._store.head(self._name)
        if head is None:
            return False
        return any(True for _ in self._store.read(head.ledger, Selection(command=self._command_of(head.ledger, key), limit=1)))

    def forgotten_artifact(self, sha256: str) -> Forgotten | None:
        """The mark of an artifact that was forgotten; None if there was none of that hash, or if it was not."""
        head = self._store.head(self._name)
        return None if head is None else self._forgotten(head, sha256)

    def _forgotten(self, head: Head, sha256: str) -> Forgotten | None:
        mark = artifact_mark(names_key(self._store.secret, head.ledger), sha256)
        marks = Reader(self._store, head.ledger).marks.values()
        return next((forgotten for erasure, forgotten in marks if erasure.named == mark), None)

    def execute(self, request: r.Request, command: Command, blobs: Mapping[str, bytes] | None = None) -> list[Recorded]:
        """Append what the request leads to and return it; a repeated idempotency key returns the first result."""
        check_command(command, blobs or {})
        with self._lock:
            attempt = 0
            while True:
                try:
                    return self._try(request, command, blobs or {}, fresh=attempt > 0)
                except VersionConflict:
                    attempt += 1
                    if command.expected_version is not None or attempt == _ATTEMPTS:
                        self._catch_up()
                        found = self._first_result(request, command)
                        if found is not None:
                            return found
                        raise

    def _try(self, request: r.Request, command: Command, blobs: Mapping[str, bytes], *, fresh: bool) -> list[Recorded]:
        """One attempt. A key that was used before must not be decided again, because what it led to may now be refused."""
        if fresh or self._id is None:
            self._catch_up()
            found = self._first_result(request, command)
            if found is not None:
                return found
        if self._lasting.is_over(self._clock):
            self._reopen()  # what is past its retention is no ground for a decision
        try:
            self._expect(command)
            self._know_turns_of(request)
            events = decide(self._standing, self._without_secrets(request))
            if events:
                return self._append(events, request, command, blobs)
        except (VersionConflict, StoreError):
            raise
        except LedgerError:
            # What stands may be out of date, or the request may have been carried out already: look before saying no.
            if fresh or not self._catch_up():
                found = self._first_result(request, command)
                if found is not None:
                    return found
                raise
            return self._try(request, command, blobs, fresh=True)
        if fresh or not self._catch_up():
            return []
        return self._try(request, command, blobs, fresh=True)

    def _expect(self, command: Command) -> None:
        expected = command.expected_version
        if expected is None or expected == self._standing.version:
            return
        self._catch_up()
        if expected != self._standing.version:
            raise VersionConflict(
                f"ledger {self._name!r} is at version {self._standing.version}, not {expected}: read it again and decide anew",
                ledger=self._name,
                expected=expected,
                actual=self._standing.version,
            )

    def _append(
        self, events: Sequence[e.Event], request: r.Request, command: Command, blobs: Mapping[str, bytes]
    ) -> list[Recorded]:
        blobs = self._check_artifacts(events, blobs)
        ledger = self._id or self._new()
        key = command.idempotency_key
        digest = None if key is None else self._digests(request, command.tags)[0]
        batch = Batch(
            name=self._stored_name,
            ledger=ledger,
            expected=self._standing.version,
            command=os.urandom(16) if key is None else self._command_of(ledger, key),
            recorded_at=self._clock(),
            drafts=[_draft(event, digest if place == 0 else None, command.tags) for place, event in enumerate(events)],
            actor=command.actor,
            cause=command.cause,
            blobs=blobs,
            subjects=[subject_mark(self._store.secret, subject) for subject in command.tags.subjects],
        )
        envelopes = self._store.append(batch)
        if self._id is None:
            self._id, self._standing.key = ledger, names_key(self._store.secret, ledger)
        for envelope, event in zip(envelopes, events, strict=True):
            self._apply(envelope, event)
        if any(isinstance(event, _CHANGING) for event in events):
            self._reopen()
        return [Recorded(envelope, event, command.tags) for envelope, event in zip(envelopes, events, strict=True)]

    def _new(self) -> bytes:
        """The id of a new ledger."""
        if self._name.startswith(FORGOTTEN_NAME):
            raise InvalidInput(
                f"names beginning with {FORGOTTEN_NAME!r} are those of forgotten ledgers: choose another", path="ledger"
            )
        return os.urandom(16)

    def _check_artifacts(self, events: Sequence[e.Event], blobs: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """The bytes of every artifact, which are given or stored already; no others may be given."""
        found = dict(blobs)
        artifacts = [event for event in events if isinstance(event, e.ArtifactStored)]
        for artifact in artifacts:
            content = blobs.get(artifact.sha256)
            is_stored = artifact.sha256 in self._standing.artifacts  # if not, what lies there is to be swept
            if content is None and is_stored and self._id is not None:
                content = self._store.blob(self._id, artifact.sha256)
            if content is None or len(content) != artifact.size_bytes:
                how = "are not given" if content is None else f"are {len(content):,}, not {artifact.size_bytes:,}"
                raise AdmissionRefused(
                    f"the bytes of artifact {artifact.sha256[:12]}… {how}: use store_artifact, or give them in blobs",
                    field="blobs",
                    sha256=artifact.sha256,
                )
            found[artifact.sha256] = content  # stored again, so that no sweep that is under way takes them
        for event in events:
            if isinstance(event, e.EvidenceRecorded):
                self._check_quote(event, blobs)
        without = blobs.keys() - {artifact.sha256 for artifact in artifacts}
        if without:
            raise InvalidInput(f"bytes of {min(without)[:12]}… are given without their artifact.stored event", path="blobs")
        return found

    def _check_quote(self, event: e.EvidenceRecorded, blobs: Mapping[str, bytes]) -> None:
        """What recorded evidence says of its quote is true of the artifact's bytes."""
        content = blobs.get(event.sha256)
        if content is None and self._id is not None:
            content = self._store.blob(self._id, event.sha256)
        if content is not None and not stands_as_said(event, content):
            raise AdmissionRefused(
                f"match={event.match!r} is not true of artifact {event.sha256[:12]}…: use record_evidence, which looks it up",
                field="match",
                sha256=event.sha256,
            )

    def _first_result(self, request: r.Request, command: Command) -> list[Recorded] | None:
        """What the key of this command led to before, if it was used; ``IdempotencyConflict`` if for something else."""
        key = command.idempotency_key
        if key is None or self._id is None:
            return None
        stored = list(self._store.read(self._id, Selection(command=self._command_of(self._id, key))))
        if not stored:
            return None
        reader = Reader(self._store, self._id)
        first = [reader.recorded(row) for row in stored]
        payload = stored[0].payload  # without it the request is forgotten, but not that it was carried out
        if payload is not None and request_digest_of(payload) not in self._digests(request, command.tags):
            raise IdempotencyConflict(
                f"idempotency key {key!r} was used for another request at version {stored[0].envelope.version}: "
                "use a new key for a new request",
                idempotency_key=key,
                version=stored[0].envelope.version,
            )
        return first

    def _without_secrets(self, request: r.Request) -> r.Request:
        """What is decided on and recorded; the key of a command stands for what was asked."""
        return request if self._redactor is None else self._redactor.redacted(request, self._store.secret)

    def _digests(self, request: r.Request, tags: Tags) -> tuple[str, ...]:
        """What an idempotency key may stand for: first, what it stands for from now on."""
        digest = r.digest(request, tags)
        if self._without_secrets(request) is request:
            return (digest,)
        return keyed(digest, self._store.secret), digest

    def _command_of(self, ledger: bytes, key: str) -> bytes:
        return hmac.digest(self._store.secret, ledger + key.encode("utf-8", "surrogatepass"), "sha256")[:16]

    def _catch_up(self) -> bool:
        """Fold in what others appended; whether there was anything."""
        if self._id is None:
            return self._reopen()
        before = self._standing.version
        for item in Reader(self._store, self._id, eager=False).read(Selection(after=before)):
            if isinstance(item.event, _CHANGING):
                return self._reopen()  # what was folded before may be forgotten now
            self._apply(item.envelope, item.event)
        return self._standing.version > before

    def _reopen(self) -> bool:
        """Fold the ledger anew; whether there is one."""
        head = self._store.head(self._name)
        if head is None:
            return False
        self._standing, self._lasting = opened(self._store, head, self._clock)
        self._id, self._stored_name = head.ledger, head.name
        return True

    def _know_turns_of(self, request: r.Request) -> None:
        """Before deciding: read older turns if the request names one that opening the ledger did not read."""
        if self._standing.known_from > 1 and self._id is not None and _names_older_turn(request, self._standing):
            read_all_turns(self._store, self._id, self._standing)

    def _apply(self, envelope: Envelope, event: e.Event | Erased) -> None:
        self._standing.apply(envelope.version, event)
        self._standing.recorded_at = envelope.recorded_at
        self._lasting = self._lasting.with_event(envelope.recorded_at)


def _draft(event: e.Event, request_digest: str | None, tags: Tags) -> Draft:
    payload, salt = encode(event, request_digest, tags), os.urandom(32)
    return Draft(type_of(event), event.type_version, event.turn, payload, salt, commitment(salt, payload))


def _names_older_turn(request: r.Request, standing: Standing) -> bool:
    match request:
        case r.AppendEvents(events=events):
            named: list[Any] = [event for event in events if not isinstance(event, e.TurnRecorded)]
            named += [side for event in events if isinstance(event, e.ContradictionRecorded) for side in event.sides]
        case r.RecordReturn(call_id=call_id, turn=None):
            return not standing.open_calls.get(call_id)
        case _:
            named = [request]
    turns = [getattr(item, "turn", None) for item in named]
    return any(turn is not None and turn < standing.known_from for turn in turns)


def check_command(command: Command, blobs: Mapping[str, bytes]) -> None:
    """``InvalidInput`` for what no store can keep, ``LimitExceeded`` for too much."""
    for name in ("idempotency_key", "actor", "cause"):
        value: object = getattr(command, name)
        if value is None:
            continue
        if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME_CHARACTERS:
            raise InvalidInput(
                f"{name} is not a str of 1 to {MAX_NAME_CHARACTERS} characters: give one, or leave it out", path=name
            )
        if name != "idempotency_key" and ("\0" in value or has_lone_surrogate(value)):
            raise InvalidInput(f"{name} {value!r} cannot be kept by every store: leave out NUL and lone surrogates", path=name)
    for sha256, content in blobs.items():
        if len(content) > MAX_ARTIFACT_BYTES:
            raise LimitExceeded(f"artifact {sha256[:12]}… has {len(content):,} bytes, over MAX_ARTIFACT_BYTES", path="content")
        if hashlib.sha256(content).hexdigest() != sha256:
            raise InvalidInput(f"the bytes given for {sha256[:12]}… have another SHA-256", path="blobs")


def check_size(request: r.AppendEvents) -> None:
    """``LimitExceeded`` for more events than one command takes."""
    if len(request.events) > MAX_EVENTS_PER_COMMAND:
        raise LimitExceeded(
            f"{len(request.events):,} events in one command, over MAX_EVENTS_PER_COMMAND "
            f"({MAX_EVENTS_PER_COMMAND:,}): split them",
            path="events",
        )
