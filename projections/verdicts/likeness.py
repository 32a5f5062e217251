"""How much of one text stands in another, by words."""

from __future__ import annotations

from collections.abc import Iterable

from projections.verdicts.lexicon import Lexicon


def content_words(words: Iterable[str], lexicon: Lexicon) -> frozenset[str]:
    """The different words that mean something by themselves."""
    return frozenset(words) - lexicon.empty


def share(of: frozenset[str], inside: frozenset[str]) -> float:
    """How large a part of some words is found among others, from 0 to 1; 1 if there are none."""
    return len(of & inside) / len(of) if of else 1.0
