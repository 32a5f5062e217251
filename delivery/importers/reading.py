r"""Files of conversations: one JSON value, or a JSON value a line (JSONL). Which of the two is told by the
content.

A JSONL file is read line by line, so that only one line is held in memory. Where its lines are single messages,
those are one conversation (one for each ``conversation_id``, ``session_id`` or ``thread_id`` that they bear): the
file is gone through once for the places of their messages and what these say of the format, and again whenever
their events are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from delivery.importers import FORMATS, Format
from delivery.importers.blocks import CONVERSATION_IDS, name_or_none
from delivery.importers.lines import Line, LineMessages, closes_at_its_end, lines
from delivery.importers.recognition import (
    LISTS,
    Found,
    NothingRecognised,
    Votes,
    check_format,
    id_in,
    is_lone_message,
    locate,
    why_none,
)
from delivery.importers.source import Node, decode_utf8, parse
from delivery.importers.spoken import Made, Spoken, with_artifacts
from delivery.importers.transcript import Skipped, Transcript
from ledger.errors import InvalidInput, LimitExceeded
from ledger.events import Event

MAX_DOCUMENT_BYTES: Final = 1024 * 1024 * 1024
"""Bytes of a file that is one JSON value, because that must be held in memory whole."""

_SHOWN_REASONS: Final = 3
_GAP: Final = "; messages on later lines follow it: once it is repaired, import the file into another ledger"


class Conversation:
    """One conversation of a file. ``source_id`` is the source's own id for it; ``line`` is where it begins.

    Its events are made anew, the same each time, whenever they are read, so that a long one is never held in memory.
    """

    def __init__(self, found: Found, known: Format, report: Callable[[list[Skipped]], None]) -> None:
        self.source_id = found.source_id
        self.line = found.line
        self._found = found
        self._format = known
        self._report: Callable[[list[Skipped]], None] | None = report

    def read(self) -> Iterator[Made]:
        """The events in order, each artifact with its bytes, before the first event that refers to it."""
        return with_artifacts(self.spoken(), set())

    def spoken(self) -> Iterator[Spoken]:
        """The turns and returns in order, each with all artifacts that it refers to.

        What could not be imported is reported when they were read to the end.
        """
        body = self._found.body
        transcript = Transcript(model=None if body is None else name_or_none(body.get("model")))
        system = None if body is None else body.get("system")
        if system is not None:
            _record(self._format.record_system, system, transcript)
            yield from transcript.take()
        for message in self._found.messages:
            _record(self._format.record, message, transcript)
            yield from transcript.take()
        report, self._report = self._report, None
        if report is not None:
            report(transcript.skipped)

    @property
    def events(self) -> Iterator[Event]:
        """The events alone."""
        return (made.event for made in self.read())


class TranscriptFile:
    """The conversations of a file, in order; iterate it once.

    ``skipped`` says what could not be imported, and why: lines once the file was gone through, messages once the events
    of their conversation were read to the end.

    Raises ``NothingRecognised`` at the end if there was no conversation, and ``InvalidInput`` for a file that
    cannot be read or is one broken JSON value.
    """

    def __init__(self, path: str | Path, *, format: str = "auto") -> None:  # noqa: A002  # the word of the command line
        check_format(format)
        self.path = Path(path)
        self.skipped: list[Skipped] = []
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
                if _is_one_value(file):
                    yield from self._of_document(file)
                else:
                    yield from self._of_lines(file)
        except OSError as error:
            raise InvalidInput(f"cannot read {self.path}: {error.strerror}", path=str(self.path)) from error

    def _nothing(self) -> None:
        reasons = "".join(f"; line {at.line}: {at.reason}" for at in self.skipped[:_SHOWN_REASONS])
        hidden = len(self.skipped) - _SHOWN_REASONS
        more = f"; and {hidden} more" if hidden > 0 else ""
        raise NothingRecognised(
            f"{self.path}: no conversation in a known format ({', '.join(FORMATS)}){reasons}{more}",
            path=str(self.path),
            formats=list(FORMATS),
            skipped=list(self.skipped),
        )

    def _of_document(self, file: BinaryIO) -> Iterator[Conversation]:
        data = file.read(MAX_DOCUMENT_BYTES + 1)
        if len(data) > MAX_DOCUMENT_BYTES:
            raise LimitExceeded(
                f"{self.path} is one JSON value of more than {MAX_DOCUMENT_BYTES:,} bytes: write one conversation a line",
                path=str(self.path),
            )
        try:
            value = parse(decode_utf8(data))
        except InvalidInput as error:
            error.args = (f"{self.path}: {error}",)
            raise
        yield from self._in_value(value)

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
        if known is None:
            reason = f"a conversation in none of the formats {', '.join(FORMATS)}"
            self.skipped.append(Skipped(found.line, reason if found.messages else "a conversation without messages"))
            return
        conversation = Conversation(found, known, self.skipped.extend)
        if next(conversation.spoken(), None) is not None:
            yield conversation


def _record(record: Callable[[Node, Transcript], None], node: Node, transcript: Transcript) -> None:
    try:
        record(node, transcript)
    except InvalidInput as error:
        transcript.skip(node, str(error))


def _is_one_value(file: BinaryIO) -> bool:
    """Whether the file is one JSON value: it is one long line, or its first line opens a value that the next
    lines go on with.

    Leaves the file at its beginning.
    """
    said = (line for line in lines(file) if line.data.strip() or line.is_too_long)
    first, second = next(said, None), next(said, None)
    file.seek(0)
    if first is None or first.is_too_long:
        return first is not None and second is None
    if not _opens_a_value(first):
        return False
    if second is None or not _is_whole_value(second):
        return True
    # A torn line and a whole one after it, or a list whose elements stand on lines of their own: only the
    # whole file can say, and it is held in memory only if its brackets do not tell already.
    closes = closes_at_its_end(lines(file))
    file.seek(0)
    is_whole = closes and _is_whole_value(Line(1, 0, file.read(MAX_DOCUMENT_BYTES)))
    file.seek(0)
    return is_whole


def _opens_a_value(line: Line) -> bool:
    """Whether a line is JSON that has not ended: the parser wanted more, and not inside a text, which ends on
    its line.
    """
    try:
        parse(decode_utf8(line.data))
    except InvalidInput as error:
        return bool(error.details.get("ended")) and "Unterminated" not in str(error)
    return False


def _is_whole_value(line: Line) -> bool:
    try:
        return parse(decode_utf8(line.data, offset=line.offset)).kind in ("object", "array")
    except InvalidInput:
        return False


def _many(node: Node) -> list[Node]:
    """The elements of a list, or of the list that an object holds under a name for many conversations."""
    if node.kind == "object":
        lists = (node.get(name) for name in LISTS)
        node = next((found for found in lists if found is not None), node)
    return node.elements if node.kind == "array" else []
