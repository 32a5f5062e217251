"""Whether a file is one JSON value that is laid out in lines, or a JSON value a line."""

from __future__ import annotations

from typing import BinaryIO, Final

from delivery.importers.lines import Line, closes_at_its_end, lines
from delivery.importers.source import decode_utf8, parse
from ledger.errors import InvalidInput

MAX_DOCUMENT_BYTES: Final = 1024 * 1024 * 1024
"""Bytes of a file that is one JSON value or one text, because that must be held in memory whole."""


def is_one_value(file: BinaryIO) -> bool:
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
