"""From turns to candidates for facts: the port that every extractor fills, and what a candidate has to prove. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ledger.erased import Forgotten
from ledger.events import Source
from ledger.fields import canonical_field
from ledger.parts import Usage
from ledger.schema.schema import FieldSpec, Schema
from projections.said_values import said_places
from projections.transcript import Turn, text_of


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value for a field that somebody read out of a turn; ``quote`` is what it rests on, as it stands in that turn.

    ``result`` names the tool's result (``r_12``) where the quote stands in one that belongs to the turn. ``corrects``: the turn
    puts right what was said before, so the value takes the place of the user's own earlier one, where the user's words say so.
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

    ``user`` only for a value that, after declared parsing, stands in the quote of a user turn, in whole words of the turn; not
    where more words of the sentence make another value of it. What stands in a tool's result is ``tool``.
    Everything else is ``inferred``: an assistant's words never become the user's.
    """
    if not candidate.quote.strip() or candidate.quote not in quoted_text(turn, candidate.result):
        return None
    stands = any(True for _ in places_of(candidate, turn, schema))
    if candidate.result is not None:
        return "tool" if stands else "inferred"
    return "user" if turn.role == "user" and stands else "inferred"


def places_of(candidate: Candidate, turn: Turn, schema: Schema) -> Iterator[int]:
    """Where in what was said a candidate's value stands within its quote; nowhere, where it does not."""
    spec = schema.spec(canonical_field(candidate.field))
    return (start for start, _ in said_places(quoted_text(turn, candidate.result), candidate.quote, candidate.value, spec))


def stands_in(text: str, value: Any, spec: FieldSpec | None) -> bool:
    """Whether a value stands in a text: as its own text, or as words that mean the same in the field's format."""
    return any(True for _ in said_places(text, text, value, spec))
