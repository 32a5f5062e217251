"""From turns to candidates for facts: the port that every extractor fills, and what a candidate has to prove. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ledger.erased import Forgotten
from ledger.events import Source
from ledger.fields import canonical_field
from ledger.json_text import JsonText
from ledger.parts import Usage
from ledger.schema.formats import JsonFormat, TextFormat
from ledger.schema.schema import FieldSpec, Schema
from projections.transcript import Turn, text_of

_MOST_WORDS: Final = 8
"""A value that is parsed out of a quote has at most so many words."""

_WITHOUT_SPACES: Final = re.compile("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
"""Scripts that do not put spaces between words: Thai, Lao, Khmer, Japanese, Chinese."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value for a field that somebody read out of a turn; ``quote`` is what it rests on, as it stands in that turn.

    ``result`` names the tool's result (``r_12``) where the quote stands in one that belongs to the turn. ``corrects``: the turn
    puts right what was said before, so the value takes the place of the user's own earlier one.
    """

    field: str
    value: Any
    quote: str
    turn: int
    result: str | None = None
    corrects: bool = False


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an extractor found, and for a model which one, the hash of its prompt and what it used.

    ``incomplete`` says what is missing where the run broke off; what was found until then counts.
    """

    candidates: tuple[Candidate, ...]
    model: str | None = None
    prompt_hash: str | None = None
    usage: Usage | None = None
    incomplete: str | None = None


class Extractor(Protocol):
    """Finds candidates in turns. Whatever it says is checked: it cannot make a user say what the user did not say."""

    @property
    def name(self) -> str:
        """Which extractor it is, and which version of it: another name reads all turns anew."""
        ...

    def extract(self, turns: Sequence[Turn], schema: Schema) -> Extraction:
        """The candidates in these turns for the fields of a schema."""
        ...


def quoted_text(turn: Turn, result: str | None) -> str:
    """The text in which a quote must stand: a turn's, or a result's. The mark of what was forgotten is no text."""
    said: tuple[Any, ...] = turn.parts
    if result is not None:
        said = next((found.parts for found in turn.returns if found.id == result), ())
    return text_of(tuple(part for part in said if not isinstance(part, Forgotten)))


def source_of(candidate: Candidate, turn: Turn, schema: Schema) -> Source | None:
    """What a candidate counts as; None where its quote does not stand in its turn.

    ``user`` only for a value that, after declared parsing, stands in the quote of a user turn. What stands in a tool's result
    is ``tool``. Everything else is ``inferred``: an assistant's words never become the user's.
    """
    if not candidate.quote.strip() or candidate.quote not in quoted_text(turn, candidate.result):
        return None
    stands = stands_in(candidate.quote, candidate.value, schema.spec(canonical_field(candidate.field)))
    if candidate.result is not None:
        return "tool" if stands else "inferred"
    return "user" if turn.role == "user" and stands else "inferred"


def stands_in(quote: str, value: Any, spec: FieldSpec | None) -> bool:
    """Whether a value stands in a quote: as its own text, or as words that mean the same in the field's format."""
    wanted = JsonText.of(value)
    if spec is None or isinstance(spec.format, JsonFormat | TextFormat):
        text = value if isinstance(value, str) else str(wanted)
        return bool(text.strip()) and _says(quote, text)
    schema = Schema(name="one", fields=(spec,))
    meaning = schema.meaning(spec.name, wanted)
    if meaning is None:
        return False
    return any(_means(schema, spec, text, meaning) for text in _phrases(quote))


def _means(schema: Schema, spec: FieldSpec, text: str, meaning: JsonText) -> bool:
    found = schema.meaning(spec.name, JsonText.of(text))
    return found is not None and found.canonical == meaning.canonical


def _phrases(quote: str) -> list[str]:
    """All runs of words, without the punctuation around them; the parts of a word with hyphens ("4-star") are words, too."""
    words = quote.split()
    runs = (words[first : first + length] for first in range(len(words)) for length in range(1, _MOST_WORDS + 1))
    parts = (part for word in words if "-" in word for part in word.split("-"))
    phrases = [" ".join(run) for run in runs if run]
    return list(dict.fromkeys(text.strip(".,;:!?\"'()[]") for text in (*phrases, *parts)))


def _says(quote: str, text: str) -> bool:
    """Whether a text stands in a quote as whole words, or anywhere in it where it has no words with spaces between them."""
    if _WITHOUT_SPACES.search(text) is not None or not _as_words(text).strip():
        return text.casefold() in quote.casefold()
    return _as_words(text) in _as_words(quote)


def _as_words(text: str) -> str:
    """A text between spaces, so that it is found only where whole words are."""
    cleaned = "".join(character if character.isalnum() or character in "-_@+#%" else " " for character in text.casefold())
    return f" {' '.join(cleaned.split())} "
