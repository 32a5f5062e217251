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


class Found(NamedTuple):
    """An exact string with its place; ``whole`` hides what was found inside of it."""

    start: int
    end: int
    string: str
    identifies: bool
    whole: bool


def found_in(text: str) -> list[Found]:
    """Every exact string of a text wherever it stands, in order; what a longer one hides is left out."""
    found = [*tokens_in(text), *_phrases(text)]
    found.sort(key=lambda item: (item.start, -item.end))
    return list(_visible(found))


def tokens_in(text: str) -> Iterator[Found]:
    """What is written without a space, and numbers with what they count."""
    known: dict[str, tuple[int, str, bool] | None] = {}
    for match in p.TOKEN.finditer(text):
        kind = match.lastgroup
        if kind is None:
            continue
        start, raw = match.start(), match.group()
        if kind == "token":
            if raw not in known:
                known[raw] = _judged(raw)
            judged = known[raw]
            if judged is not None:
                offset, string, identifies = judged
                start += offset
                if not p.LOCATOR.fullmatch(string) or not _is_loud(text, start):
                    yield Found(start, start + len(string), string, identifies, whole=True)
        elif len(raw) <= MOST_CHARACTERS:
            string = _address(raw) if kind in {"url", "drive"} else raw
            yield Found(start, start + len(string), string, kind in {"url", "drive"}, whole=True)


def _judged(raw: str) -> tuple[int, str, bool] | None:
    """Where in a token its exact string begins, the string, and whether it identifies something; None if it is none."""
    if len(raw) > MOST_CHARACTERS:
        return None
    string = raw.rstrip(".:-@$~")
    begins = len(string) - len(string.lstrip("~.@") if string[:3] == "..." else string)
    string = string[begins:]
    if string[:1] == "@" and string[1:2] in {".", "/", "~"}:
        begins, string = begins + 1, string[1:]
    kind = p.KIND.fullmatch(string)
    if kind is not None:
        return begins, string, kind.lastgroup == "identifying"
    return (begins, string, True) if p.LOCATOR.fullmatch(string) and string not in p.LOUD_WORDS else None


def _is_loud(text: str, start: int) -> bool:
    """Whether six capitals stand among others, as where somebody shouts."""
    end = start + 6
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    return p.LOUD_BEFORE.search(before) is not None or p.LOUD_AFTER.match(after) is not None


def _address(raw: str) -> str:
    """An address without the punctuation of the sentence that it stands in."""
    string = raw.rstrip(".,:;!?*_")
    while string.endswith(")") and string.count("(") < string.count(")"):
        string = string[:-1].rstrip(".,:;!?*_")
    return string


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
    string = said.strip()
    start = match.start(group) + len(said) - len(said.lstrip())
    return Found(start, start + len(string), string, identifies=False, whole=whole)


def _foreign_paths(text: str) -> Iterator[Found]:
    for match in p.FOREIGN_PATH.finditer(text):
        ending = None if match.group().isascii() else p.FILE_ENDING.match(match.group())
        if ending is not None:
            yield Found(match.start(), match.start() + ending.end(), ending.group(), identifies=True, whole=True)


def _visible(found: list[Found]) -> Iterator[Found]:
    hidden_to = 0
    for item in found:
        if item.end > hidden_to:
            yield item
            if item.whole:
                hidden_to = item.end
