"""Which sentences of a text tell most of what it says. Extractive: nothing is put into other words. Pure."""

from __future__ import annotations

import itertools
import re
from typing import Final

from projections.exact.characters import cut_before
from projections.exact_strings import exact_strings

_BREAK: Final = re.compile(r"(?<=[.!?\u2026])[\"'\u201d\u2019)]?\s+|(?<=[\u3002\uff01\uff1f])|\n+")
_SPACE: Final = re.compile("[\\s\x00-\x20\x7f-\x9f\u2028\u2029]+")
_MOST_READ: Final = 20_000
"""So much of a text is read, half of it at the beginning and half at the end."""

_TELLING: Final = (
    (
        6,
        re.compile(
            r"\b(?:do not|don't|never|must|only|not|no longer|instead|always|without|at most|at least|cannot|can't)\b",
            re.IGNORECASE,
        ),
    ),
    (
        5,
        re.compile(
            r"\b(?:decided?|we will|let's|go with|confirm(?:ed)?|approved?|agree|prefer|rather|choose|chose)\b", re.IGNORECASE
        ),
    ),
    (5, re.compile(r"[?\uff1f]")),
    (
        4,
        re.compile(
            r"\b(?:please|need|want|would like|could you|can you|help|cancel|change|book|fix|add|make|use|is|are)\b",
            re.IGNORECASE,
        ),
    ),
    (
        5,
        re.compile(
            r"\b(?:nicht|kein\w*|muss|nur|bitte|brauche|möchte|statt|nunca|no|debe|quiero|necesito|pas|jamais|veux|dois)\b",
            re.IGNORECASE,
        ),
    ),
    (5, re.compile(r"不要|不能|必须|必須|请|請|需要|想要|取消|改成|只|别|ください|しないで|必要|하지|필요|주세요")),
)
_CHAT: Final = re.compile(
    r"\W*(?:hi|hello|hey|thanks?|thank you|ok|okay|sure|great|good (?:morning|day|evening)|yes|hallo|danke|hola|gracias|"
    r"bonjour|merci|\u4f60\u597d|\u8c22\u8c22|\u597d\u7684)\b[^.!?]{0,20}[.!?]*",
    re.IGNORECASE,
)


def one_line(text: str) -> str:
    """The text with a single space for all white space and controls."""
    return _SPACE.sub(" ", text).strip()


def short_line(text: str, most_characters: int) -> str:
    """The text on one line, cut with … where it is longer: at the end of a word if one is near, never inside a character."""
    line = one_line(text[: 8 * most_characters + 64])
    if len(line) <= most_characters:
        return line
    place = cut_before(line, max(0, most_characters - 1))
    space = line.rfind(" ", place * 3 // 4, place + 1)
    return f"{line[: space if space > 0 else place].rstrip()}\u2026" if most_characters > 0 else ""


def best_sentences(text: str, most_characters: int) -> str:
    """The sentences that tell most, in their order, with … where others stood between them."""
    read = text if len(text) <= _MOST_READ else f"{text[: _MOST_READ // 2]}\n{text[-_MOST_READ // 2 :]}"
    sentences = [line for line in map(one_line, _BREAK.split(read)) if line]
    if not sentences:
        return ""
    ranked = sorted(range(len(sentences)), key=lambda place: (-_worth(sentences[place]), place))
    chosen = [ranked[0]]
    left = most_characters - len(sentences[ranked[0]])
    for place in ranked[1:]:
        if 0 < len(sentences[place]) + 3 <= left and _worth(sentences[place]) > 0:
            chosen.append(place)
            left -= len(sentences[place]) + 3
    return short_line(_joined(sentences, sorted(chosen)), most_characters)


def _worth(sentence: str) -> int:
    if _CHAT.fullmatch(sentence):
        return 0
    said = sum(worth for worth, pattern in _TELLING if pattern.search(sentence))
    return 1 + said + min(8, 2 * len(exact_strings(sentence)))


def _joined(sentences: list[str], chosen: list[int]) -> str:
    pieces = [sentences[chosen[0]]]
    for before, place in itertools.pairwise(chosen):
        pieces.append(sentences[place] if place == before + 1 else f"\u2026 {sentences[place]}")
    return " ".join(pieces)
