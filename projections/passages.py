"""What was said, cut into words that keep their places, so that a value is looked for in whole ones. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

_SPACELESS: Final = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WITHOUT_SPACES: Final = re.compile(f"[{_SPACELESS}]")
"""Scripts that do not put spaces between words: Thai, Lao, Khmer, Japanese, Chinese."""

_MARKS: Final = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
"""Marks that belong to the letter before them, and the scripts of India, where many letters are such marks."""

_MONEY_SIGNS: Final = "$\u00a2-\u00a5\u058f\u060b\u09f2\u09f3\u20a0-\u20cf\ufdfc\uff04\uffe0\uffe1\uffe5\uffe6"
_BETWEEN: Final = (
    r"\"{}\[\]()|=;`*\u00ab\u00bb\u201c-\u201f"
    r"\u3001\u3002\u3008-\u3011\u3014-\u301b\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f"
)
_SURROUNDING: Final = ".!?'\u2018\u2019\u2026\u00a1\u00bf"
_OPENING: Final = "</?[A-Za-z]"
_RUN: Final = rf"[{_MONEY_SIGNS}]|(?:(?<=\d)[,:](?=\d)|(?!{_OPENING})[^\s,:{_BETWEEN}{_SPACELESS}{_MONEY_SIGNS}])+"
_TAG: Final = rf"(?P<tag>{_OPENING}[^<>]{{0,200}}>)"
_PIECE: Final = re.compile(rf"{_TAG}|[{_SPACELESS}]+|{_RUN}")
_COUNTED: Final = r"(?<![\w.,:+\-\u2212\u2013])\d[\d.,']*(?=-[^\W\d_]+(?:-[^\W\d_]+)*(?![\w-]))"
_PIECE_OR_COUNT: Final = re.compile(rf"{_TAG}|[{_SPACELESS}]+|{_COUNTED}|{_RUN}")
"""The same, and a number before letters ("4-star") is a word of its own."""

_WORD: Final = re.compile(
    rf"[{_SPACELESS}]+|(?:(?<![\w.])\.(?=\d)|(?<=\d)[.,:/'\u2019\u2013](?=\d)|(?![{_SPACELESS}])[\w{_MARKS}\-@+#%\u2212])+"
)
_SENTENCE_END: Final = re.compile(r"[!?\u3002\uff01\uff1f\u2026]|\n\s*\n")
_CLAUSE_END: Final = re.compile(rf"[.,:!?\n\u2013\u2014\u2026\u00a1\u00bf{_BETWEEN}]|\s-\s")

_AROUND: Final = 400
"""So many characters around a quote are looked at: more than a few words."""

_MOST_AROUND: Final = 4
"""So many words to each side may make another value of one."""

_MOST_PLACES: Final = 1_000
"""A quote that occurs more often than this proves no more."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A word with its place; ``whole`` is the place where the full stop ends that follows it, if one does."""

    start: int
    end: int
    whole: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A quote at one of its places: the text around it, where that begins in all of the text, and the quote's ends in it."""

    text: str
    offset: int
    start: int
    end: int

    def holds(self, start: int, end: int) -> bool:
        """Whether a place lies in the quote."""
        return self.start <= start and end <= self.end

    def pieces(self, *, counts: bool = False, characters: bool = False) -> list[Piece]:
        """The runs without white space, without the punctuation around them; with ``counts`` "4-star" are two.

        A quote may begin or end anywhere in a script without spaces; with ``characters`` each one outside of it is a word.
        """
        found: list[Piece] = []
        for match in (_PIECE_OR_COUNT if counts else _PIECE).finditer(self.text):
            if match["tag"] is None:
                found += self._trimmed(match.start(), match.end(), characters=characters)
        return found

    def _trimmed(self, start: int, end: int, *, characters: bool) -> Iterator[Piece]:
        if WITHOUT_SPACES.match(self.text, start):
            outside = (cut for cut in range(start + 1, end) if characters and not self.start < cut < self.end)
            cuts = sorted({start, *(cut for cut in (self.start, self.end) if start < cut < end), *outside, end})
            yield from (Piece(first, last, last) for first, last in pairwise(cuts))
            return
        run = self.text[start:end]
        last = start + len(run.rstrip(_SURROUNDING))
        while start < last and self.text[start] in _SURROUNDING and not self._is_fraction(start):
            start += 1
        if start < last:
            yield Piece(start, last, last + 1 if self.text[last:end].startswith(".") else last)

    def _is_fraction(self, place: int) -> bool:
        """Whether a point begins a number, as in .5."""
        return self.text[place] == "." and self.text[place + 1 : place + 2].isdecimal()

    def is_dash(self, piece: Piece) -> bool:
        """Whether a word is a dash between others, as in "no - 5", and no sign of what follows."""
        after = self.text[piece.end : piece.end + 1]
        return self.text[piece.start : piece.end] in {"-", "\u2212", "\u2013", "\u2014"} and after.isspace()

    def ends_sentence(self, piece: Piece, after: Piece) -> bool:
        """Whether a sentence ends between two words that follow each other; "Rs. 500" is one."""
        gap = self.text[piece.end : after.start]
        begins = self.text[after.start]
        return _SENTENCE_END.search(gap) is not None or ("." in gap and (begins.isupper() or begins >= "\u3040"))

    def clauses(self) -> Iterator[tuple[int, int]]:
        """What stands between punctuation, without the white space around it."""
        start = 0
        for end, after in [*(match.span() for match in _CLAUSE_END.finditer(self.text)), (len(self.text), len(self.text))]:
            said = self.text[start:end]
            if said.strip():
                yield start + len(said) - len(said.lstrip()), start + len(said.rstrip())
            start = after

    def words(self) -> list[tuple[int, int]]:
        """The words as texts are compared: what parts the digits of a number, a sign and a hyphen belong to them."""
        return [match.span() for match in _WORD.finditer(self.text)]

    def cuts_word(self, place: int) -> bool:
        """Whether a place is inside a word of a script with spaces."""
        around = self.text[max(0, place - 1) : place + 1]
        if len(around) < 2 or WITHOUT_SPACES.search(around) is not None:
            return False
        return any(start < place < end for start, end in self.words())


@dataclass(frozen=True, slots=True)
class Run:
    """Words that follow on each other, from the ``first`` to the ``last`` of the pieces of a passage, both inclusive."""

    passage: Passage
    pieces: list[Piece]
    first: int
    last: int

    @property
    def text(self) -> str:
        """What was said, with single spaces."""
        return " ".join(self.passage.text[self.pieces[self.first].start : self.pieces[self.last].end].split())

    def spellings(self) -> tuple[str, ...]:
        """What was said; also with the full stop of "9:15 p.m."."""
        last = self.pieces[self.last]
        return (self.text,) if last.whole == last.end else (self.text, f"{self.text}.")

    def longer(self) -> Iterator[Run]:
        """The runs of the sentence that have a few more words than this one."""
        ends = list(self._reach(self.last, 1))
        for first in self._reach(self.first, -1):
            if not self.passage.is_dash(self.pieces[first]):
                yield from (Run(self.passage, self.pieces, first, last) for last in ends)

    def before(self) -> list[str]:
        """A few words of the sentence before this run, in order."""
        return [self._word(place) for place in self._reach(self.first, -1)][:0:-1]

    def after(self) -> list[str]:
        """A few words of the sentence after this run."""
        return [self._word(place) for place in self._reach(self.last, 1)][1:]

    def _word(self, place: int) -> str:
        return self.passage.text[self.pieces[place].start : self.pieces[place].end]

    def _reach(self, place: int, step: int) -> Iterator[int]:
        """A word and a few more in a direction, as far as its sentence goes."""
        yield place
        for _ in range(_MOST_AROUND):
            if not 0 <= place + step < len(self.pieces):
                return
            before, after = sorted((place, place + step))
            if self.passage.ends_sentence(self.pieces[before], self.pieces[after]):
                return
            place += step
            yield place


def words_of(text: str) -> list[str]:
    """The words of a text, to be compared."""
    return [match.group() for match in _WORD.finditer(text)]


def passages(text: str, quote: str) -> Iterator[Passage]:
    """Every place of a quote in a text."""
    start = text.find(quote)
    for _ in range(_MOST_PLACES):
        if start < 0 or not quote:
            return
        end = start + len(quote)
        first = max(0, start - _AROUND)
        yield Passage(text[first : end + _AROUND], first, start - first, end - first)
        start = text.find(quote, start + 1)
