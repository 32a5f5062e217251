"""Stored rows as the SQL stores select them: the envelope's columns, then salt, compression and payload.

An event without its payload comes without one, and is never left out: whether it was forgotten or is damaged is for
``ledger.reading`` to tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from ledger.assembling import assembler
from ledger.codec import commitment, unpack
from ledger.errors import CorruptRecord
from ledger.record import Envelope
from ledger.store import Selection, Stored

PAGE_ROWS: Final = 1_000
PAGE_BYTES: Final = 4 * 1024 * 1024
"""Of stored payloads in one page: the row that passes it is the page's last."""

Row = Sequence[Any]
_VERSION: Final = 3
_envelope: Final = assembler(Envelope)
_stored: Final = assembler(Stored)


def stored(row: Row) -> Stored:
    """What a row holds; ``CorruptRecord`` names its version if the payload cannot be read."""
    *columns, salt, compression, payload = row
    envelope = _envelope(*columns)
    if payload is None:
        return Stored(envelope, None, None)
    try:
        return _stored(envelope, salt, unpack(compression, payload))
    except CorruptRecord as error:
        raise corrupt(envelope, str(error)) from error


def payload_of(row: Stored) -> bytes:
    """The payload, which is the one that the envelope commits to; ``CorruptRecord`` if it is another, or missing."""
    if row.payload is None or row.salt is None:
        raise corrupt(row.envelope, "its payload is missing")
    if commitment(row.salt, row.payload) != row.envelope.commitment:
        raise corrupt(row.envelope, "its payload does not match its commitment, so it was changed from outside")
    return row.payload


def corrupt(envelope: Envelope, what: str) -> CorruptRecord:
    """The error for an event that cannot be trusted; its details say which one it is, and its ``damage``."""
    return CorruptRecord(
        f"version {envelope.version} of the ledger is damaged: {what}; verify lists all such events, a backup has them whole",
        damage=what,
        version=envelope.version,
        position=envelope.position,
        ledger_id=envelope.ledger.hex(),
    )


def size(row: Row) -> int:
    """The bytes of a row's payload as stored."""
    return len(row[-1]) if isinstance(row[-1], bytes) else 0


def leading(rows: Iterable[Row]) -> list[Row]:
    """The rows of a page, of which the last is the one that makes it ``PAGE_BYTES`` or more."""
    page, total = [], 0
    for row in rows:
        page.append(row)
        total += size(row)
        if total >= PAGE_BYTES:
            break
    return page


def read_in_pages(selection: Selection, fetch: Callable[[int, int | None, int], Sequence[Row]]) -> Iterator[Stored]:
    """The events of a selection. ``fetch`` gives a page: rows with versions in ``(after, upto]``, as many as are asked for,
    or fewer if there are no more or if they have ``PAGE_BYTES``.
    """
    left, after, upto = selection.limit, selection.after, selection.upto
    while left is None or left > 0:
        asked = PAGE_ROWS if left is None else min(left, PAGE_ROWS)
        rows = fetch(after, upto, asked)
        yield from map(stored, rows)
        if len(rows) < asked and sum(map(size, rows)) < PAGE_BYTES:
            return
        left = None if left is None else left - len(rows)
        edge = rows[-1][_VERSION]
        after, upto = (after, edge - 1) if selection.newest_first else (edge, upto)


def read_in_parts(selection: Selection, read: Callable[[Selection], Iterator[Stored]]) -> Iterator[Stored]:
    """The events of a selection, of which the named versions are asked for in parts, each of them no longer than a page."""
    if selection.versions is None:
        return read(selection)
    named = sorted(set(selection.versions), reverse=selection.newest_first)
    parts = (tuple(named[start : start + PAGE_ROWS]) for start in range(0, len(named), PAGE_ROWS))
    rows = (row for part in parts for row in read(replace(selection, versions=part, limit=None)))
    return islice(rows, selection.limit)


def in_a_row(selection: Selection) -> Selection:
    """The same selection, with a range instead of the versions where these follow each other."""
    named = sorted(set(selection.versions or ()))
    if not named or named[-1] - named[0] != len(named) - 1:
        return selection
    upto = named[-1] if selection.upto is None else min(selection.upto, named[-1])
    return replace(selection, versions=None, after=max(selection.after, named[0] - 1), upto=upto)


def feed_page(rows: Iterable[Row]) -> list[Stored]:
    """The events of a page of the feed up to one that is damaged; ``CorruptRecord`` if that is the first."""
    page: list[Stored] = []
    for row in rows:
        try:
            page.append(stored(row))
        except CorruptRecord:
            if page:
                return page  # what comes before it is delivered first; the next page begins with it
            raise
    return page
