r"""The lines of a file, held one at a time, and messages that are read again from where they stand.

Lines end with ``\n`` only; U+2028 and its like are text.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from delivery.importers.source import Node, decode_utf8, parse
from ledger.errors import InvalidInput

MAX_LINE_BYTES: Final = 64 * 1024 * 1024
"""Bytes of one line of JSONL; a longer one is reported and passed over without being held in memory."""

_PIECE_BYTES: Final = 1024 * 1024
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_BRACKET: Final = re.compile(rb"[\[\]{}]")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line stands: its number, from 1, and its first byte in the file."""

    number: int
    offset: int


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its end; ``offset`` is its first byte in the file, ``data`` is empty if it is too long to be held."""

    number: int
    offset: int
    data: bytes
    is_too_long: bool = False

    @property
    def passed_over(self) -> str:
        """What to say of a line that is too long."""
        return f"longer than {MAX_LINE_BYTES:,} bytes (it begins at byte {self.offset}), passed over"

    def parse(self) -> Node:
        """The JSON value of the line; ``InvalidInput`` names the place in the file."""
        text = decode_utf8(self.data, line=self.number, offset=self.offset)
        return parse(text.removesuffix("\n"), line=self.number)

    @property
    def is_torn(self) -> bool:
        """Whether the file ends inside the line: it has no end, and a bracket of it stays open."""
        brackets = b"" if self.data.endswith(b"\n") else _STRING.sub(b"", self.data)
        return sum(1 if match.group() in b"[{" else -1 for match in _BRACKET.finditer(brackets)) > 0


def lines(file: BinaryIO) -> Iterator[Line]:
    """The lines of a file from where it stands, which must be its beginning."""
    number, offset = 1, 0
    while data := file.readline(MAX_LINE_BYTES + 1):
        length = len(data)
        if length > MAX_LINE_BYTES and not data.endswith(b"\n"):
            data = b""
            length += _pass_over(file)
            yield Line(number, offset, b"", is_too_long=True)
        else:
            yield Line(number, offset, data)
        number, offset = number + 1, offset + length


def _pass_over(file: BinaryIO) -> int:
    """Go to the end of the line and return how many bytes that were."""
    length = 0
    while piece := file.readline(_PIECE_BYTES):
        length += len(piece)
        if piece.endswith(b"\n"):
            break
    return length


class LineMessages:
    """Messages of one conversation that stand on lines of their own. Held are their places, eight bytes each; whoever goes
    through them reads the file again, a line at a time.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offsets = array("Q")
        self._numbers = array("Q")

    def add(self, line: Line | Place) -> None:
        """Take in the line of the message that comes next, wherever it stands in the file."""
        self._offsets.append(line.offset)
        self._numbers.append(line.number)

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[Node]:
        try:
            with self._path.open("rb") as file:
                for offset, number in zip(self._offsets, self._numbers, strict=True):
                    file.seek(offset)
                    yield self._read(Line(number, offset, file.readline(MAX_LINE_BYTES + 1)))
        except OSError as error:
            raise InvalidInput(f"cannot read {self._path}: {error.strerror}", path=str(self._path)) from error

    def _read(self, line: Line) -> Node:
        try:
            return line.parse()
        except InvalidInput as error:
            raise InvalidInput(
                f"{self._path} was changed while it was read (line {line.number}): import it again", path=str(self._path)
            ) from error


def closes_at_its_end(found: Iterable[Line]) -> bool:
    """Whether the first bracket of a text is closed by its last one, as in one JSON value that is laid out in lines.

    Quotes that are not closed on their line are not JSON; what follows them on it is not looked at.
    """
    depth, has_closed = 0, False
    for line in found:
        for match in _BRACKET.finditer(_STRING.sub(b"", line.data)):
            if has_closed:
                return False
            depth += 1 if match.group() in b"[{" else -1
            has_closed = depth <= 0
    return has_closed
