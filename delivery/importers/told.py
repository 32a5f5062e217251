"""One conversation as a format found it in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from delivery.importers.transcript import Transcript
from ledger.events import OutcomeRecorded


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One conversation of a file.

    ``source_id``: the source's own id, which becomes the ledger's name; None if it has none. ``line``: where it begins.
    ``steps``: records it into a new transcript, message by message; what was recorded is handed over at each ``yield``, and
    it must tell the same each time it is called. ``model``: that of its assistant turns which name none.

    ``parent``: the ``source_id`` of the conversation that started this one, which becomes a child ledger. Its own
    ``source_id`` is then that of the parent, a slash and a name inside the parent; a file tells parents before children.
    ``task``: what the parent asked of it. ``outcome``: how it ended, if the source says so.
    """

    source_id: str | None
    line: int
    steps: Callable[[Transcript], Iterator[None]]
    model: str | None = None
    parent: str | None = None
    task: str | None = None
    outcome: OutcomeRecorded | None = None
