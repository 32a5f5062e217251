"""Whether a turn says of a value that it puts right what was said before, or that it is not meant. Pure."""

from __future__ import annotations

import re
from typing import Final

from projections.correction_words import DENIALS, INTERJECTIONS, LEADS, PHRASES, THANKS

_SENTENCE_END: Final = re.compile(r"[!?\u3002\uff01\uff1f]+[\"'\u201d\u2019)]*|\.(?=\s+\D|\s*$)|\n")
_QUESTION: Final = re.compile(r"[?\uff1f][!?\uff01\uff1f\"'\u201d\u2019)]*\s*$|[吗嗎呢][。.]?\s*$")
_INTERJECTION: Final = re.compile(
    rf"^\W*(?:(?:{LEADS})\b\W*)*(?:{'|'.join(INTERJECTIONS.values())})"
    rf"(?=\s*[,.;:!\u2026\u2013\u2014\u3002\uff0c\uff01\uff1a\uff1b]|\s+-\s|\s*$)(?!\W*(?:{THANKS})\b)",
    re.IGNORECASE,
)
_PHRASE: Final = re.compile("|".join(PHRASES.values()), re.IGNORECASE)
_DENIAL: Final = "|".join(DENIALS.values())
_DENIED: Final = re.compile(rf"(?:{_DENIAL})\s*[^\w\s,.;:!?]*$", re.IGNORECASE)
_DENIED_NUMBER: Final = re.compile(rf"(?:{_DENIAL})\s*[^\w\s,.;:!?]*\d", re.IGNORECASE)
_MOST_BEFORE: Final = 80
"""So many characters before a value are looked at for what denies it."""


def is_denied(text: str, start: int) -> bool:
    """Whether what begins at a place is said not to be meant: "not 4,180 INR", "instead of Tuesdays"."""
    return _DENIED.search(text[max(0, start - _MOST_BEFORE) : start]) is not None


def puts_right(text: str, start: int, *, before: str | None = None) -> bool:
    """Whether the sentence of a place, or the one before it, says that something is put right. A question never does.

    ``before``: the value that was said before; it is enough that the sentence says it is not meant.
    """
    said, previous = _sentences(text, start)
    if _QUESTION.search(said) is not None or is_denied(text, start):
        return False
    if any(_has_cue(sentence) for sentence in (said, previous)):
        return True
    return before is not None and any(is_denied(said, found.start()) for found in _mentions(said, before))


def _has_cue(sentence: str) -> bool:
    if _QUESTION.search(sentence) is not None:
        return False
    return any(cue.search(sentence) is not None for cue in (_INTERJECTION, _PHRASE, _DENIED_NUMBER))


def _mentions(sentence: str, value: str) -> list[re.Match[str]]:
    return list(re.finditer(re.escape(value), sentence, re.IGNORECASE)) if value.strip() else []


def _sentences(text: str, start: int) -> tuple[str, str]:
    """The sentence of a place, and the one before it; nothing, if there is none."""
    previous = said = ""
    begin = 0
    for end in (*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)):
        if text[begin:end].strip():
            previous, said = said, text[begin:end].strip()
        if end > start:
            break
        begin = end
    return said, previous
