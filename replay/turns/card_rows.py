"""How cards are kept: a block in a row, with a line for each of its turns, so that those that nobody asks for are not read.

A row begins with a checksum of its lines and of the names of what they hold. So a row that was cut short, and one of a release
that kept other numbers, is told from one that can be read, and no field has to be looked at for that.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any, Final

import orjson

from ledger.assembling import assembler, told_values_of
from projections.cards import Card, Contents, ResultCard
from replay.turns.blocks import BLOCK_TURNS

Counted = tuple[tuple[int, ...], Card]
"""The versions that a card counts, and the card."""

_NAMES: Final = [*Card.__slots__, *Contents.__slots__, *ResultCard.__slots__]
_FORM: Final = zlib.crc32(" ".join(_NAMES).encode())
_CHECKSUM_BYTES: Final = 4

_card: Final = assembler(Card)
_contents: Final = assembler(Contents)
_result: Final = assembler(ResultCard)
_of_card: Final = told_values_of(Card)
_of_contents: Final = told_values_of(Contents)
_of_result: Final = told_values_of(ResultCard)

# The places of what is no number and no text; cuts come last, and what is foreign is followed by reasoning of the same kind.
_CONTENTS: Final = Card.__slots__.index("contents")
_RESULTS: Final = Card.__slots__.index("results")
_EXACT: Final = Card.__slots__.index("exact_tokens")
_ASKED: Final = Card.__slots__.index("asked_tokens")
_FOREIGN: Final = Contents.__slots__.index("foreign")
_RESULT_CONTENTS: Final = ResultCard.__slots__.index("contents")
_CUTS: Final = ResultCard.__slots__.index("cuts")


def packed_lines(first: int, lines: Mapping[int, bytes]) -> bytes:
    """The row of the block that begins with the turn ``first``, of the lines of its cards that are known, by turn."""
    return _sealed(b"\n".join(lines.get(turn, b"") for turn in range(first, first + BLOCK_TURNS)))


def unpacked_lines(first: int, row: bytes) -> dict[int, bytes]:
    """The lines of the cards in a block's row, by turn; none of a row of another form."""
    lines = _unsealed(row) or b""
    return {turn: line for turn, line in enumerate(lines.split(b"\n"), first) if line}


def packed_tokens(tokens: Mapping[int, int]) -> bytes:
    """The row of what system texts cost, by version."""
    return _sealed(orjson.dumps([*tokens.items()]))


def unpacked_tokens(row: bytes) -> dict[int, int]:
    """The tokens of system texts; none of a row of another form."""
    found = _unsealed(row)
    return {} if found is None else dict(orjson.loads(found))


def line_of_card(counted: Counted) -> bytes:
    """The line of a card."""
    versions, card = counted
    values = _of_card(card)
    values[_CONTENTS] = _of_contents(card.contents)
    values[_RESULTS] = [*map(_values_of_result, card.results)]
    if card.asked_tokens is not None:  # what others counted may be any number, and JSON is read exactly only up to 64 bits
        values[_ASKED] = f"{card.asked_tokens:x}"
    return orjson.dumps((versions, *values))


def card_of_line(line: bytes) -> Counted:
    """The card of a line."""
    versions, *values = orjson.loads(line)
    values[_CONTENTS] = _contents_of(values[_CONTENTS])
    values[_RESULTS] = tuple(map(_result_of, values[_RESULTS]))
    if len(values) > _EXACT:
        values[_EXACT] = tuple(values[_EXACT])
    if len(values) > _ASKED:
        values[_ASKED] = int(values[_ASKED], 16)
    return tuple(versions), _card(*values)


def _values_of_result(result: ResultCard) -> list[Any]:
    values = _of_result(result)
    values[_RESULT_CONTENTS] = _of_contents(result.contents)
    return values


def _result_of(values: list[Any]) -> ResultCard:
    values[_RESULT_CONTENTS] = _contents_of(values[_RESULT_CONTENTS])
    values[_CUTS:] = map(tuple, values[_CUTS:])
    return _result(*values)


def _contents_of(values: list[Any]) -> Contents:
    if len(values) > _FOREIGN:
        values[_FOREIGN : _FOREIGN + 2] = [tuple(map(tuple, found)) for found in values[_FOREIGN : _FOREIGN + 2]]
    return _contents(*values)


def _sealed(content: bytes) -> bytes:
    return zlib.crc32(content, _FORM).to_bytes(_CHECKSUM_BYTES) + content


def _unsealed(row: bytes) -> bytes | None:
    content = row[_CHECKSUM_BYTES:]
    return content if row == _sealed(content) else None
