"""What a store must do to forget: fences against what comes in, the sweep, and jobs that outlive a crash.

Everything here may be done twice: a job that was interrupted is simply carried out again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Sweep:
    """What goes from one ledger: the payloads of ``versions``, the blobs in ``blobs`` that were not stored again since.

    ``fence`` is the version of the event that says so: a blob that a later version stored stays. ``name``, if given, is the
    ledger's name from now on.
    """

    ledger: bytes
    fence: int
    versions: Sequence[int]
    blobs: Sequence[str] = ()
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Swept:
    """How much went this time: payloads, blobs, tags and rows of derived data."""

    payloads: int
    blobs: int
    tags: int
    derived: int


@dataclass(frozen=True, slots=True)
class Holdings:
    """What is kept of a ledger beside its events: the hashes of its blobs, and how many rows of each kind are derived."""

    blobs: tuple[str, ...]
    derived: dict[str, int]


@dataclass(frozen=True, slots=True)
class StoredJob:
    """A forgetting that was begun; ``state`` is its own."""

    job: str
    state: bytes
    finished: bool


class Erasing(Protocol):
    """The part of a store that forgets."""

    def tagged(self, subject: bytes) -> list[tuple[bytes, int]]:
        """Ledger and version of every event that is about a subject, by its mark; in order."""
        ...

    def fence(self, subject: bytes, job: str) -> None:
        """Refuse appends about a subject from now on. When it returns, no append that did not see the fence is under way."""
        ...

    def unfence(self, subject: bytes) -> bool:
        """Take appends about a subject again; whether it was fenced."""
        ...

    def fenced(self, subject: bytes) -> str | None:
        """The job that fenced a subject."""
        ...

    def sweep(self, sweep: Sweep) -> Swept:
        """Delete, purge all that is derived from the ledger, and raise its count of erasures, in one transaction."""
        ...

    def rename(self, ledger: bytes, name: str) -> None:
        """Give a ledger another name."""
        ...

    def holdings(self, ledger: bytes) -> Holdings:
        """What is kept of a ledger beside its events."""
        ...

    def scrub(self) -> None:
        """Overwrite what was deleted, in every file of the store. ``StoreError`` says what kept it from doing so."""
        ...

    def job_put(self, job: StoredJob) -> None:
        """Keep a job, or its new state."""
        ...

    def jobs(self) -> list[StoredJob]:
        """All jobs, in the order in which they were begun."""
        ...

    def place_put(self, place: str) -> None:
        """Remember that something outside of the store is derived from its content, under a name."""
        ...

    def place_drop(self, place: str) -> None:
        """It is no longer there."""
        ...

    def places(self) -> list[str]:
        """What is derived outside of the store, by name."""
        ...
