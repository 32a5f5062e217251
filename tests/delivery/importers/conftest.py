"""Files of transcripts for the tests of the importers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from delivery.importers.left_out import Skipped
from delivery.importers.reading import Conversation, TranscriptFile
from ledger import Ledgers, connect
from ledger.events import ArtifactStored, Event

Write = Callable[[object], Path]
"""Writes a file: bytes and text as they are, a list or dict as one JSON value."""


def as_bytes(content: object) -> bytes:
    """What a file holds for the given content."""
    if isinstance(content, bytes):
        return content
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return text.encode("utf-8")


@dataclass(frozen=True)
class Held:
    """A conversation that was read to its end."""

    source_id: str | None
    line: int
    events: tuple[Event, ...]
    artifacts: dict[str, bytes]


def held(conversation: Conversation) -> Held:
    """All that a conversation holds."""
    made = list(conversation.read())
    artifacts = {one.event.sha256: one.content for one in made if isinstance(one.event, ArtifactStored)}
    assert None not in artifacts.values()
    events = tuple(one.event for one in made)
    assert tuple(conversation.events) == events, "a conversation is the same whenever it is read"
    return Held(conversation.source_id, conversation.line, events, artifacts)  # type: ignore[arg-type]


class Read:
    """Reads content through a file."""

    def __init__(self, write: Write) -> None:
        self._write = write

    def all(self, content: object, **options: Any) -> tuple[list[Held], list[Skipped]]:
        """Every conversation, and what was skipped."""
        file = TranscriptFile(self._write(content), **options)
        return [held(found) for found in file], file.skipped

    def events(self, content: object, **options: Any) -> tuple[Event, ...]:
        """The events of the only conversation, of which nothing was skipped."""
        conversations, skipped = self.all(content, **options)
        assert skipped == []
        [conversation] = conversations
        return conversation.events


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A writer of files, each in a place of its own."""
    places = iter(range(1_000_000))

    def write(content: object) -> Path:
        path = tmp_path / f"{next(places)}.transcript"
        path.write_bytes(as_bytes(content))
        return path

    return write


@pytest.fixture
def read(write: Write) -> Read:
    """A reader of content."""
    return Read(write)


@pytest.fixture
def store() -> Iterator[Ledgers]:
    """A store in memory."""
    with connect(":memory:") as opened:
        yield opened
