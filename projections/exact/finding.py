"""Finds the exact strings of a text, each with its place. Pure, and linear in the text's length."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from projections.exact import patterns as p

MOST_CHARACTERS: Final = 200
"""What is longer is no exact string: code, encoded bytes, a quoted passage."""

_MOST_QUOTED: Final = 80
_AROUND: Final = 24
_PUNCTUATION: Final = ".,:;!?*_"
_ENDING: Final = ".:-@$~"
_TOKEN: Final = p.TOKEN.groupindex["token"]
_NUMBER: Final = p.TOKEN.groupindex["number"]
_ADDRESSES: Final = {p.TOKEN.groupindex["url"], p.TOKEN.groupindex["drive"]}


class Found(NamedTuple):
    """An exact string with its place; ``less_end`` is the place of its end below zero, so that the longer ones sort first.

    ``whole`` hides what was found inside of it.
    """

    start: int
    less_end: int
    string: str
    identifies: bool
    whole: bool


class Uses(NamedTuple):
    """The first place of a string in a text, and how often it stands there."""

    place: int
    times: int


class _Judged(NamedTuple):
    """An exact string in a token, and where in it that begins; ``may_be_loud`` where capitals around it make a word of it."""

    offset: int
    string: str
    identifies: bool
    may_be_loud: bool


def found_in(text: str) -> list[Found]:
    """The exact strings of a text at their first places, in order; what a longer one hides is left out."""
    return list(_visible(sorted([*_tokens(text), *_phrases(text)])))


def uses_in(text: str) -> dict[str, Uses]:
    """The exact strings of a text that are written without a space, and its numbers with what they count; each as a whole."""
    counted: dict[str, int] = {}
    first: dict[str, tuple[int, str]] = {}
    for match in p.TOKEN.finditer(text):
        kind = match.lastindex
        if kind is None or len(raw := match[kind]) > MOST_CHARACTERS:
            continue
        if raw in counted:
            counted[raw] += 1
        else:
            counted[raw] = 1
            first[raw] = (match.start(kind), _string_of(text, match, kind))
    uses: dict[str, Uses] = {}
    for raw, (place, string) in first.items():
        before = uses.get(string, Uses(place, 0))
        uses[string] = Uses(before.place, before.times + counted[raw])
    return uses


def _string_of(text: str, match: re.Match[str], kind: int) -> str:
    if kind in _ADDRESSES:
        return _address(text, match, kind).string
    judged = _judged(match[kind]) if kind == _TOKEN else None
    return match[kind] if judged is None else judged.string


def _tokens(text: str) -> Iterator[Found]:
    """What is written without a space, and numbers with what they count."""
    places: dict[str, int] = {}
    for match in p.TOKEN.finditer(text):
        kind = match.lastindex
        if kind == _TOKEN:
            raw = match[_TOKEN]
            if raw not in places:
                places[raw] = match.start(_TOKEN)
        elif kind is not None and len(match[kind]) <= MOST_CHARACTERS:
            if kind not in _ADDRESSES:
                yield _at(match.start(kind), match[kind], identifies=kind == _NUMBER)
            elif len((found := _address(text, match, kind)).string) <= MOST_CHARACTERS:
                yield found
    for raw, start in places.items():
        judged = _judged(raw)
        if judged is not None and not (judged.may_be_loud and _is_loud(text, start)):
            yield _at(start + judged.offset, judged.string, identifies=judged.identifies)


def _at(start: int, string: str, *, identifies: bool = False, whole: bool = True) -> Found:
    return Found(start, -start - len(string), string, identifies, whole)


def _judged(raw: str) -> _Judged | None:
    """What of a token is exact, if anything is."""
    if len(raw) > MOST_CHARACTERS:
        return None
    string = raw.rstrip(_ENDING)
    begins = len(string) - len(string.lstrip(".")) if string.startswith("..") and not string.startswith("../") else 0
    if p.LEAD.match(string, begins) is not None:
        begins += 1
    string = string[begins:]
    kind = p.KIND.fullmatch(string)
    if kind is not None:
        return _Judged(begins, string, kind.lastgroup == "identifying", may_be_loud=False)
    if p.LOCATOR.fullmatch(string) and string not in p.LOUD_WORDS:
        return _Judged(begins, string, identifies=True, may_be_loud=True)
    return None


def _is_loud(text: str, start: int) -> bool:
    """Whether six capitals stand among others, as where somebody shouts."""
    end = start + 6
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    return p.LOUD_BEFORE.search(before) is not None or p.LOUD_AFTER.match(after) is not None


def _address(text: str, match: re.Match[str], kind: int) -> Found:
    """An address with what stands before its slashes, and without the punctuation of the sentence that it stands in."""
    slashes, string = match.start(kind), match[kind].rstrip(_PUNCTUATION)
    while string.endswith(")") and string.count("(") < string.count(")"):
        string = string[:-1].rstrip(_PUNCTUATION)
    before = p.SCHEME.search(text[max(0, slashes - _AROUND) : slashes])
    start = slashes if before is None or string.startswith("www") else slashes - len(before.group())
    return _at(start, text[start:slashes] + string, identifies=True)


def _phrases(text: str) -> Iterator[Found]:
    """What may hold spaces: days, commands, code and quotes."""
    yield from (_found(match, 0, whole=True) for match in p.MONTH_DATE.finditer(text))
    yield from (_found(match, 1) for match in p.COMMANDS.finditer(text) if len(match[1].rstrip()) <= MOST_CHARACTERS)
    yield from (_found(match, 1) for match in p.BACKTICKS.finditer(text) if match[2] and _fits(match[1], MOST_CHARACTERS))
    for match in p.DOUBLE_QUOTES.finditer(text):
        if match[2] and not match[3] and _fits(match[1], _MOST_QUOTED):
            yield _found(match, 1)
    yield from (_found(match, 1) for match in p.SINGLE_QUOTES.finditer(text) if _fits(match[1], _MOST_QUOTED))
    if not text.isascii():
        yield from (_found(match, 1) for match in p.OTHER_QUOTES.finditer(text) if _fits(match[1], _MOST_QUOTED))
        yield from _foreign_paths(text)


def _fits(inner: str, most: int) -> bool:
    return len(inner) <= most and any(map(str.isalnum, inner))


def _found(match: re.Match[str], group: int, *, whole: bool = False) -> Found:
    said = match[group]
    return _at(match.start(group) + len(said) - len(said.lstrip()), said.strip(), whole=whole)


def _foreign_paths(text: str) -> Iterator[Found]:
    for match in p.FOREIGN_PATH.finditer(text):
        ending = None if match.group().isascii() else p.FILE_ENDING.match(match.group())
        if ending is not None:
            yield _at(match.start(), ending.group(), identifies=True)


def _visible(found: list[Found]) -> Iterator[Found]:
    hidden_to = 0
    for item in found:
        if item.less_end < hidden_to:
            yield item
            if item.whole:
                hidden_to = item.less_end
