"""The cues and phrases of the languages of a policy, put together once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from projections.verdicts.languages import language_of
from projections.verdicts.languages.language import Courtesy, Cue

Words = tuple[str, ...]

_PLAIN: Final = str.maketrans("\u2019\u2018\u02bc", "'''")
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|[:;][)dp]|[^\s.,!;:\u2026()*\"\u2013\u2014-]")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What the rules know of several languages; ``phrases`` by their first word, longest first."""

    remember: tuple[Cue, ...]
    constraint: tuple[Cue, ...]
    decision: tuple[Cue, ...]
    correction: tuple[Cue, ...]
    refusal: tuple[Cue, ...]
    phrases: dict[str, tuple[tuple[Words, Courtesy], ...]]
    offers: tuple[tuple[re.Pattern[str], frozenset[str]], ...]
    proposals: tuple[re.Pattern[str], ...]
    commitments: tuple[re.Pattern[str], ...]
    options: tuple[re.Pattern[str], ...]
    tags: tuple[re.Pattern[str], ...]
    answers: frozenset[str]
    negations: frozenset[str]
    empty: frozenset[str]


def plain(text: str) -> str:
    """The text in lower case, with straight apostrophes: the form in which cues are written."""
    return text.lower().translate(_PLAIN) if not text.isascii() else text.lower()


def words_of(text: str) -> list[str]:
    """The words of a plain text, and every sign that is no usual punctuation."""
    return _WORD.findall(text)


@lru_cache(maxsize=32)
def lexicon_of(languages: tuple[str, ...]) -> Lexicon:
    """The lexicon of languages by their codes; raises ``UnknownLanguage``."""
    spoken = [language_of(code) for code in languages]
    phrases: dict[str, list[tuple[Words, Courtesy]]] = {}
    for language in spoken:
        for kind, listed in language.phrases.items():
            for phrase in listed.split(", "):
                words = tuple(words_of(phrase))
                if words:
                    phrases.setdefault(words[0], []).append((words, kind))
    return Lexicon(
        remember=tuple(language.remember for language in spoken),
        constraint=tuple(language.constraint for language in spoken),
        decision=tuple(language.decision for language in spoken),
        correction=tuple(language.correction for language in spoken),
        refusal=tuple(language.refusal for language in spoken),
        phrases={first: tuple(sorted(listed, key=lambda item: -len(item[0]))) for first, listed in phrases.items()},
        offers=tuple((language.offers, language.offer_words) for language in spoken),
        proposals=tuple(language.proposals for language in spoken),
        commitments=tuple(language.commitments for language in spoken),
        options=tuple(language.options for language in spoken),
        tags=tuple(language.tags for language in spoken),
        answers=frozenset().union(*(language.answers for language in spoken)),
        negations=frozenset().union(*(language.negations for language in spoken)),
        empty=frozenset().union(*(language.empty for language in spoken)),
    )


def offers_help(sentence: str, lexicon: Lexicon) -> bool:
    """Whether a plain sentence offers more help and says nothing else."""
    return any(
        pattern.search(sentence) is not None and known.issuperset(said)
        for pattern, known in lexicon.offers
        for said in (words_of(sentence.strip(" ?")),)
    )


def courtesies(words: list[str], lexicon: Lexicon) -> frozenset[Courtesy] | None:
    """The kinds of the phrases that words consist of; None if any word is no part of one. The longest phrase counts first."""
    kinds: set[Courtesy] = set()
    place = 0
    while place < len(words):
        for phrase, kind in lexicon.phrases.get(words[place], ()):
            if tuple(words[place : place + len(phrase)]) == phrase:
                kinds.add(kind)
                place += len(phrase)
                break
        else:
            return None
    return frozenset(kinds)
