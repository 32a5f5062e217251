"""The record as a recorder of the ``eventsourcing`` library, for reading: its projections and runners work on our feed.

``PERSISTENCE_MODULE=ledger.recorder`` and ``LEDGER_STORE`` (what ``connect`` takes) in an application's environment make the
library read from a store; ``Record`` is such an application. Domain events are ``LedgerEvent``; a topic is an event's type.
Nothing can be written this way. This module is imported only by those who use the library.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NoReturn
from uuid import UUID

from eventsourcing.application import Application
from eventsourcing.domain import DomainEventProtocol
from eventsourcing.persistence import (
    ApplicationRecorder,
    InfrastructureFactory,
    InfrastructureFactoryError,
    Mapper,
    Notification,
    ProcessRecorder,
    StoredEvent,
    Subscription,
    TrackingRecorder,
)
from eventsourcing.utils import Environment

from ledger.codec import decode, tags_of
from ledger.connect import connect
from ledger.erased import Erased
from ledger.errors import AdmissionRefused, InvalidInput
from ledger.following import follow
from ledger.reading import FeedReader
from ledger.record import Envelope, Recorded
from ledger.rows import payload_of
from ledger.store import Selection, Store, Stored

_PAGE_ROWS = 1_000


@dataclass(frozen=True)
class LedgerNotification(Notification):
    """A stored event as the library passes it on: ``id`` is the position, ``state`` the payload, ``topic`` the type.

    One whose content was forgotten has an empty ``state``, and ``erased`` tells what is left.
    """

    envelope: Envelope
    erased: Erased | None = None


@dataclass(frozen=True, slots=True)
class LedgerEvent(Recorded):
    """A recorded event as the library's projections receive it."""

    @property
    def originator_id(self) -> UUID:
        """The ledger."""
        return UUID(bytes=self.envelope.ledger)

    @property
    def originator_version(self) -> int:
        """Place inside the ledger, from 1."""
        return self.envelope.version


class LedgerRecorder(ApplicationRecorder):
    """Reads a store. An originator is a ledger, named by its id as a UUID or as its text."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._reader = FeedReader(store)

    def insert_events(self, stored_events: Sequence[StoredEvent], **kwargs: Any) -> NoReturn:
        """Refused: events are appended by a ledger's commands, which check them against what stands."""
        raise _refused()

    def select_events(
        self,
        originator_id: UUID | str,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> Sequence[StoredEvent]:
        """Events of one ledger by version; ``InvalidInput`` where the id is none."""
        selection = Selection(after=gt or 0, upto=lte, newest_first=desc, limit=limit)
        return [self.notification(stored) for stored in self.store.read(_ledger(originator_id), selection)]

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[Notification]:
        """Up to ``limit`` events of the feed, from the position ``start`` to ``stop``, of some types if any are given."""
        after = (start or 0) - (1 if inclusive_of_start and start else 0)
        return list(islice(self._notifications(after, stop, topics, page=max(limit, 1)), limit))

    def max_notification_id(self) -> int | None:
        """The position of the last event that can be read; None if there is none."""
        return self.store.last_position() or None

    def subscribe(self, gt: int | None = None, topics: Sequence[str] = ()) -> LedgerSubscription:
        """The events above a position, then those to come, until it is stopped."""
        return LedgerSubscription(self, gt, topics)

    def _notifications(self, after: int, stop: int | None, topics: Sequence[str], *, page: int) -> Iterator[LedgerNotification]:
        size = _PAGE_ROWS if topics else min(page, _PAGE_ROWS)
        while found := self.store.feed(after=after, limit=size):
            for stored in found:
                if stop is not None and stored.envelope.position > stop:
                    return
                if _is_of(stored, topics):
                    yield self.notification(stored)
            after = found[-1].envelope.position

    def notification(self, stored: Stored) -> LedgerNotification:
        """An event as the library passes it on; ``CorruptRecord`` if it is damaged."""
        envelope = stored.envelope
        erased = None if stored.payload is not None else self._reader.recorded(stored).event
        return LedgerNotification(
            originator_id=UUID(bytes=envelope.ledger),
            originator_version=envelope.version,
            topic=envelope.type,
            state=b"" if erased is not None else payload_of(stored),
            id=envelope.position,
            envelope=envelope,
            erased=erased if isinstance(erased, Erased) else None,
        )


class LedgerSubscription(Subscription[LedgerRecorder]):
    """Follows the feed for the library."""

    def __init__(self, recorder: LedgerRecorder, gt: int | None = None, topics: Sequence[str] = ()) -> None:
        super().__init__(recorder, gt, topics)
        self._stop = threading.Event()
        self._followed = follow(recorder.store, after=gt or 0, stop=self._stop)

    def stop(self) -> None:
        """End the iteration, also while it waits."""
        super().stop()
        self._stop.set()

    def __next__(self) -> Notification:
        for stored in self._followed:
            if self._stop.is_set():
                break
            if _is_of(stored, self._topics):
                return self._recorder.notification(stored)
        raise StopIteration


class LedgerMapper(Mapper[UUID]):
    """Makes a ``LedgerEvent`` of a ``LedgerNotification``, by the types that this release knows, never by a stored path."""

    def to_stored_event(self, domain_event: DomainEventProtocol[UUID]) -> NoReturn:
        """Refused, like every way to write."""
        raise _refused()

    def to_domain_event(self, stored_event: StoredEvent) -> LedgerEvent:
        """The event; ``UnknownEventType`` where this release has no model for it."""
        if not isinstance(stored_event, LedgerNotification):
            raise InvalidInput(
                "this mapper reads what LedgerRecorder gives: take the recorder of the same factory", path="recorder"
            )
        envelope = stored_event.envelope
        if stored_event.erased is not None:
            return LedgerEvent(envelope, stored_event.erased)
        payload = stored_event.state
        return LedgerEvent(envelope, decode(envelope.type, envelope.type_version, envelope.turn, payload), tags_of(payload))


class LedgerFactory(InfrastructureFactory[TrackingRecorder]):
    """What ``PERSISTENCE_MODULE=ledger.recorder`` stands for; opens the store that ``LEDGER_STORE`` names."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        where = self.env.get("LEDGER_STORE")
        if not where:
            raise InfrastructureFactoryError("LEDGER_STORE is not set: give a path or a URL, as for ledger.connect")
        self.ledgers = connect(where)

    def application_recorder(self) -> LedgerRecorder:
        """Reads the store."""
        return LedgerRecorder(self.ledgers.store)

    def aggregate_recorder(self, purpose: str = "events") -> LedgerRecorder:
        """Reads the store."""
        return self.application_recorder()

    def mapper(self, *_: object, **__: object) -> LedgerMapper:  # type: ignore[override]  # ours has one type of id
        """Reads our payloads; the library's transcoder is not asked."""
        return LedgerMapper(self.transcoder())

    def tracking_recorder(self, tracking_recorder_class: type[TrackingRecorder] | None = None) -> NoReturn:
        """Refused: views stand in a database of their own."""
        raise _no_view()

    def process_recorder(self) -> ProcessRecorder:
        """Refused: views stand in a database of their own."""
        raise _no_view()

    def close(self) -> None:
        """Close the store."""
        self.ledgers.close()


class Record(Application[UUID]):
    """A store as an application of the library, to be projected: ``RECORD_LEDGER_STORE`` in its environment names it."""

    env = {"PERSISTENCE_MODULE": "ledger.recorder"}  # noqa: RUF012  # as the base class declares it


def _is_of(stored: Stored, topics: Sequence[str]) -> bool:
    return not topics or stored.envelope.type in topics


def _ledger(originator_id: UUID | str) -> bytes:
    try:
        return (originator_id if isinstance(originator_id, UUID) else UUID(originator_id)).bytes
    except ValueError as error:
        raise InvalidInput(f"{originator_id!r} is not the id of a ledger: give a UUID", path="originator_id") from error


def _refused() -> AdmissionRefused:
    return AdmissionRefused("the record is only read through this recorder: append with the commands of ledger.Ledger")


def _no_view() -> InfrastructureFactoryError:
    return InfrastructureFactoryError(
        "views are not kept in the record: set PERSISTENCE_MODULE of the projection to eventsourcing.sqlite or .postgres"
    )
