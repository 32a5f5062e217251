"""The events of a ledger up to a version, without what was forgotten, and the folds over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from ledger import Ledgers
from ledger.errors import InvalidInput
from ledger.events import ContentForgotten, RetentionSet
from ledger.marks import names_key
from ledger.reading import Reader, erased
from ledger.record import Recorded, microseconds
from ledger.retention import past_retention
from ledger.store import Head, Selection
from projections.artifacts import ArtifactsFold, without_forgotten
from projections.contradictions import ContradictionsFold
from projections.entries import EntriesFold
from projections.evidence import EvidenceFold
from projections.facts import FactsFold
from projections.fold import run
from projections.forget_requests import ForgetRequest, ForgetRequestsFold
from projections.forgetting import ForgottenFold
from projections.lifecycle import LifecycleFold
from projections.schemas import SchemaFold
from projections.transcript import Transcript, TranscriptFold
from replay.moment import At, version_at


class Folds:
    """One fold of each kind over the same events."""

    def __init__(self) -> None:
        self.transcript = TranscriptFold()
        self.facts = FactsFold()
        self.entries = EntriesFold()
        self.contradictions = ContradictionsFold()
        self.evidence = EvidenceFold()
        self.lifecycle = LifecycleFold()
        self.artifacts = ArtifactsFold()
        self.forgotten = ForgottenFold()
        self.requests = ForgetRequestsFold()
        self.schemas = SchemaFold()


@dataclass(frozen=True)
class Loaded:
    """The events of a ledger up to a version. They are folded once, when something is first asked.

    ``governing`` are the events of the whole ledger that say what is kept and what is forgotten, as of the loading; ``key`` is
    the ledger's for names. ``judged_at`` (microseconds) is when it was judged what is past its retention.
    """

    head: Head
    events: Sequence[Recorded]
    governing: Sequence[Recorded]
    key: bytes
    judged_at: int | None

    @property
    def version(self) -> int:
        """The version up to which the events go."""
        return self.events[-1].version if self.events else 0

    @property
    def erasures(self) -> int:
        """How many forgettings were taken into account."""
        return sum(isinstance(item.event, ContentForgotten) for item in self.governing)

    @cached_property
    def folds(self) -> Folds:
        """All folds over the events."""
        folds = Folds()
        run(vars(folds).values(), self.events)
        run([folds.forgotten], filter(self._took_away, self.governing))
        return folds

    @cached_property
    def requests(self) -> tuple[ForgetRequest, ...]:
        """What the user asked to have forgotten, and nobody answered."""
        return self.folds.requests.pending()

    @cached_property
    def transcript(self) -> Transcript:
        """The transcript; pictures and documents whose bytes were forgotten read so."""
        return without_forgotten(self.folds.transcript.result(), self.folds.artifacts, self.key)

    def _took_away(self, item: Recorded) -> bool:
        """Whether a later forgetting took something from these events."""
        if item.version <= self.version or not isinstance(item.event, ContentForgotten):
            return False
        return any(erasure.version <= self.version for erasure in item.event.erased)


def load(store: Ledgers, head: Head, at: At, judged_at: datetime | None) -> Loaded:
    """Read a ledger as of ``at``. What was forgotten by now is forgotten at every version.

    ``UnknownVersion`` for what lies beyond it, ``InvalidInput`` for a ``judged_at`` without a zone.
    """
    reader = Reader(store.store, head.ledger)
    governing = reader.governing
    # A version is known without reading what came after it; a turn or a time is looked up among all events.
    upto = at if isinstance(at, int) and 0 <= at <= head.version else head.version
    events = list(reader.read(Selection(upto=upto)))
    events = events[: version_at(events, at)]
    key = names_key(store.store.secret, head.ledger)
    judged = _judged_at(store, governing, judged_at)
    if judged is not None:
        events = _kept(events, governing, judged_at=judged, key=key)
    return Loaded(head, events, governing, key, judged)


def last_governing(store: Ledgers, head: Head) -> int:
    """The version of the last event that says what is kept and what is forgotten; 0 if there is none."""
    newest = Selection(kind="governing", newest_first=True, limit=1)
    return next((row.envelope.version for row in store.store.read(head.ledger, newest)), 0)


def _judged_at(store: Ledgers, governing: Sequence[Recorded], given: object) -> int | None:
    if given is not None:
        if not isinstance(given, datetime) or given.utcoffset() is None:
            raise InvalidInput(f"judged_at {given!r} is no time with a zone: give an aware datetime", path="judged_at")
        return microseconds(given)
    return store.clock() if any(isinstance(item.event, RetentionSet) for item in governing) else None


def _kept(events: Sequence[Recorded], governing: Sequence[Recorded], *, judged_at: int, key: bytes) -> list[Recorded]:
    """The events, with nothing but the mark of those that are past their retention."""
    marks = past_retention(events, governing, judged_at=judged_at, key=key)
    return [
        replace(item, event=erased(item.envelope.type, item.turn, *marks[item.version])) if item.version in marks else item
        for item in events
    ]
