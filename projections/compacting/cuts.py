"""The beginnings and ends of results that are too large: what is left out between them, and where the whole result is."""

from __future__ import annotations

import re
from itertools import count, takewhile
from typing import Any, Final

from ledger.errors import InvalidInput
from ledger.parts import DocumentPart, ImagePart, OpaquePart
from projections.exact.characters import cut_after, cut_before
from projections.measured import left_out, measured
from projections.pieces import media_note
from projections.transcript import Return, text_of

_LEAST_STEPS: Final = (110, 220, 440, 622, 740, 880, 1_047, 1_245, 1_480)  # in 110 there is room for our line
_OCTAVE: Final = (1_760, 1_919, 2_093, 2_282, 2_489, 2_714, 2_960, 3_228)

FEW_STEPS: Final = (25, 9, 2, 0)
"""The steps to which results of the tail are cut: a few fixed ones, so that a cut is seldom another one a turn later."""

_MARK: Final = "[\u2026 "
_FORGED: Final = re.compile(r"^(?=[ \t]*+\[\u2026 )", re.MULTILINE)
_NEAR: Final = 200
"""So many characters at most are given up to cut at the end of a line."""


def whole_text(found: Return) -> str:
    """A result as a text that may be cut: pictures, documents and blocks of others are named, encoded bytes measured."""
    return "\n".join(_written(part, found.id) for part in measured(found).parts)


def has_names(found: Return) -> bool:
    """Whether such a text names something in place of what stands in a result."""
    return any(isinstance(part, ImagePart | DocumentPart | OpaquePart) for part in found.parts)


def _written(part: Any, result_id: str) -> str:
    match part:
        case ImagePart() | DocumentPart():
            return f"{media_note(part)[:-1]}; whole result: result_id={result_id}]"
        case OpaquePart(block=block):
            return f"[unsupported block: {block}; whole result: result_id={result_id}]"
        case _:
            return text_of((part,))


def step_characters(step: int) -> int:
    """How long a result is at the most that is cut to a step: 110 characters at step 0, then more, twice that in eight steps.

    Only these, so that what cuts cost can be counted before anybody knows how much is left for a result.
    """
    if step < len(_LEAST_STEPS):
        return _LEAST_STEPS[step]
    octave, place = divmod(step - len(_LEAST_STEPS), len(_OCTAVE))
    return _OCTAVE[place] << octave


def cut_lengths(whole: str) -> list[int]:
    """The lengths of the steps to which a result may be cut, the shortest first."""
    return list(takewhile(len(whole).__gt__, map(step_characters, count())))


def result_cut(text: str, result_id: str, *, characters: int) -> str:
    """Head and tail of a result, and between them a line that says how much is left out and where the whole result is.

    At most ``characters`` long; a text that is no longer comes back as it is. Cut at the ends of lines where these are near,
    never inside a character. A line of the text that looks like ours gets a backslash before it. Raises ``InvalidInput``
    where there is no room for our line.
    """
    if len(text) <= characters:
        return text
    head_end, marker, tail_start = cut_out(text, result_id, characters=characters)
    return f"{_plain(text[:head_end])}\n{marker}\n{_plain(text[tail_start:])}"


def cut_out(text: str, result_id: str, *, characters: int) -> tuple[int, str, int]:
    """Where the head of a longer text ends, the line that says what is left out after it, and where the tail begins."""
    room = characters - len(_marker(text, result_id)) - 2
    if room < 0:
        raise InvalidInput(f"characters={characters}: too few for the line that says what is left out", characters=characters)
    head_end = _head_end(text, room * 2 // 3)
    tail_start = max(head_end, _tail_start(text, room - room * 2 // 3))
    return head_end, _marker(text[head_end:tail_start], result_id), tail_start


def is_shown_plain(text: str) -> bool:
    """Whether nothing in a text looks like our line, so that its head and tail stand as they are."""
    return _MARK not in text


def _marker(text: str, result_id: str) -> str:
    lines = text.count("\n") + 1
    within = f" in {lines:,} lines" if lines > 1 else ""
    return left_out(f"{len(text):,} characters{within}", result_id)


def _plain(text: str) -> str:
    return text if is_shown_plain(text) else _FORGED.sub(r"\\", text)


def _head_end(text: str, room: int) -> int:
    end = room - (len(_plain(text[:room])) - room)
    line_end = text.rfind("\n", max(0, end - min(_NEAR, end // 4)), end)
    return line_end if line_end >= 0 else cut_before(text, end)


def _tail_start(text: str, room: int) -> int:
    start = len(text) - room
    while (over := len(_plain(text[start:])) - room) > 0:  # where it begins in blanks, what follows them may look like our line
        start += over
    line_end = text.find("\n", start - 1, start + min(_NEAR, room // 4))
    return line_end + 1 if line_end >= 0 else cut_after(text, start)
