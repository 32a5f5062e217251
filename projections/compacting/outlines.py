"""What is told of a turn by itself: one line, and the exact strings in it. The same whatever else is told, and when.

So what it costs is counted with the turn. It does not say what the turn's calls returned, which may come later.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from projections.compacting.gists import Telling, asked_of
from projections.compacting.middle_text import BREAKS, told_line
from projections.exact.finding import found_in
from projections.sendable import sendable
from projections.transcript import Turn

LINE_CHARACTERS: Final = 60
"""What is told of a turn in its line is no longer than this."""

LOOKED_THROUGH: Final = 600
"""It is found in so many characters at the beginning of a turn, since it is made of every turn and seldom shown."""

MOST_STRINGS: Final = 400
"""So many exact strings of a turn are carried along at the most."""

Strings = tuple[tuple[str, ...], tuple[str, ...]]


def outline(turn: Turn) -> str:
    """The line of a turn with its end; empty where it says nothing or was forgotten."""
    if turn.forgotten is not None or turn.is_blank:
        return ""
    text = Telling(turn, turn.text[:LOOKED_THROUGH], map(asked_of, turn.calls)).line(LINE_CHARACTERS)
    return told_line(turn.number, turn.number, sendable(text), "extract")


def strings_of(turn: Turn) -> Strings:
    """The exact strings of a turn that identify something, and all of them where a user states them.

    What cannot be shown as it is, on a line, is none of them.
    """
    found = found_in(turn.text)
    named = dict.fromkeys(item.string for item in found if item.identifies)
    stated = dict.fromkeys(item.string for item in found if turn.role == "user")
    return _shown_exactly(named), _shown_exactly(stated)


def carried_along(strings: Strings) -> tuple[str, ...]:
    """Those of a turn that are carried along where it is not shown: what identifies something first."""
    named, stated = strings
    return tuple(dict.fromkeys((*named, *stated)))[:MOST_STRINGS]


def _shown_exactly(strings: Iterable[str]) -> tuple[str, ...]:
    return tuple(string for string in strings if string == sendable(string) and not BREAKS.search(string))
