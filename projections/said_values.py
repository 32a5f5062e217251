"""Where a value stands in what was said, read as its field declares it, and not made another one by more words. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any, Final

from ledger.json_text import JsonText
from ledger.schema.formats import BooleanFormat, ChoiceFormat, JsonFormat, MoneyFormat, NumberFormat, TextFormat
from ledger.schema.refusal import Refused
from ledger.schema.schema import FieldSpec
from projections.passages import WITHOUT_SPACES, Passage, Run, passages, words_of
from projections.value_neighbours import is_changed

_MOST_WORDS: Final = 8
"""A value that is parsed out of a quote has at most so many words."""

_ANOTHER: Final = "another thing"
_OF_ANOTHER: Final = {"ambiguous", "whole", "least", "most", "zone"}
"""Rules whose refusal says that the words are such a thing, but another one; all others say that they are none."""


def said_places(text: str, quote: str, value: Any, spec: FieldSpec | None) -> Iterator[tuple[int, int]]:
    """Every place in a text at which a value stands within a quote: as its own text, or as words that mean the same.

    Only whole words say something, whatever the quote cuts; and not where a longer run of words around them says another value.
    """
    for passage in passages(text, quote):
        for start, end in _places(passage, value, spec):
            yield passage.offset + start, passage.offset + end


def _places(passage: Passage, value: Any, spec: FieldSpec | None) -> Iterator[tuple[int, int]]:
    if spec is None or isinstance(spec.format, JsonFormat | TextFormat):
        return _text_places(passage, value if isinstance(value, str) else str(JsonText.of(value)))
    wanted = _meaning(spec.format, JsonText.of(value).value)
    if wanted is None or wanted == _ANOTHER:
        return iter(())
    if isinstance(spec.format, BooleanFormat):
        return _clause_places(passage, wanted, spec.format)
    return _parsed_places(passage, wanted, spec.format)


def _text_places(passage: Passage, text: str) -> Iterator[tuple[int, int]]:
    """Where a text stands as whole words, or anywhere where it has no words with spaces between them."""
    wanted = [_compared(word) for word in words_of(text)]
    if WITHOUT_SPACES.search(text) is not None or not wanted:
        pattern = re.compile(re.escape(text.strip()), re.IGNORECASE)
        found = (match.span() for match in pattern.finditer(passage.text) if match.group())
        yield from (span for span in found if passage.holds(*span) and not any(map(passage.cuts_word, span)))
        return
    spans = [span for span in passage.words() if passage.holds(*span)]
    said = [_compared(passage.text[start:end]) for start, end in spans]
    for first in range(len(said) - len(wanted) + 1):
        if said[first : first + len(wanted)] == wanted:
            yield spans[first][0], spans[first + len(wanted) - 1][1]


def _compared(word: str) -> str:
    return unicodedata.normalize("NFC", word).casefold()


def _clause_places(passage: Passage, wanted: str, form: Any) -> Iterator[tuple[int, int]]:
    """Where a clause is the word: "no problem" says no to nothing."""
    for start, end in passage.clauses():
        if passage.holds(start, end) and _meaning(form, passage.text[start:end]) == wanted:
            yield start, end


def _parsed_places(passage: Passage, wanted: str, form: Any) -> Iterator[tuple[int, int]]:
    """Where a run of words means the value, and no longer run of its sentence says another one."""
    pieces = passage.pieces(counts=isinstance(form, NumberFormat), characters=isinstance(form, ChoiceFormat))
    inside = [place for place, piece in enumerate(pieces) if passage.holds(piece.start, piece.end)]
    for first in inside:
        for last in range(first, min(first + _MOST_WORDS, inside[-1] + 1)):
            run = Run(passage, pieces, first, last)
            if wanted in _meanings(run, form) and not _says_another(run, form, wanted):
                yield pieces[first].start, pieces[last].end


def _says_another(run: Run, form: Any, wanted: str) -> bool:
    """Whether more words of the sentence say something else than these."""
    return any(_meanings(longer, form) - {wanted} for longer in run.longer()) or is_changed(run, form, wanted)


def _meanings(run: Run, form: Any) -> set[str]:
    return {meaning for text in run.spellings() if (meaning := _meaning(form, text)) is not None}


def _meaning(form: Any, value: Any) -> str | None:
    """What a value means in a format; ``_ANOTHER`` where it is such a thing, but not this one; None where it is none."""
    try:
        return JsonText.of(form.meaning(value)).canonical
    except Refused as refused:
        if refused.rule in _OF_ANOTHER:
            return _ANOTHER
    if isinstance(form, MoneyFormat) and form.currencies:
        return None if _meaning(MoneyFormat(), value) is None else _ANOTHER
    return None
