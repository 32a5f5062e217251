"""What a language declares of itself: the words by which people constrain, decide, correct, thank. Pure data.

Sentences come in lower case, with straight apostrophes and single spaces. Every repetition in a pattern has a bound, so that
no text takes long.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal

Courtesy = Literal["greeting", "thanks", "acknowledgement", "agreement", "apology", "filler"]
"""What a phrase does that says nothing else."""

_NOTHING: Final = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Cue:
    """How a sentence says something. ``words``: one of them stands in every sentence that ``pattern`` is found in.

    ``unless`` takes the claim back where it is found in the same sentence. A question counts only with ``asked``.
    """

    words: frozenset[str]
    pattern: re.Pattern[str]
    unless: re.Pattern[str] = _NOTHING
    asked: re.Pattern[str] = _NOTHING


@dataclass(frozen=True, slots=True)
class Language:
    """The cues of a language, by what they say, and the phrases that say nothing.

    ``phrases``: courtesies by their kind, a comma-separated list. A sentence offers more help, and asks for nothing, where
    ``offers`` is found and all its words are ``offer_words``. ``proposals``: what an answer of one word would agree to;
    ``options``: what "great" would take.
    ``tags``: what makes a question of a statement ("right?"). ``answers``: words with which answers begin. ``commitments``:
    what an assistant says it did or will do. ``negations``: words that turn a sentence into its opposite. ``empty``: words
    without content of their own.
    """

    code: str
    name: str
    remember: Cue
    constraint: Cue
    decision: Cue
    correction: Cue
    refusal: Cue
    phrases: dict[Courtesy, str]
    offers: re.Pattern[str]
    offer_words: frozenset[str]
    proposals: re.Pattern[str]
    options: re.Pattern[str]
    tags: re.Pattern[str]
    answers: frozenset[str]
    commitments: re.Pattern[str]
    negations: frozenset[str]
    empty: frozenset[str] = field(default=frozenset())


def words(listed: str) -> frozenset[str]:
    """The words of a list that is parted by spaces."""
    return frozenset(listed.split())


def any_of(*patterns: str) -> re.Pattern[str]:
    """A pattern that matches where one of several does."""
    return re.compile("|".join(patterns))


def cue(listed: str, *patterns: str, unless: str | None = None, asked: str | None = None) -> Cue:
    """A cue from its words, parted by spaces, and the sources of its patterns."""
    taken, questions = (re.compile(text) if text is not None else _NOTHING for text in (unless, asked))
    return Cue(words(listed), any_of(*patterns), taken, questions)
