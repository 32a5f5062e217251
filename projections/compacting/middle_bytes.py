"""How middles and stubs are written to be kept: the values of their fields in order, without names.

They begin with a checksum of the names of all fields, so that what a release wrote that had others is told from what can be
read.
"""

from __future__ import annotations

import zlib
from itertools import starmap
from typing import Any, Final

import orjson

from ledger.assembling import assembler, told_values_of, values_of
from projections.compacting.middle import Chapter, Exact, KeptTurn, Line, Middle, SegmentStubs, Stub, Total

_MODELS: Final = (Middle, KeptTurn, Chapter, Line, Exact, Total, Stub)
_FORM: Final = zlib.crc32(" ".join(name for model in _MODELS for name in model.__slots__).encode()).to_bytes(4)

_middle: Final = assembler(Middle)
_kept_turn: Final = assembler(KeptTurn)
_chapter: Final = assembler(Chapter)
_line: Final = assembler(Line)
_exact: Final = assembler(Exact)
_stub: Final = assembler(Stub)
_of_kept_turn: Final = values_of(KeptTurn)
_of_line: Final = told_values_of(Line)
_of_exact: Final = told_values_of(Exact)
_of_total: Final = told_values_of(Total)
_of_stub: Final = told_values_of(Stub)


def bytes_of_middle(middle: Middle) -> bytes:
    """The bytes by which a middle is kept."""
    written = (
        middle.through,
        [*map(_values_of_kept_turn, middle.kept)],
        [(one.first, one.last, [*map(_of_line, one.lines)], [*map(_of_line, one.brief)]) for one in middle.chapters],
        [*map(_of_exact, middle.exact)],
        middle.results,
        {verdict: _of_total(total) for verdict, total in middle.totals.items()},
        middle.wanting,
        middle.settled,
        middle.last_settled,
        middle.key,
    )
    return _FORM + orjson.dumps(written)


def middle_of_bytes(kept: bytes) -> Middle | None:
    """A middle from these bytes; None if they are of another form."""
    if not kept.startswith(_FORM):
        return None
    through, turns, chapters, exact, results, totals, *rest = orjson.loads(kept[len(_FORM) :])
    values = (
        through,
        tuple(map(_kept_turn_of, turns)),
        tuple(map(_chapter_of, chapters)),
        tuple(starmap(_exact, exact)),
        tuple(results),
        {verdict: Total(*total) for verdict, total in totals.items()},
    )
    return _middle(*values, *rest)


def bytes_of_stubs(stubs: SegmentStubs) -> bytes:
    """The bytes by which the stubs of a segment are kept."""
    return _FORM + orjson.dumps([(turn, [*map(_of_stub, told)]) for turn, told in stubs.items()])


def stubs_of_bytes(kept: bytes) -> SegmentStubs | None:
    """The stubs of a segment from these bytes; None if they are of another form."""
    if not kept.startswith(_FORM):
        return None
    return {turn: tuple(starmap(_stub, told)) for turn, told in orjson.loads(kept[len(_FORM) :])}


def _values_of_kept_turn(turn: KeptTurn) -> list[Any]:
    *told, stubs, exact, named, line, before, waits_since = _of_kept_turn(turn)
    line_values = None if line is None else _of_line(line)
    return [*told, [*map(_of_stub, stubs)], exact, named, line_values, before, waits_since]


def _kept_turn_of(values: list[Any]) -> KeptTurn:
    *told, stubs, exact, named, line, before, waits_since = values
    shown = tuple(starmap(_stub, stubs)) if stubs else ()
    told_of = None if line is None else _line(*line)
    all_values = (*told, shown, tuple(exact), tuple(named), told_of, before, waits_since)
    return _kept_turn(*all_values)


def _chapter_of(values: list[Any]) -> Chapter:
    first, last, lines, brief = values
    return _chapter(first, last, tuple(starmap(_line, lines)), tuple(starmap(_line, brief)))
