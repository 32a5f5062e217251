r"""Files of conversations: one JSON value, a JSON value a line (JSONL), or text that a whole format knows. Which of them is
told by the content.

A JSONL file is read line by line, so that only one line is held in memory. Where its lines are single messages,
those are one conversation (one for each ``conversation_id``, ``session_id`` or ``thread_id`` that they bear): the
file is gone through once for the places of their messages and what these say of the format, and again whenever
their events are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, NoReturn

from delivery.importers import NAMES, RECORD_FORMATS, TEXT_FORMATS, VALUE_FORMATS, Format, RecordFormat, TextFormat
from delivery.importers.blocks import CONVERSATION_IDS, name_or_none
from delivery.importers.left_out import LeftOut, Skipped
from delivery.importers.lines import Line, LineMessages, lines
from delivery.importers.one_value import MAX_DOCUMENT_BYTES, is_one_value
from delivery.importers.recognition import (
    LISTS,
    Found,
    NothingRecognised,
    Votes,
    check_format,
    claiming,
    id_in,
    is_lone_message,
    locate,
    why_none,
)
from delivery.importers.records import Records
from delivery.importers.source import Node, decode_utf8, parse
from delivery.importers.spoken import Made, Spoken, with_artifacts
from delivery.importers.told import Told
from delivery.importers.transcript import Transcript
from ledger.errors import InvalidInput, LimitExceeded
from ledger.events import Event, LedgerOpened, OutcomeRecorded

_SHOWN_REASONS: Final = 3
_GAP: Final = "; messages on later lines follow it: once it is repaired, import the file into another ledger"


_BEGINNING_BYTES: Final = 65_536
_FIRST_RECORDS: Final = 64


class Conversation:
    """One conversation of a file. ``source_id`` is the source's own id for it; ``line`` is where it begins.

    ``parent`` is the name of the ledger that it is a child of; ``outcome`` is how it ended, if the source says so. Its
    events are made anew, the same each time, whenever they are read, so that a long one is never held in memory.
    """

    def __init__(self, told: Told, report: Callable[[Transcript], None]) -> None:
        self.source_id = told.source_id
        self.line = told.line
        self.parent = told.parent
        self.outcome: OutcomeRecorded | None = told.outcome
        self._told = told
        self._report: Callable[[Transcript], None] | None = report

    def child_of(self, parent: str) -> None:
        """Give it another parent, where the ledger of its parent has another name than in the source."""
        self.parent = parent

    @property
    def opening(self) -> LedgerOpened | None:
        """What names the parent of a child ledger, and its task."""
        return None if self.parent is None else LedgerOpened(parent=self.parent, task=self._told.task)

    def read(self) -> Iterator[Made]:
        """The events in order, each artifact with its bytes, before the first event that refers to it."""
        if self.opening is not None:
            yield Made(self.opening)
        yield from with_artifacts(self.spoken(), set())
        if self.outcome is not None:
            yield Made(self.outcome)

    def spoken(self) -> Iterator[Spoken]:
        """The turns and returns in order, each with all artifacts that it refers to.

        What could not be imported is reported when they were read to the end.
        """
        transcript = Transcript(model=self._told.model)
        for _step in self._told.steps(transcript):
            yield from transcript.take()
        yield from transcript.take()
        report, self._report = self._report, None
        if report is not None:
            report(transcript)

    @property
    def events(self) -> Iterator[Event]:
        """The events alone."""
        return (made.event for made in self.read())


class TranscriptFile:
    """The conversations of a file, in order; iterate it once.

    ``skipped`` says what could not be imported, and why: lines once the file was gone through, messages once the events
    of their conversation were read to the end. ``left_out`` counts what of a whole format is neither a turn nor a return.

    Raises ``NothingRecognised`` at the end if there was no conversation, and ``InvalidInput`` for a file that
    cannot be read or is one broken JSON value.
    """

    def __init__(self, path: str | Path, *, format: str = "auto") -> None:  # noqa: A002  # the word of the command line
        check_format(format)
        self.path = Path(path)
        self.skipped: list[Skipped] = []
        self.left_out = LeftOut()
        self._format = format
        self._broken: list[int] = []

    def __iter__(self) -> Iterator[Conversation]:
        any_found = False
        for conversation in self._conversations():
            any_found = True
            yield conversation
        if not any_found:
            self._nothing()

    def _conversations(self) -> Iterator[Conversation]:
        try:
            with self.path.open("rb") as file:
                if (text := self._text_format(file)) is not None:
                    yield from self._of_text(text, file)
                elif is_one_value(file):
                    yield from self._of_document(file)
                elif (records := self._record_format(file)) is not None:
                    yield from self._of_records(records, file)
                else:
                    yield from self._of_lines(file)
        except OSError as error:
            raise InvalidInput(f"cannot read {self.path}: {error.strerror}", path=str(self.path)) from error

    def _nothing(self) -> None:
        reasons = "".join(f"; line {at.line}: {at.reason}" for at in self.skipped[:_SHOWN_REASONS])
        hidden = len(self.skipped) - _SHOWN_REASONS
        more = f"; and {hidden} more" if hidden > 0 else ""
        raise NothingRecognised(
            f"{self.path}: no conversation in a known format ({', '.join(NAMES)}){reasons}{more}",
            path=str(self.path),
            formats=list(NAMES),
            skipped=list(self.skipped),
        )

    def _text_format(self, file: BinaryIO) -> TextFormat | None:
        beginning = file.read(_BEGINNING_BYTES).decode("utf-8-sig", errors="ignore")
        file.seek(0)
        return claiming(TEXT_FORMATS, lambda known: known.claims(beginning), self._format)

    def _record_format(self, file: BinaryIO) -> RecordFormat | None:
        beginning = _first_records(file)
        file.seek(0)
        return claiming(RECORD_FORMATS, lambda known: bool(beginning) and known.claims(beginning), self._format)

    def _whole(self, file: BinaryIO) -> str:
        data = file.read(MAX_DOCUMENT_BYTES + 1)
        if len(data) > MAX_DOCUMENT_BYTES:
            raise LimitExceeded(
                f"{self.path} is one JSON value or one text of more than {MAX_DOCUMENT_BYTES:,} bytes: "
                "write one conversation a line",
                path=str(self.path),
            )
        return decode_utf8(data)

    def _of_text(self, known: TextFormat, file: BinaryIO) -> Iterator[Conversation]:
        try:
            told = known.conversations(self._whole(file))
            for one in told:
                yield from self._telling(one)
        except InvalidInput as error:
            self._in_file(error)

    def _of_document(self, file: BinaryIO) -> Iterator[Conversation]:
        try:
            value = parse(self._whole(file))
        except LimitExceeded:
            raise
        except InvalidInput as error:
            self._in_file(error)
        yield from self._in_value(value)

    def _in_file(self, error: InvalidInput) -> NoReturn:
        error.args = (f"{self.path}: {error}",)
        raise error

    def _of_records(self, known: RecordFormat, file: BinaryIO) -> Iterator[Conversation]:
        records = Records(self.path, self._lines(file), self._parse_line)
        try:
            for told in known.conversations(records):
                yield from self._telling(told)
        except InvalidInput as error:
            self._skip_broken(max(records.last, 1), str(error))
        self._tell_of_gaps(records.last)
        self.skipped += records.skipped
        self.left_out.merge(records.left_out)

    def _of_lines(self, file: BinaryIO) -> Iterator[Conversation]:
        groups: dict[str | None, Found] = {}
        last = 0
        for line in self._lines(file):
            node = self._parse_line(line)
            if node is None:
                continue
            if is_lone_message(node):
                self._add_message(groups, line, node)
                last = line.number
            else:
                yield from self._in_value(node)
        self._tell_of_gaps(last)
        for found in groups.values():
            yield from self._convert(found)

    def _tell_of_gaps(self, last: int) -> None:
        """A broken line before the last of the messages that stand on lines is missing in the middle of a conversation."""
        for place in self._broken:
            skip = self.skipped[place]
            if skip.line < last:
                self.skipped[place] = Skipped(skip.line, f"{skip.reason}{_GAP}")

    def _skip_broken(self, line: int, reason: str) -> None:
        self._broken.append(len(self.skipped))
        self.skipped.append(Skipped(line, reason))

    def _add_message(self, groups: dict[str | None, Found], line: Line, node: Node) -> None:
        source_id = id_in(node, CONVERSATION_IDS)
        found = groups.get(source_id)
        if found is None:
            found = groups[source_id] = Found(LineMessages(self.path), None, source_id, node.line, Votes())
        assert isinstance(found.messages, LineMessages), "only lines are added"
        found.messages.add(line)
        found.votes.add(node)

    def _lines(self, file: BinaryIO) -> Iterator[Line]:
        for line in lines(file):
            if line.is_too_long:
                self._skip_broken(line.number, line.passed_over)
            elif line.data.strip():
                yield line

    def _parse_line(self, line: Line) -> Node | None:
        try:
            return line.parse()
        except InvalidInput as error:
            torn = f"torn, the file ends inside it ({len(line.data)} bytes): " if line.is_torn else ""
            self._skip_broken(line.number, f"{torn}{error}")
            return None

    def _in_value(self, node: Node) -> Iterator[Conversation]:
        """The conversations of one JSON value: itself, or those of a list, or of an object with a list."""
        try:
            known = claiming(VALUE_FORMATS, lambda known: known.claims(node), self._format)
            if known is not None:
                for told in known.conversations(node):
                    yield from self._telling(told)
                return
            found = locate(node)
            if found is not None:
                yield from self._convert(found)
                return
            many = _many(node)
        except InvalidInput as error:
            self._skip_broken(node.line, str(error))
            return
        if not any(element.kind in ("array", "object") for element in many):
            self.skipped.append(Skipped(node.line, why_none(node) or f"{node.path}: neither a message nor a conversation"))
            return
        for element in many:
            yield from self._in_value(element)

    def _convert(self, found: Found) -> Iterator[Conversation]:
        known = found.votes.format(self._format, found.body)
        if known is not None:
            yield from self._telling(_told(found, known))
            return
        reason = f"a conversation in none of the formats {', '.join(NAMES)}"
        if self._format != "auto":
            reason = f"a conversation that the format {self._format} does not know"
        self.skipped.append(Skipped(found.line, reason if found.messages else "a conversation without messages"))

    def _telling(self, told: Told) -> Iterator[Conversation]:
        """A conversation, unless nothing is said in it."""
        conversation = Conversation(told, self._report)
        if next(conversation.spoken(), None) is not None:
            yield conversation

    def _report(self, transcript: Transcript) -> None:
        self.skipped += transcript.skipped
        self.left_out.merge(transcript.left_out)


def _told(found: Found, known: Format) -> Told:
    """A conversation in a message format."""
    body = found.body

    def steps(transcript: Transcript) -> Iterator[None]:
        system = None if body is None else body.get("system")
        if system is not None:
            with transcript.reporting(system.line):
                known.record_system(system, transcript)
            yield
        for message in found.messages:
            with transcript.reporting(message.line):
                known.record(message, transcript)
            yield

    model = None if body is None else name_or_none(body.get("model"))
    return Told(source_id=found.source_id, line=found.line, steps=steps, model=model)


def _first_records(file: BinaryIO) -> list[Node]:
    """Some of the values at the beginning of a file, which say in which format its lines are."""
    found: list[Node] = []
    for line in lines(file):
        if len(found) == _FIRST_RECORDS or line.offset > _BEGINNING_BYTES * _FIRST_RECORDS:
            break
        try:
            found += [line.parse()] if line.data.strip() else []
        except InvalidInput:
            continue  # it is reported when the lines are read
    return found


def _many(node: Node) -> list[Node]:
    """The elements of a list, or of the list that an object holds under a name for many conversations."""
    if node.kind == "object":
        lists = (node.get(name) for name in LISTS)
        node = next((found for found in lists if found is not None), node)
    return node.elements if node.kind == "array" else []
