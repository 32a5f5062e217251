"""Whether a text asks to have something forgotten: the rules of ``forget_words``, applied sentence by sentence."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ledger.forget_words import LANGUAGES
from ledger.forget_words.rules import Rule

_SENTENCE_END: Final = re.compile(r"[.!?\u2026]+(?=[\s\"')]|$)|[\u3002\uff01\uff1f\n]+")
_CLAUSE_END: Final = re.compile(r"[,:;—–(]")
_SPACES: Final = re.compile(r"[^\S\n]+")
_PLAIN: Final = str.maketrans("\u2019\u2018\u02bc`\uff0c\uff1b\uff1a\u3001", "'" * 4 + ",;:,")
_SENTENCE_CHARACTERS: Final = 600

LOOKED_AT_CHARACTERS: Final = 10_000
"""How much of a text is looked at, at its beginning and at its end: nobody asks in the middle of a pasted document."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """The rule by which a text asks to have something forgotten, and the language of that rule."""

    rule: str
    language: str


def wish_in(text: str) -> Recognised | None:
    """The first wish in a text to have something forgotten, if there is one."""
    seen = _lower(text)
    spoken = [language for language in LANGUAGES if any(stem in seen for stem in language.stems)]
    sentences = list(_sentences(seen)) if spoken else []
    for language in spoken:
        for sentence in sentences:
            if any(stem in sentence for stem in language.stems):
                for rule in language.rules:
                    if _asks(sentence, rule):
                        return Recognised(rule.name, language.name)
    return None


def _lower(text: str) -> str:
    most = LOOKED_AT_CHARACTERS
    part = text if len(text) <= 2 * most else f"{text[:most]}\n{text[-most:]}"
    return part.lower() if part.isascii() else unicodedata.normalize("NFC", part).lower()


def _sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(_SPACES.sub(" ", text.translate(_PLAIN))):
        for start in range(0, len(sentence), _SENTENCE_CHARACTERS):
            yield sentence[start : start + _SENTENCE_CHARACTERS].strip()


def _asks(sentence: str, rule: Rule) -> bool:
    return any(_counts(sentence, rule, match) for match in rule.pattern.finditer(sentence))


def _counts(sentence: str, rule: Rule, match: re.Match[str]) -> bool:
    clause = _CLAUSE_END.split(sentence[: match.start("verb")])[-1]
    if rule.before is not None and rule.before.search(clause):
        return False
    return rule.after is None or not rule.after.search(sentence[match.end() :])
