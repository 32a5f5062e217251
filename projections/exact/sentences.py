"""Which sentences of a text tell most of what it says. Extractive: nothing is put into other words. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from projections.exact.characters import cut_after, cut_before
from projections.exact.strings import exact_strings

_BREAK: Final = re.compile(
    r"(?<=[.!?\u2026])(?<!\d\.)(?<!\b[A-Za-z]\.)[\"'\u201d\u2019)*_]{0,3}+\s++(?![a-z])|(?<=[\u3002\uff01\uff1f\u0964\u061f])|\n+"
)
"""Where a sentence ends; neither after a number as in a list nor after a letter as in "e.g."."""

_SPACE: Final = re.compile("[\\s\x00-\x20\x7f-\x9f\u2028\u2029]+")
_MOST_READ: Final = 20_000
"""So much of a text is read, half of it at the beginning and half at the end."""

_MOST_PATH: Final = 4_096
_MOST_SENTENCES: Final = 400
_MOST_EXACT: Final = 4
_MOST_WORDS: Final = 4
_SHORT: Final = 45
"""A sentence that is shorter and speaks of "that" says little by itself."""

_CUT: Final = "\u2026 "


class _Words(NamedTuple):
    """Words of which one stands in a sentence as a whole: ``stems`` tell at once of most sentences that none does."""

    stems: tuple[str, ...]
    pattern: re.Pattern[str]

    def stand_in(self, sentence: str, lower: str | None) -> bool:
        """Whether one does; ``lower`` is the sentence in lower case, if it is ASCII."""
        may = lower is None or any(stem in lower for stem in self.stems)
        return may and self.pattern.search(sentence) is not None


def _any(listed: str) -> _Words:
    """Words and phrases in lower case, parted by commas; ``*`` at the end of one stands for up to three letters more."""
    phrases = listed.split(", ")
    stems = tuple(phrase.rstrip("*") for phrase in phrases)
    written = (
        re.escape(stem) + (r"\w{0,3}" if phrase.endswith("*") else "") for stem, phrase in zip(stems, phrases, strict=True)
    )
    return _Words(stems, re.compile(rf"\b(?:{'|'.join(written)})\b", re.IGNORECASE))


_TELLING: Final = (
    (6, _any("do not, don't, never, must, only, not, no longer, instead, always, without, at most, at least")),
    (5, _any("decide, decided, we will, let's, go with, confirm, confirmed, approve, approved, agree, prefer, rather, choose")),
    (4, _any("has been, have been, i've, i have, successfully, found, fixed, because, cannot, can't, unable, failed")),
    (4, _any("please, need, want, would like, could you, can you, help, cancel, change, book, fix, add, use")),
    (5, _any("nicht, kein*, muss, nur, bitte, brauche, möchte, statt, nie")),
    (5, _any("nunca, debe, quiero, necesito, por favor, pas, jamais, veux, dois, s'il vous plaît")),
)
_SIGNS: Final = (
    (5, re.compile("[?\uff1f\u061f]")),
    (5, re.compile("不要|不能|必须|必須|请|請|需要|想要|取消|改成|只|别|ください|しないで|必要|하지|필요|주세요")),
)
"""What tells in a sentence: a constraint, a decision, a question, a request; in the languages whose words are listed."""

_CHAT: Final = re.compile(
    r"\W{0,9}(?:(?:hi|hello|hey|thanks?|thank you|ok|okay|sure|great|good (?:morning|day|evening)|yes|hallo|danke|hola|gracias|"
    r"bonjour|merci)\b[^.!?]{0,20}|\u4f60\u597d|\u8c22\u8c22|\u597d\u7684)[.!?\u3002\uff01]{0,3}",
    re.IGNORECASE,
)
_COURTESY: Final = _any(
    "feel free, anything else, let me know if, you're welcome, appreciate, further questions, further assistance, further help,"
    " more questions, more assistance, more help, other questions, other assistance, other help"
)
_VAGUE: Final = _any("that, this, it, those, these, them, with you")
_SAYS: Final = re.compile(r"[^\W\d_]{2}|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]|\d{2}")


def one_line(text: str) -> str:
    """The text with a single space for all white space and controls."""
    if text.isprintable() and "  " not in text:  # of white space and controls it holds single spaces alone
        return text.strip()
    return _SPACE.sub(" ", text).strip()


def short_line(text: str, most_characters: int) -> str:
    """The text on one line, cut with … where it is longer: at the end of a word if one is near, never inside a character."""
    line = one_line(text[: 8 * most_characters + 64])
    if len(line) <= most_characters:
        return line
    place = cut_before(line, max(0, most_characters - 1))
    space = line.rfind(" ", place * 3 // 4, place + 1)
    return f"{line[: space if space > 0 else place].rstrip()}\u2026" if most_characters > 0 else ""


def short_question(text: str, most_characters: int) -> str:
    """What was asked on one line; of a long path the end is kept, which says most, of all else the beginning."""
    line = one_line(text[: 8 * most_characters + 64]) if len(text) > _MOST_PATH else one_line(text)
    if len(line) <= most_characters or most_characters < 2 or " " in line or "/" not in line or "://" in line:
        return short_line(line, most_characters)
    return f"\u2026{line[cut_after(line, len(line) - most_characters + 1) :]}"


@dataclass(frozen=True, slots=True)
class Ranked:
    """The sentences of a text, and their places from the most telling one on; ``worth`` is how much each tells."""

    sentences: tuple[str, ...]
    worth: tuple[int, ...]
    places: tuple[int, ...]

    def within(self, most_characters: int) -> str:
        """The sentences that tell most, in their order, with … where others stood between them."""
        chosen: list[int] = []
        left = most_characters
        for place in self.places:
            if not chosen or (self.worth[place] > 0 and len(self.sentences[place]) + len(_CUT) <= left):
                chosen.append(place)
                left -= len(self.sentences[place]) + len(_CUT)
        return short_line(_joined(self.sentences, sorted(chosen)), most_characters)


def ranked(text: str) -> Ranked:
    """The sentences of a text, as far as they are read: of a long text the first and the last ones."""
    read = text if len(text) <= _MOST_READ else f"{text[: _MOST_READ // 2]}\n{text[-_MOST_READ // 2 :]}"
    sentences = [line for line in map(one_line, _BREAK.split(read)) if line]
    if len(sentences) > _MOST_SENTENCES:
        sentences = sentences[: _MOST_SENTENCES // 2] + sentences[-_MOST_SENTENCES // 2 :]
    worth = tuple(map(_worth, sentences))
    return Ranked(tuple(sentences), worth, tuple(sorted(range(len(worth)), key=lambda place: (-worth[place], place))))


def _worth(sentence: str) -> int:
    if _CHAT.fullmatch(sentence) or not _SAYS.search(sentence):
        return 0
    lower = sentence.lower() if sentence.isascii() else None
    if _COURTESY.stand_in(sentence, lower):
        return 1
    said = sum(worth for worth, words in _TELLING if words.stand_in(sentence, lower))
    said += sum(worth for worth, signs in _SIGNS if signs.search(sentence))
    if len(sentence) < _SHORT and _VAGUE.stand_in(sentence, lower):
        said //= 3
    return 1 + said + min(_MOST_EXACT, len(exact_strings(sentence))) + min(_MOST_WORDS, sentence.count(" ") // 4)


def _joined(sentences: Sequence[str], chosen: list[int]) -> str:
    pieces = [sentences[place] for place in chosen[:1]]
    for before, place in pairwise(chosen):
        pieces.append(sentences[place] if place == before + 1 else f"{_CUT}{sentences[place]}")
    return " ".join(pieces)
