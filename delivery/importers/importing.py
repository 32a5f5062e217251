"""Bring a store up to date with a file of transcripts: what a ledger already holds of a conversation is not
recorded again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from delivery.importers.comparison import describe, is_same, size_of
from delivery.importers.naming import Names
from delivery.importers.reading import Conversation, TranscriptFile
from delivery.importers.transcript import Made, Skipped
from ledger import Ledger, Ledgers
from ledger.errors import LedgerError, StoreError, VersionConflict
from ledger.events import ArtifactStored, Event, ToolReturned, TurnRecorded
from ledger.record import Recorded

EVENTS_PER_COMMAND: Final = 500
"""Events of one transaction: few enough that other writers get their turn, many enough that each costs
little.
"""

CHARACTERS_PER_COMMAND: Final = 4 * 1024 * 1024
"""Content of one transaction, or of one page of the record that is compared: more is held only where one event has more."""


_SHOWN_NAMES: Final = 3


class TranscriptDiverged(LedgerError):
    """What a ledger holds is not the beginning of the file's conversation; ``turn`` is the first that
    differs.

    ``recorded`` and ``given`` describe both sides in short; ``given`` is None where the file ends before the
    record does. From ``import_file`` it is the first of those in ``diverged``, a list of ``{"ledger", "turn"}``.
    """


class SeveralConversations(LedgerError):
    """One ledger was named for a file that holds ``count`` conversations."""


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import did: the ledgers of the file's conversations, whether or not they grew; the events
    appended; what was skipped.
    """

    ledgers: list[str]
    events: int
    skipped: list[Skipped]


def import_file(
    store: Ledgers,
    path: str | Path,
    *,
    format: str = "auto",  # noqa: A002  # the command line's word
    ledger: str | None = None,
) -> ImportResult:
    """Import the conversations of a file into their ledgers, ``ledger`` naming that of the only one.

    Events that a ledger holds already are not appended again, so an import can be repeated, after a failure
    too. Neither the file nor a conversation is held in memory, unless the file is one JSON value. Raises
    ``NothingRecognised``, ``SeveralConversations`` and ``InvalidInput`` for the file, ``StoreError`` at once, and
    what one conversation alone is refused for (``TranscriptDiverged``, or what an append or the ledger's record
    may raise) once the others are imported: the first such error, with all in its details. ``diverged`` lists
    those that diverged, ``refused`` the others as ``{"ledger", "reason"}``; ``imported`` lists the ledgers that
    are up to date, ``events`` counts what was appended in all, ``skipped`` is that of the result.
    """
    file = TranscriptFile(path, format=format)
    progress = _Progress(file)
    try:
        for name, conversation in _named(file, ledger):
            progress.bring_up_to_date(store, name, conversation)
    except LedgerError as error:
        progress.tell(error)
        raise
    if progress.failures:
        _, first = progress.failures[0]
        progress.tell(first)
        raise first
    return ImportResult(progress.ledgers, progress.events, progress.skipped)


class _Progress:
    """What became of a file's conversations so far."""

    def __init__(self, file: TranscriptFile) -> None:
        self._file = file
        self.ledgers: list[str] = []
        self.events = 0
        self.failures: list[tuple[str, LedgerError]] = []

    @property
    def skipped(self) -> list[Skipped]:
        return sorted(self._file.skipped, key=lambda skipped: skipped.line)

    def bring_up_to_date(self, store: Ledgers, name: str, conversation: Conversation) -> None:
        """Bring one ledger up to date; a refusal is kept for the end, a fault of the store is raised."""
        try:
            for appended in bring_up_to_date(store.ledger(name), conversation):
                self.events += appended
        except StoreError:
            raise
        except LedgerError as error:
            self.failures.append((name, error))
            return
        if name not in self.ledgers:
            self.ledgers.append(name)

    def tell(self, error: LedgerError) -> None:
        """Say in the error what became of the others, because that stays in the store."""
        diverged = [found for found in self.failures if isinstance(found[1], TranscriptDiverged)]
        refused = [found for found in self.failures if not isinstance(found[1], TranscriptDiverged)]
        error.details.update(
            diverged=[{"ledger": name, "turn": found.details["turn"]} for name, found in diverged],
            refused=[{"ledger": name, "reason": str(found)} for name, found in refused],
            imported=list(self.ledgers),
            events=self.events,
            skipped=self.skipped,
        )
        others = [name for name, found in self.failures if found is not error]
        said = [f"in {self._file.path}"] if any(found is error for _, found in self.failures) else []
        said += [f"refused besides: {_some(others)}"] if others else []
        said += [f"{_count(self.ledgers)} imported: {_some(self.ledgers)}"] if self.ledgers else []
        if said:
            error.args = (f"{error} ({'; '.join(said)})",)


def _count(ledgers: Sequence[str]) -> str:
    return "1 other ledger was" if len(ledgers) == 1 else f"{len(ledgers):,} other ledgers were"


def _some(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def _named(file: TranscriptFile, ledger: str | None) -> Iterator[tuple[str, Conversation]]:
    if ledger is not None:
        yield ledger, _only(file)
        return
    names = Names()
    for conversation in file:
        yield names.name(conversation.source_id, conversation.events), conversation


def _only(file: TranscriptFile) -> Conversation:
    conversations = iter(file)
    first = next(conversations)
    count = 1 + sum(1 for _ in conversations)
    if count > 1:
        raise SeveralConversations(
            f"{file.path} holds {count} conversations, but one ledger was named: leave it out, so that each "
            "gets a ledger of its own, or give a file with one conversation",
            path=str(file.path),
            count=count,
        )
    return first


def bring_up_to_date(handle: Ledger, conversation: Conversation) -> Iterator[int]:
    """Append what the ledger does not hold yet, one command a step; yields the number of events of each.

    Where another writer was in between, the ledger is read and compared again.
    """
    while True:
        rest, version = missing(handle, conversation)
        for chunk in _commands(rest):
            events = [made.event for made in chunk]
            try:
                handle.append(events, expected_version=version, blobs=_blobs(chunk))
            except VersionConflict:
                break
            version += len(chunk)
            yield len(chunk)
        else:
            return


def _blobs(chunk: Sequence[Made]) -> dict[str, bytes]:
    return {
        made.event.sha256: made.content for made in chunk if isinstance(made.event, ArtifactStored) and made.content is not None
    }


def _commands(rest: Iterator[Made]) -> Iterator[list[Made]]:
    """The events in lists that are neither too long nor too large for one command."""
    chunk: list[Made] = []
    size = 0
    for made in rest:
        own = size_of(made.event) + len(made.content or b"")
        if chunk and (len(chunk) == EVENTS_PER_COMMAND or size + own > CHARACTERS_PER_COMMAND):
            yield chunk
            chunk, size = [], 0
        chunk.append(made)
        size += own
    if chunk:
        yield chunk


def missing(handle: Ledger, conversation: Conversation) -> tuple[Iterator[Made], int]:
    """The events that a ledger does not hold yet, and its version; ``TranscriptDiverged`` where it holds
    something else.

    Both are gone through in step, so neither is held.
    """
    given = conversation.read()
    version, stored = 0, set()
    for recorded in _recorded(handle):
        version, event = recorded.version, recorded.event
        if isinstance(event, ArtifactStored):
            stored.add(event.sha256)
        elif _is_spoken(event):
            same = next((made.event for made in given if _is_spoken(made.event)), None)
            if same is None or not is_same(event, same):
                _diverged(handle.name, event, same)
    rest = (made for made in given if not (isinstance(made.event, ArtifactStored) and made.event.sha256 in stored))
    return rest, version


def _recorded(handle: Ledger) -> Iterator[Recorded]:
    """The events of a ledger, in pages that are small where the events are large."""
    after, upto, count = 0, handle.version, 8
    while after < upto:
        page = list(handle.events(after, min(after + count, upto)))
        yield from page
        after += count
        size = sum(size_of(recorded.event) for recorded in page)
        count = min(count * 2, EVENTS_PER_COMMAND) if size < CHARACTERS_PER_COMMAND // 2 else max(1, count // 2)


def _is_spoken(event: Event) -> bool:
    return isinstance(event, TurnRecorded | ToolReturned)


def _diverged(ledger: str, event: Event, given: Event | None) -> NoReturn:
    if given is None:
        ours, theirs = describe(event, None), None
        what = f"goes on with {ours}, where the file ends: import the longer file, or name another ledger"
    else:
        ours, theirs = describe(event, given), describe(given, event)
        what = f"holds {ours}, the file has {theirs}: name another ledger for this conversation"
    raise TranscriptDiverged(f"ledger {ledger!r} {what}", ledger=ledger, turn=event.turn, recorded=ours, given=theirs)
