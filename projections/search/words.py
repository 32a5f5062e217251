"""Words as they are searched for: without case and accents, in any script, and what stands beside what. Pure.

Where words have spaces between them, a word is a run of letters, digits and their marks. In Chinese, Japanese, Korean, Thai and
their neighbours each character is one. Words with a single sign between them ("ORD-88213", "src/app.py"), and characters side
by side, are a pair: so identifiers and words of several characters are found as they stand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from unicodedata import normalize

# Ranges are listed and not looked up by category: categories change with every Unicode release.
_SPACELESS: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u1780-\u17d3\u3005-\u3007\u3041-\u309a"
    "\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c"
    "\uac00-\ud7a3\ud7b0-\ud7fb\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af"
)
_JAMO: Final = "\u1100-\u11ff"
_VOICED: Final = "\u3099\u309a\uff9e\uff9f"
_UNSEEN: Final = "\u00ad\u200c\u200d\u2060\ufe00-\ufe0f"
"""Inside of a word: soft hyphens, joiners and what chooses a form."""

_ACCENTS: Final = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
_MARKS: Final = (
    f"{_ACCENTS}{_UNSEEN}\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u0900-\u0963"
    "\u0966-\u0dff\u0f71-\u0f84\u0f90-\u0fbc\u135d-\u135f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ua8e0-\ua8f1\ufe20-\ufe2f"
)
_LETTER: Final = rf"[^\W_{_SPACELESS}{_JAMO}]"
_CHARACTER: Final = rf"[\u1100-\u115f][\u1160-\u11a7]?[\u11a8-\u11ff]?|[{_SPACELESS}{_JAMO}][{_VOICED}]?"
# Half a character (a lone surrogate) is no sign: a store could not take the term.
_ANY: Final = re.compile(
    rf"(?P<character>{_CHARACTER})(?=(?P<beside>{_CHARACTER})?)"
    rf"|(?P<word>{_LETTER}+(?:[{_MARKS}]+{_LETTER}*)*)(?:(?P<sign>[^\w\s\ud800-\udfff]|_)(?={_LETTER}))?"
)
_ASCII: Final = re.compile(r"(?P<word>[a-z0-9]+)(?:(?P<sign>[^a-z0-9\s])(?=[a-z0-9]))?")
_ASCII_WORD: Final = re.compile("[a-z0-9]+")
# Possessive, and only from where a word begins: a word of a million letters must not be tried from each of them.
_ASCII_RUN: Final = re.compile(r"(?<![a-z0-9])[a-z0-9]++(?:[^a-z0-9\s][a-z0-9]++)++")
_DROPPED: Final = re.compile(f"[{_ACCENTS}{_UNSEEN}]")
_PLAIN: Final = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "ŧ": "t"})
_SIGNS: Final = str.maketrans(
    {**dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d", "-"), **dict.fromkeys("\u2018\u2019\u02bc\uff07", "'")}
)

MOST_CHARACTERS: Final = 64
"""Of a word that the index tells apart; what is longer is told apart when it is read."""

_ALONE: Final = "1"
_PAIR: Final = "2"


@dataclass(frozen=True, slots=True)
class Word:
    """A word in its folded form, and its place in the text. ``sign`` stands alone between it and the next word, if one does.

    ``is_character``: of a script without spaces; the next one is ``beside`` it if nothing stands between.
    """

    text: str
    start: int
    end: int
    sign: str = ""
    is_character: bool = False
    beside: bool = False


def folded(word: str) -> str:
    """A word without case, accents, and differences of width."""
    if word.isascii():
        return word.lower()
    bare = _DROPPED.sub("", normalize("NFKD", word.casefold()))
    return normalize("NFKC", bare).casefold().translate(_PLAIN)


def words(text: str) -> list[Word]:
    """The words of a text, in order."""
    return list(each_word(text))


def each_word(text: str) -> Iterator[Word]:
    """The words of a text, one after another: so a long text need not be gone through to its end."""
    if text.isascii():
        for match in _ASCII.finditer(text.lower()):
            yield Word(match["word"], match.start("word"), match.end("word"), match["sign"] or "")
        return
    for match in _ANY.finditer(text):
        if match["character"] is not None:
            beside = match["beside"] is not None
            yield Word(folded(match["character"]), match.start(), match.end(), is_character=True, beside=beside)
        else:
            yield Word(folded(match["word"]), match.start("word"), match.end("word"), _sign(match["sign"]))


def alone(word: str) -> str:
    """The term of a folded word."""
    return _ALONE + word[:MOST_CHARACTERS]


def pair(first: str, sign: str, second: str) -> str:
    """The term of two folded words with a sign between them, or of two characters side by side."""
    return f"{_PAIR}{first[:MOST_CHARACTERS]}{sign}{second[:MOST_CHARACTERS]}"


def terms(text: str) -> tuple[Counter[str], int]:
    """What a text is found by, with how often each stands in it, and the number of its words."""
    if text.isascii():
        return _ascii_terms(text.lower())
    listed = words(text)
    counts = _alone(word.text for word in listed)
    counts.update(
        pair(word.text, word.sign, listed[place + 1].text) for place, word in enumerate(listed) if word.sign or word.beside
    )
    return counts, len(listed)


def _ascii_terms(text: str) -> tuple[Counter[str], int]:
    """The same of a text in lower-case ASCII, without an object for each of its words."""
    listed = _ASCII_WORD.findall(text)
    counts = _alone(listed)
    for run, often in Counter(_ASCII_RUN.findall(text)).items():
        joined = _ASCII.findall(run)
        for (first, sign), (second, _) in pairwise(joined):
            counts[pair(first, sign, second)] += often
    return counts, len(listed)


def _alone(listed: Iterable[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for word, often in Counter(listed).items():
        counts[alone(word)] += often
    return counts


def _sign(sign: str | None) -> str:
    return "" if sign is None else normalize("NFKC", sign.translate(_SIGNS))
