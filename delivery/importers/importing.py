"""Bring a store up to date with a file of transcripts: what a ledger already holds of a conversation is not
recorded again, and what it forgot is not brought back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final, NoReturn

from delivery.importers.around import Around
from delivery.importers.comparison import describe, is_return_of, is_same, is_spoken, place_of, size_of
from delivery.importers.ledger_names import named
from delivery.importers.left_out import Skipped
from delivery.importers.reading import Conversation, TranscriptFile
from delivery.importers.spoken import Made, with_artifacts
from ledger import Ledger, Ledgers
from ledger.codec import check_tags
from ledger.erased import Erased
from ledger.errors import ForgottenLedger, LedgerError, StoreError, SubjectForgotten, VersionConflict
from ledger.events import ArtifactStored, ContentForgotten, Event, LedgerReauthorised
from ledger.marks import subject_mark
from ledger.record import NO_TAGS, Recorded, Tags

EVENTS_PER_COMMAND: Final = 500
"""Events of one transaction: few enough that other writers get their turn, many enough that each costs
little.
"""

CHARACTERS_PER_COMMAND: Final = 4 * 1024 * 1024
"""Content of one transaction: more is held only where one event has more."""


_SHOWN_NAMES: Final = 3


class TranscriptDiverged(LedgerError):
    """What a ledger holds is not the beginning of the file's conversation; ``turn`` is the first that
    differs.

    ``recorded`` and ``given`` describe both sides in short; ``given`` is None where the file ends before the
    record does, and shows no text where the ledger forgot anything, since the file may still hold that. From
    ``import_file`` it is the first of those in ``diverged``, a list of ``{"ledger", "turn"}``.
    """


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import did: the ledgers of the file's conversations, whether or not they grew; the events
    appended; what was skipped. ``left_out`` counts by its kind what the file holds that is neither a turn nor a return;
    ``skipped`` names each kind once, at its first line.
    """

    ledgers: list[str]
    events: int
    skipped: list[Skipped]
    left_out: dict[str, int] = field(default_factory=dict)


def import_file(
    store: Ledgers,
    path: str | Path,
    *,
    format: str = "auto",  # noqa: A002  # the command line's word
    ledger: str | None = None,
    subjects: Iterable[str] = (),
    labels: Iterable[str] = (),
) -> ImportResult:
    """Import the conversations of a file into their ledgers, ``ledger`` naming that of the only one, whose child ledgers are
    named after it.

    Events that a ledger holds already are not appended again, so an import can be repeated, after a failure
    too. A message that stands where content was forgotten is passed over, whatever it says, and so is what its
    calls returned. Every event that is appended bears the ``subjects`` and ``labels``; what was recorded before
    keeps its own. Neither the file nor a conversation is held in memory, unless the file is one JSON value.

    Raises ``NothingRecognised``, ``SeveralConversations`` and ``InvalidInput`` for the file, ``StoreError`` at
    once, and what one conversation alone is refused for (``TranscriptDiverged``, ``ForgottenLedger``,
    ``SubjectForgotten``, or what else an append or the ledger's record may raise) once the others are imported:
    the first such error, with all in its details. ``diverged`` lists those that diverged, ``refused`` the others
    as ``{"ledger", "reason"}``; ``imported`` lists the ledgers that are up to date, ``events`` counts what was
    appended in all, ``skipped`` is that of the result.
    """
    file = TranscriptFile(path, format=format)
    progress = _Progress(file, check_tags(subjects, labels))
    try:
        for name, conversation in named(file, ledger):
            progress.bring_up_to_date(store, name, conversation)
    except LedgerError as error:
        progress.tell(error)
        raise
    if progress.failures:
        _, first = progress.failures[0]
        progress.tell(first)
        raise first
    return ImportResult(progress.ledgers, progress.events, progress.skipped, dict(file.left_out.counts))


class _Progress:
    """What became of a file's conversations so far."""

    def __init__(self, file: TranscriptFile, tags: Tags) -> None:
        self._file = file
        self._tags = tags
        self.ledgers: list[str] = []
        self.events = 0
        self.failures: list[tuple[str, LedgerError]] = []

    @property
    def skipped(self) -> list[Skipped]:
        return sorted([*self._file.skipped, *self._file.left_out.told()], key=lambda skipped: skipped.line)

    def bring_up_to_date(self, store: Ledgers, name: str, conversation: Conversation) -> None:
        """Bring one ledger up to date; a refusal is kept for the end, a fault of the store is raised."""
        try:
            _check_subjects(store, self._tags)
            for appended in bring_up_to_date(store.ledger(name), conversation, self._tags):
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


def _check_subjects(store: Ledgers, tags: Tags) -> None:
    """``SubjectForgotten`` for a forgotten one, even where nothing would be appended: what the file says is not to be here."""
    for subject in tags.subjects:
        job = store.store.fenced(subject_mark(store.store.secret, subject))
        if job is not None:
            raise SubjectForgotten(
                f"whom this file is about was forgotten by job {job}: leave the subject out, or re-authorise it", job=job
            )


def _count(ledgers: Sequence[str]) -> str:
    return "1 other ledger was" if len(ledgers) == 1 else f"{len(ledgers):,} other ledgers were"


def _some(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def bring_up_to_date(handle: Ledger, conversation: Conversation, tags: Tags = NO_TAGS) -> Iterator[int]:
    """Append what the ledger does not hold yet, with the tags, one command a step; yields the number of events of each.

    Where another writer was in between, the ledger is read and compared again.
    """
    while True:
        rest, version = missing(handle, conversation)
        for chunk in _commands(rest):
            events = [made.event for made in chunk]
            try:
                handle.append(events, expected_version=version, blobs=_blobs(chunk), subjects=tags.subjects, labels=tags.labels)
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
    """The events that a ledger neither holds yet nor forgot, and its version; ``TranscriptDiverged`` where it holds
    something else, ``ForgottenLedger`` where it was forgotten as a whole.

    Both are gone through in step, so neither is held.
    """
    version, forgotten = 0, None
    stored: set[str] = set()
    gone: set[int] = set()  # forgotten turns: what their calls returned is forgotten, even if it comes only now
    around = Around(handle.name, conversation)
    given = (said for said in conversation.spoken() if not is_return_of(said.event, gone))
    for recorded in _recorded(handle):
        version, event = recorded.version, recorded.event
        forgotten = _forgotten_by(event, forgotten)
        around.see(event)
        if isinstance(event, ArtifactStored):
            stored.add(event.sha256)
        elif is_spoken(event) and not is_return_of(event, gone):
            said = next(given, None)
            if said is None or not is_same(event, said):
                _differs(handle, event, None if said is None else said.event)
            if isinstance(event, Erased) and event.turn is not None:
                gone |= {event.turn} if event.type == "turn.recorded" else set()
    if forgotten is not None:
        _forgotten(handle.name, forgotten)
    return chain(around.before(), with_artifacts(given, stored), around.after()), version


def _forgotten_by(event: Event | Erased, before: str | None) -> str | None:
    """The job that forgot the whole ledger, as of an event; None while it takes events."""
    if isinstance(event, ContentForgotten) and event.scope == "ledger":
        return event.job
    return None if isinstance(event, LedgerReauthorised) else before


def _forgotten(ledger: str, job: str) -> NoReturn:
    raise ForgottenLedger(
        f"ledger {ledger!r} was forgotten by job {job}: re-authorise it, or name another one for this conversation",
        ledger=ledger,
        job=job,
    )


def _recorded(handle: Ledger) -> Iterator[Recorded]:
    """The events of a ledger up to the version that it has now; whatever is forgotten in between shows by a later one."""
    return handle.events(0, handle.version)


def _differs(handle: Ledger, event: Event | Erased, given: Event | None) -> NoReturn:
    """Refuse a conversation; what the file says is shown only where nothing was forgotten that it may still hold."""
    forgotten, hides = None, False
    for recorded in _recorded(handle):
        forgotten = _forgotten_by(recorded.event, forgotten)
        hides = hides or isinstance(recorded.event, Erased)
    if forgotten is not None:
        _forgotten(handle.name, forgotten)
    ours = f"{place_of(event)} (forgotten)" if isinstance(event, Erased) else describe(event, given)
    if given is None:
        theirs = None
        what = f"goes on with {ours}, where the file ends: import the longer file, or name another ledger"
    else:
        theirs = f"{place_of(given)} (not shown, as something was forgotten)" if hides else describe(given, event)
        what = f"holds {ours}, the file has {theirs}: name another ledger for this conversation"
    raise TranscriptDiverged(f"ledger {handle.name!r} {what}", ledger=handle.name, turn=event.turn, recorded=ours, given=theirs)
