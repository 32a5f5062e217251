"""Finds the exact strings of a text, each with its place. Pure, and linear in the text's length."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from projections.exact import patterns as p
from projections.lazily import lazily

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
    """The first place of a string in a text, how often it stands there, and whether it may be an exact string elsewhere."""

    place: int
    times: int
    may_be_exact: bool = False


_Judged = tuple[int, str, bool, bool]
"""Where in a token an exact string begins, the string, whether it identifies something, whether it may be a loud word."""


_Item = tuple[int, int, str, bool, bool]
"""The fields of a ``Found``: most of them are hidden in the end, and a plain tuple is made in less time."""


def found_in(text: str) -> list[Found]:
    """The exact strings of a text at their first places, in order; what a longer one hides is left out."""
    return [Found(*item) for item in _visible([*_tokens(text), *_phrases(text)])]


class Quoting:
    """A text of which no more is found than what is asked for: for many texts it is enough to know that nothing is shared."""

    def __init__(self, text: str) -> None:
        self.text = text

    def perhaps_shared(self, other: str) -> Iterator[str]:
        """What may hold spaces and stands in another text, too, found in little time: all of it, and some that is not exact.

        Of what holds escaped quotes it is what precedes them.
        """
        for string in [piece for piece in self._pieces if piece in other]:
            if _fits(string, _MOST_QUOTED) or string.endswith("\\"):
                yield string
        yield from (string for string in self._quoted_otherwise if string in other)

    def look_through(self) -> None:
        """Find now what is asked for first, so that it is at hand later."""
        assert self._pieces is not None
        assert self._quoted_otherwise is not None

    def shared(self, other: str) -> Iterator[str]:
        """What may hold spaces, hidden or not, and stands in another text, too."""
        return (item[2] for item in self._phrases if item[2] in other)

    def strings(self) -> tuple[dict[str, None], set[str]]:
        """The exact strings of the text in the order of their first places, and which of them ``uses_in`` looks for, too."""
        tokens = list(_tokens(self.text))
        visible = dict.fromkeys(item[2] for item in _visible([*tokens, *self._phrases]))
        return visible, {item[2] for item in tokens}

    @lazily
    def _pieces(self) -> set[str]:
        return set(map(str.strip, self.text.split('"')))

    @lazily
    def _quoted_otherwise(self) -> list[str]:
        return [item[2] for item in _phrases_without_double_quotes(self.text)]

    @lazily
    def _phrases(self) -> list[_Item]:
        return list(_phrases(self.text))


def uses_in(text: str) -> dict[str, Uses]:
    """The exact strings of a text that are written without a space, and its numbers with what they count; each as a whole."""
    counted: dict[str, int] = {}
    first: dict[str, tuple[int, tuple[str, bool]]] = {}
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
    for raw, (place, (string, may_be_exact)) in first.items():
        before = uses.get(string)
        if before is None:
            uses[string] = Uses(place, counted[raw], may_be_exact)
        else:
            uses[string] = Uses(before.place, before.times + counted[raw], before.may_be_exact or may_be_exact)
    return uses


def _string_of(text: str, match: re.Match[str], kind: int) -> tuple[str, bool]:
    """What is written there, and whether it may be an exact string elsewhere, as "5m" after a space."""
    if kind in _ADDRESSES:
        return _address(text, match, kind)[2], True
    if kind != _TOKEN:
        return match[kind], True
    judged = _judged(match[kind])
    return (match[kind], p.AMOUNTS.search(match[kind]) is not None) if judged is None else (judged[1], True)


def _tokens(text: str) -> Iterator[_Item]:
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
            elif len((found := _address(text, match, kind))[2]) <= MOST_CHARACTERS:
                yield found
    for raw, start in places.items():
        judged = _judged(raw)
        if judged is not None:
            offset, string, identifies, may_be_loud = judged
            if not (may_be_loud and _is_loud(text, start)):
                begins = start + offset
                yield begins, -begins - len(string), string, identifies, True


def _at(start: int, string: str, *, identifies: bool = False) -> _Item:
    return start, -start - len(string), string, identifies, True


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
        return begins, string, kind.lastgroup == "identifying", False
    if p.LOCATOR.fullmatch(string) and string not in p.LOUD_WORDS:
        return begins, string, True, True
    return None


def _is_loud(text: str, start: int) -> bool:
    """Whether six capitals stand among others, as where somebody shouts."""
    end = start + 6
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    return p.LOUD_BEFORE.search(before) is not None or p.LOUD_AFTER.match(after) is not None


def _address(text: str, match: re.Match[str], kind: int) -> _Item:
    """An address with what stands before its slashes, and without the punctuation of the sentence that it stands in."""
    slashes, string = match.start(kind), match[kind].rstrip(_PUNCTUATION)
    while string.endswith(")") and string.count("(") < string.count(")"):
        string = string[:-1].rstrip(_PUNCTUATION)
    before = p.SCHEME.search(text[max(0, slashes - _AROUND) : slashes])
    start = slashes if before is None or string.startswith("www") else slashes - len(before.group())
    return _at(start, text[start:slashes] + string, identifies=True)


def _phrases(text: str) -> Iterator[_Item]:
    """What may hold spaces: days, commands, code and quotes."""
    for match in p.DOUBLE_QUOTES.finditer(text) if '"' in text else ():
        inner, closed, names = match.groups()
        if closed and not names and _fits(inner, _MOST_QUOTED):
            yield _inner(match)
    yield from _phrases_without_double_quotes(text)


def _phrases_without_double_quotes(text: str) -> Iterator[_Item]:
    if p.PERHAPS_DAY.search(text) is not None:
        yield from (_at(match.start(), match.group()) for match in p.MONTH_DATE.finditer(text))
    yield from (_inner(match) for match in p.COMMANDS.finditer(text) if len(match[1].rstrip()) <= MOST_CHARACTERS)
    if "`" in text:
        yield from (_inner(match) for match in p.BACKTICKS.finditer(text) if match[2] and _fits(match[1], MOST_CHARACTERS))
    yield from (_inner(match) for match in p.SINGLE_QUOTES.finditer(text) if _fits(match[1], _MOST_QUOTED))
    if not text.isascii():
        yield from (_inner(match) for match in p.OTHER_QUOTES.finditer(text) if _fits(match[1], _MOST_QUOTED))
        yield from _foreign_paths(text)


def _fits(inner: str, most: int) -> bool:
    return len(inner) <= most and (inner[:1].isalnum() or any(map(str.isalnum, inner)))


def _inner(match: re.Match[str]) -> _Item:
    """What is quoted, without the white space around it; what else is found in it is not hidden."""
    said, start = match[1], match.start(1)
    string = said.strip()
    if len(string) < len(said):
        start += len(said) - len(said.lstrip())
    return start, -start - len(string), string, False, False


def _foreign_paths(text: str) -> Iterator[_Item]:
    for match in p.FOREIGN_PATH.finditer(text):
        ending = None if match.group().isascii() else p.FILE_ENDING.match(match.group())
        if ending is not None:
            yield _at(match.start(), ending.group(), identifies=True)


def _visible(items: list[_Item]) -> Iterator[_Item]:
    hidden_to = 0
    for item in sorted(items):
        if item[1] < hidden_to:
            yield item
            if item[4]:
                hidden_to = item[1]
