r"""Files of conversations: one JSON value, or a JSON value a line (JSONL). Which of the two is told by the
content.

A JSONL file is read line by line, so that only one line is held in memory, unless its lines are single
messages: those are one conversation (one for each ``conversation_id``, ``session_id`` or ``thread_id`` that
they bear). Lines end with ``\n`` only; U+2028 and its like are text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from delivery.importers import FORMATS
from delivery.importers.blocks import CONVERSATION_IDS, name_or_none
from delivery.importers.recognition import (
    LISTS,
    Found,
    NothingRecognised,
    check_format,
    format_of,
    id_in,
    is_lone_message,
    locate,
)
from delivery.importers.source import Node, decode_utf8, parse
from delivery.importers.transcript import Skipped, Transcript
from ledger.errors import InvalidInput, LimitExceeded
from ledger.events import Event

MAX_LINE_BYTES: Final = 64 * 1024 * 1024
"""Bytes of one line of JSONL; a longer one is reported and passed over without being held in memory."""

MAX_DOCUMENT_BYTES: Final = 1024 * 1024 * 1024
"""Bytes of a file that is one JSON value, because that must be held in memory whole."""

_SHOWN_REASONS: Final = 3


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of a file, as events. ``artifacts`` holds the bytes of its ``ArtifactStored`` events
    by SHA-256.

    ``source_id`` is the source's own id for it; ``line`` is where it begins.
    """

    source_id: str | None
    events: tuple[Event, ...]
    artifacts: Mapping[str, bytes]
    line: int


class TranscriptFile:
    """The conversations of a file, in order; iterate it once. ``skipped`` then says what could not be
    imported, and why.

    Raises ``NothingRecognised`` at the end if there was no conversation, and ``InvalidInput`` for a file that
    cannot be read or is one broken JSON value.
    """

    def __init__(self, path: str | Path, *, format: str = "auto") -> None:  # noqa: A002  # the word of the command line
        check_format(format)
        self.path = Path(path)
        self.skipped: list[Skipped] = []
        self._format = format

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
        yield from self._in_value(parse(decode_utf8(data)))

    def _of_lines(self, file: BinaryIO) -> Iterator[Conversation]:
        messages: dict[str | None, list[Node]] = {}
        for line in self._lines(file):
            node = self._parse_line(line)
            if node is None:
                continue
            if is_lone_message(node):
                messages.setdefault(id_in(node, CONVERSATION_IDS), []).append(node)
            else:
                yield from self._in_value(node)
        for source_id, found in messages.items():
            yield from self._convert(Found(found, None, source_id, found[0].line))

    def _lines(self, file: BinaryIO) -> Iterator[_Line]:
        for line in _lines(file):
            if line.is_too_long:
                self.skipped.append(Skipped(line.number, f"longer than {MAX_LINE_BYTES:,} bytes, passed over"))
            elif line.data.strip():
                yield line

    def _parse_line(self, line: _Line) -> Node | None:
        try:
            return parse(decode_utf8(line.data, line=line.number, offset=line.offset), line=line.number)
        except InvalidInput as error:
            torn = "" if line.data.endswith(b"\n") else f"torn, the file ends inside it ({len(line.data)} bytes): "
            self.skipped.append(Skipped(line.number, f"{torn}{error}"))
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
            self.skipped.append(Skipped(node.line, str(error)))
            return
        if not any(element.kind in ("array", "object") for element in many):
            self.skipped.append(Skipped(node.line, f"{node.path}: neither a message nor a conversation"))
            return
        for element in many:
            yield from self._in_value(element)

    def _convert(self, found: Found) -> Iterator[Conversation]:
        known = format_of(found, self._format)
        if known is None:
            reason = f"a conversation in none of the formats {', '.join(FORMATS)}"
            self.skipped.append(Skipped(found.line, reason if found.messages else "a conversation without messages"))
            return
        body = found.body
        transcript = Transcript(model=None if body is None else name_or_none(body.get("model")))
        system = None if body is None else body.get("system")
        if system is not None:
            _record(known.record_system, system, transcript)
        for message in found.messages:
            _record(known.record, message, transcript)
        self.skipped += transcript.skipped
        if transcript.events:
            yield Conversation(found.source_id, tuple(transcript.events), transcript.artifacts, found.line)


def _record(record: Callable[[Node, Transcript], None], node: Node, transcript: Transcript) -> None:
    try:
        record(node, transcript)
    except InvalidInput as error:
        transcript.skip(node, str(error))


@dataclass(frozen=True, slots=True)
class _Line:
    """A line with its end; ``offset`` is its first byte in the file, ``data`` is empty if it is too long to
    be held.
    """

    number: int
    offset: int
    data: bytes
    is_too_long: bool = False


def _lines(file: BinaryIO) -> Iterator[_Line]:
    number, offset = 1, 0
    while data := file.readline(MAX_LINE_BYTES + 1):
        length = len(data)
        if length > MAX_LINE_BYTES and not data.endswith(b"\n"):
            data = b""
            while rest := file.readline(MAX_LINE_BYTES):
                length += len(rest)
                if rest.endswith(b"\n"):
                    break
            yield _Line(number, offset, b"", is_too_long=True)
        else:
            yield _Line(number, offset, data)
        number, offset = number + 1, offset + length


def _is_one_value(file: BinaryIO) -> bool:
    """Whether the file is one JSON value: it is one long line, or its first line opens a value that the next
    lines go on with.

    Leaves the file at its beginning.
    """
    lines = (line for line in _lines(file) if line.data.strip() or line.is_too_long)
    first, second = next(lines, None), next(lines, None)
    file.seek(0)
    if first is None or first.is_too_long:
        return first is not None and second is None
    if not _opens_a_value(first):
        return False
    if second is None or not _is_whole_value(second):
        return True
    # A torn line and a whole one after it, or a list whose elements stand on lines of their own: only the
    # whole file can say.
    is_whole = _is_whole_value(_Line(1, 0, file.read(MAX_DOCUMENT_BYTES)))
    file.seek(0)
    return is_whole


def _opens_a_value(line: _Line) -> bool:
    """Whether a line is JSON that has not ended: the parser wanted more, and not inside a text, which ends on
    its line.
    """
    try:
        parse(decode_utf8(line.data))
    except InvalidInput as error:
        return bool(error.details.get("ended")) and "Unterminated" not in str(error)
    return False


def _is_whole_value(line: _Line) -> bool:
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
