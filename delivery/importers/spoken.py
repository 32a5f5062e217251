"""What the messages of a conversation became, before it is known which of it a ledger holds, or forgot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ledger.events import ArtifactStored, Event, ToolReturned, TurnRecorded


@dataclass(frozen=True, slots=True)
class Brought:
    """An artifact that a message brings, with its bytes."""

    event: ArtifactStored
    content: bytes


@dataclass(frozen=True, slots=True)
class Spoken:
    """A turn or a return, with the artifacts among those of its message that its parts refer to.

    ``answers``: the place (from 0) of the call that a return answers, among the calls of its turn; None for an orphan.
    """

    event: TurnRecorded | ToolReturned
    artifacts: tuple[Brought, ...] = ()
    answers: int | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """An event to record; ``content`` holds the bytes of an ``ArtifactStored``."""

    event: Event
    content: bytes | None = None


def with_artifacts(spoken: Iterable[Spoken], stored: set[str]) -> Iterator[Made]:
    """The events in order, each artifact before the first that refers to it, unless its hash is in ``stored``."""
    for said in spoken:
        for artifact in said.artifacts:
            if artifact.event.sha256 not in stored:
                stored.add(artifact.event.sha256)
                yield Made(artifact.event, artifact.content)
        yield Made(said.event)
