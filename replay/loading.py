"""The events of a ledger up to a version, without what was forgotten, and the folds over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Final

from ledger import Ledgers
from ledger.assembling import assembler
from ledger.errors import InvalidInput
from ledger.events import ContentForgotten, RetentionSet
from ledger.marks import names_key
from ledger.reading import Reader, erased
from ledger.record import Recorded, microseconds, timestamp
from ledger.retention import ends_at, next_end, past_retention, rules_at
from ledger.store import Head, Selection
from projections.artifacts import ArtifactsFold, without_forgotten
from projections.basis import ENGINE, Basis
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

_basis: Final = assembler(Basis)


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
    """A ledger up to a version. Its events are read and folded once, when something is first asked that needs them all.

    ``governing`` are the events of the whole ledger that say what is kept and what is forgotten, as of the loading.
    ``judged_at`` (microseconds) is when it is judged what is past its retention.
    """

    store: Ledgers
    head: Head
    version: int
    reader: Reader
    governing: Sequence[Recorded]
    judged_at: int | None

    @cached_property
    def key(self) -> bytes:
        """The ledger's key for names."""
        return names_key(self.store.store.secret, self.head.ledger)

    @cached_property
    def events(self) -> Sequence[Recorded]:
        """The events up to the version, without what was forgotten or is past its retention."""
        events = list(self.reader.read(Selection(upto=self.version)))
        if self.judged_at is None:
            return events
        return _kept(events, self.governing, judged_at=self.judged_at, key=self.key)

    @property
    def is_read(self) -> bool:
        """Whether all events were read already."""
        return "events" in vars(self)

    @property
    def recorded_at(self) -> int | None:
        """When the event of the version was recorded (microseconds); None before the first."""
        if self.version in (0, self.head.version):
            return self.head.recorded_at if self.version else None
        found = self.store.store.envelope(self.head.ledger, Selection(after=self.version - 1, upto=self.version))
        return None if found is None else found.recorded_at

    def basis(self, policy: str | None = None) -> Basis:
        """What an answer rests on, with the digest of a policy if it needs one."""
        recorded_at = self.recorded_at
        return _basis(
            ledger=self.head.name,
            version=self.version,
            recorded_at=None if recorded_at is None else timestamp(recorded_at),
            policy=policy,
            engine=ENGINE,
            erasures=self.erasures,
            judged_at=None if self.judged_at is None else timestamp(self.judged_at),
            rules=self.rules,
        )

    @property
    def nothing_is_due(self) -> bool:
        """Whether it is clear without reading the events that none of them is past its retention: the first is too young."""
        return self.judged_at is None or self._first_end is None or self._first_end > self.judged_at

    @cached_property
    def holds_until(self) -> int | None:
        """When (microseconds) something more may be past its retention: never later than it is; None if nothing will be."""
        if self.judged_at is None or self.nothing_is_due:
            return self._first_end
        return next_end(self.events, self.governing, after=self.judged_at)

    @cached_property
    def _first_end(self) -> int | None:
        """Before this time nothing is past its retention, since the first event is not; None if nothing ever will be."""
        rules = [] if self.judged_at is None else rules_at(self.governing, self.judged_at)
        if not rules:
            return None
        first = self.store.store.envelope(self.head.ledger, Selection())
        closed = next((item.envelope.recorded_at for item in self.governing if item.envelope.type == "ledger.closed"), None)
        begins = {False: None if first is None else first.recorded_at, True: closed}
        return min((end for rule in rules if (end := ends_at(rule, begins[rule.after_close])) is not None), default=None)

    @property
    def rules(self) -> int | None:
        """The version of the last rule of retention that was in force when it was judged; None if there was none."""
        judged = self.judged_at
        if judged is None:
            return None
        kept = (item for item in self.governing if isinstance(item.event, RetentionSet))
        return max((item.version for item in kept if item.envelope.recorded_at <= judged), default=None)

    @cached_property
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

    @property
    def forgettings(self) -> Sequence[Recorded]:
        """The forgettings up to the version, and the later ones that took something from before it, in order."""
        found = (item for item in self.governing if isinstance(item.event, ContentForgotten))
        return [item for item in found if item.version <= self.version or self._took_away(item)]

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
    """A ledger as of ``at``, given where it is now. What was forgotten by now is forgotten at every version.

    ``UnknownVersion`` for what lies beyond it, ``InvalidInput`` for a ``judged_at`` without a zone.
    """
    reader = Reader(store.store, head.ledger, eager=head.governing > 0)
    version = version_at(store.store, head, at)
    judged = _judged_at(store, reader.governing, judged_at)
    return Loaded(store, head, version, reader, reader.governing, judged)


def last_governing(store: Ledgers, head: Head) -> int:
    """The version of the last event that says what is kept and what is forgotten; 0 if there is none."""
    newest = store.store.envelope(head.ledger, Selection(kind="governing", newest_first=True))
    return 0 if newest is None else newest.version


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
