"""Turns as lines of bounded size: what is long is shortened by a rule, what is still too much goes into several requests.

Of what tools returned, beginning and end are kept, as much of each as lets everything fit into one request, but no less than
``LEAST_RESULT_CHARACTERS``. Words of people and of the assistant, and what it asked tools for, are kept whole as long as
``MOST_REQUESTS`` requests hold them; a text that no request holds is divided among several.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ledger.json_text import JsonText
from ledger.parts import DocumentPart, ImagePart
from projections.escaping import escaped, escaped_json
from projections.exact.characters import cut_after, cut_before
from projections.transcript import Turn

LEAST_CHARACTERS: Final = 4_000
"""A request may not be bounded to less: a line's own words and names need some of it."""

LEAST_RESULT_CHARACTERS: Final = 800
"""So much of a result is always shown, if it has as much."""

MOST_REQUESTS: Final = 8
"""Requests of one segment."""

_MOST_OF_NAME: Final = 100
_ABOUT: Final = 900
"""Room for what stands before a text on its line: numbers, roles, a name of a tool however it is escaped."""

_TRIES: Final = 8


@dataclass(frozen=True, slots=True)
class Request:
    """The lines of one request, and the turns that they are of."""

    lines: tuple[str, ...]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Shown:
    """The requests of a segment, and in words what of it they leave out; None if they hold it whole."""

    requests: tuple[Request, ...]
    left_out: str | None


@dataclass(frozen=True, slots=True)
class _Line:
    """A text with what stands before it on its line; ``size`` is what it takes escaped."""

    turn: int
    about: Mapping[str, Any]
    text: str
    is_result: bool
    size: int

    def __str__(self) -> str:
        return escaped_json(JsonText.of({**self.about, "text": self.text}))


def requests_of(turns: Sequence[Turn], most_characters: int) -> Shown:
    """The requests that show these turns, each of at most so many characters of lines."""
    lines = [line for turn in turns for line in _lines(turn)]
    results = [place for place, line in enumerate(lines) if line.is_result]
    words = sum(line.size + _ABOUT for line in lines if not line.is_result)
    least = LEAST_RESULT_CHARACTERS * len(results)
    lines, cut_results = _cut(lines, results, max(most_characters - words - _ABOUT * len(results), least))
    room = most_characters * MOST_REQUESTS * 3 // 4 - sum(_ABOUT + (line.size if line.is_result else 0) for line in lines)
    others = [place for place, line in enumerate(lines) if not line.is_result]
    lines, cut_words = _cut(lines, others, max(room, LEAST_RESULT_CHARACTERS * len(others)))
    divided = [piece for line in lines for piece in _divided(line, most_characters - _ABOUT)]
    made = tuple(_packed(divided, most_characters))
    return Shown(made[:MOST_REQUESTS], _left_out(cut_results, cut_words, made[MOST_REQUESTS:]))


def _left_out(results: int, words: int, requests: Sequence[Request]) -> str | None:
    said = [
        *([f"the middle of {results} results of tools"] if results else []),
        *([f"the middle of {words} texts"] if words else []),
        *([f"turns {requests[0].first} to {requests[-1].last}, as far as they stand in no request before"] if requests else []),
    ]
    return f"it was not shown {', '.join(said)}" if said else None


def _lines(turn: Turn) -> Iterator[_Line]:
    """What a turn said, asked for and was answered: no reasoning, and no ids."""
    attached = [part.type for part in turn.parts if isinstance(part, ImagePart | DocumentPart)]
    if turn.text.strip() or attached:
        shows = {"attached": attached} if attached else {}
        yield _line(turn, {"turn": turn.number, "role": turn.role, **shows}, turn.text)
    for call in turn.calls:
        yield _line(turn, {"turn": turn.number, "role": turn.role, "calls": call.tool[:_MOST_OF_NAME]}, str(call.arguments))
    for found in turn.returns:
        if found.text.strip():
            tool = {} if found.tool is None else {"tool": found.tool[:_MOST_OF_NAME]}
            failed = {"error": True} if found.is_error else {}
            yield _line(turn, {"turn": turn.number, "role": "tool", **tool, **failed}, found.text, is_result=True)


def _line(turn: Turn, about: Mapping[str, Any], text: str, *, is_result: bool = False) -> _Line:
    return _Line(turn.number, about, text, is_result, len(escaped(text)))


def _cut(lines: Sequence[_Line], places: Sequence[int], room: int) -> tuple[list[_Line], int]:
    """The lines, of which those at some places take no more than ``room`` together; and how many of them were cut."""
    found = list(lines)
    most = _level([lines[place].size for place in places], room)
    longer = [place for place in places if lines[place].size > most]
    for place in longer:
        found[place] = _shortened(lines[place], most)
    return found, len(longer)


def _level(sizes: Sequence[int], room: int) -> int:
    """How long the longest may be so that all fit into ``room`` together, those that are shorter as they are."""
    left, waiting = room, sorted(sizes)
    while waiting and waiting[0] * len(waiting) <= left:
        left -= waiting.pop(0)
    return left // len(waiting) if waiting else max(sizes, default=0)


def _shortened(line: _Line, most: int) -> _Line:
    """Beginning and end of a text within so many characters, escaped."""
    characters = most
    text, size = line.text, line.size
    for _ in range(_TRIES):
        if size <= most:
            break
        text = _ends(line.text, characters)
        size = len(escaped(text))
        characters = characters * most // size * 7 // 8
    return replace(line, text=text, size=size)


def _ends(text: str, characters: int) -> str:
    if len(text) <= characters:
        return text
    room = max(0, characters - 40)
    head, tail = cut_before(text, room * 2 // 3), cut_after(text, len(text) - room // 3)
    return f"{text[:head]} [… {tail - head:,} characters left out …] {text[tail:]}"


def _divided(line: _Line, most: int) -> Iterator[_Line]:
    """The line, or where no request holds it, lines that hold its text one after the other."""
    if line.size <= most:
        yield line
        return
    text = line.text
    while text:
        length = _fitting(text, most)
        piece = text[:length]
        yield replace(line, about={**line.about, "part": True}, text=piece, size=len(escaped(piece)))
        text = text[length:]


def _fitting(text: str, most: int) -> int:
    """How many of the first characters of a text take no more than ``most`` escaped."""
    longest = text[:most]
    fits = bisect_right(range(len(longest) + 1), most, key=lambda length: len(escaped(longest[:length]))) - 1
    return max(1, cut_before(text, fits))


def _packed(lines: Sequence[_Line], most: int) -> Iterator[Request]:
    """Requests with as many lines as they hold, in order."""
    texts: list[str] = []
    turns: list[int] = []
    room = most
    for line in lines:
        text = str(line)
        if texts and len(text) + 1 > room:
            yield Request(tuple(texts), turns[0], turns[-1])
            texts, turns, room = [], [], most
        texts.append(text)
        turns.append(line.turn)
        room -= len(text) + 1
    if texts:
        yield Request(tuple(texts), turns[0], turns[-1])
