"""What a store of the record must do: one Protocol, the same contract for every database.

A store keeps bytes and order. It knows envelopes, payloads and blobs; it never looks into a payload.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from ledger.deriving import Deriving
from ledger.erasing import Erasing
from ledger.record import Envelope

GOVERNING_TYPES: Final = (
    "content.forgotten",
    "forgetting.declined",
    "hold.lifted",
    "hold.placed",
    "ledger.closed",
    "ledger.reauthorised",
    "retention.set",
)
"""Types of events that say which content of their ledger is kept or forgotten, and since when."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An event about to be stored, in the order of its command. ``payload`` is not compressed."""

    type: str
    type_version: int
    turn: int | None
    payload: bytes
    salt: bytes
    commitment: bytes


@dataclass(frozen=True, slots=True)
class Batch:
    """One command's events for one ledger: all of them are stored, or none.

    ``ledger`` is the id that a new ledger gets (16 bytes); ``expected`` is the version that the ledger must be at, 0 for a
    new one.
    ``recorded_at`` is the clock's time in microseconds; the store never lets it go back inside a ledger. ``subjects`` are the
    marks of those whom the events are about: a forgotten one among them is refused.
    """

    name: str
    ledger: bytes
    expected: int
    command: bytes
    recorded_at: int
    drafts: Sequence[Draft]
    actor: str | None = None
    cause: str | None = None
    blobs: Mapping[str, bytes] = field(default_factory=dict)
    subjects: Sequence[bytes] = ()


@dataclass(frozen=True, slots=True)
class Head:
    """Where a ledger is: its id, last version and that event's time; ``erasures`` counts what was forgotten in it.

    ``governing`` is the version of its last event of the ``GOVERNING_TYPES``; 0 if there is none.
    """

    name: str
    ledger: bytes
    version: int
    recorded_at: int
    erasures: int
    governing: int


@dataclass(frozen=True, slots=True)
class Stored:
    """An envelope with its payload as it came (not compressed); without both where they were erased."""

    envelope: Envelope
    salt: bytes | None
    payload: bytes | None


@dataclass(frozen=True, slots=True)
class Selection:
    """Which events of one ledger to read: versions in ``(after, upto]``, of a turn or a command, in order or newest first.

    ``versions``: of these alone. ``kind`` "turns" means turns and tool returns, "others" all else, "governing" the
    ``GOVERNING_TYPES``, "numbered" turns without what their tools returned and without system texts, "deciding" those of the
    "others" on which a later decision may rest.
    """

    after: int = 0
    upto: int | None = None
    turn: int | None = None
    command: bytes | None = None
    kind: Literal["all", "turns", "others", "governing", "numbered", "deciding"] = "all"
    newest_first: bool = False
    limit: int | None = None
    versions: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class Lag:
    """How far a reader of the feed is behind: ``events`` are stored above its position, ``held`` of them cannot be read yet.

    Events are held while a transaction is open that began to write before theirs, and so may still bring events before them.
    """

    events: int
    held: int


class Store(Erasing, Deriving, Protocol):
    """Keeps the record durably, and forgets what it is told to.

    Errors: ``VersionConflict`` when the ledger is not at the expected version, or the command is stored already (look it up);
    ``SubjectForgotten`` when a batch is about a forgotten subject; ``StoreError`` when the database cannot do what was asked.
    """

    @property
    def secret(self) -> bytes:
        """The store's own random key for commands; made once, with the store."""
        ...

    def append(self, batch: Batch) -> list[Envelope]:
        """Store a batch in one transaction and return its envelopes; durable when it returns."""
        ...

    def head(self, name: str) -> Head | None:
        """Where a ledger is; None if nothing was ever appended to it. A forgotten ledger is found by the name that it had."""
        ...

    def head_of(self, ledger: bytes) -> Head | None:
        """Where the ledger of an id is, under the name that it has now."""
        ...

    def heads(self) -> list[Head]:
        """All ledgers, in the order in which they were made."""
        ...

    def read(self, ledger: bytes, selection: Selection) -> Iterator[Stored]:
        """The selected events of one ledger, by version."""
        ...

    def envelope(self, ledger: bytes, selection: Selection) -> Envelope | None:
        """The envelope of the first of the selected events, without its payload; None if nothing is selected."""
        ...

    def feed(self, *, after: int, limit: int) -> list[Stored]:
        """Up to ``limit`` events of all ledgers with a position above ``after``, in the order of the feed."""
        ...

    def last_position(self) -> int:
        """The position of the last event that the feed gives now; 0 if there is none."""
        ...

    def lag(self, *, after: int) -> Lag:
        """How many events are stored above a position."""
        ...

    def blob(self, ledger: bytes, sha256: str) -> bytes | None:
        """The bytes of an artifact of this ledger."""
        ...

    def close(self) -> None:
        """Release connections; the store cannot be used afterwards."""
        ...
