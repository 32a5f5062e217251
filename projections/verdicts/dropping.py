"""What nobody misses: courtesies, restatements, and failed calls that a retry made good.

None of these rules claims a turn with an exact string, a question, what binds, a picture or a document, or a call that returned
no error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from projections.exact.strings import identifying_strings
from projections.transcript import Turn
from projections.verdicts.languages.language import Courtesy
from projections.verdicts.lexicon import plain, words_of
from projections.verdicts.likeness import content_words, share
from projections.verdicts.own_words import looked_at, own_words
from projections.verdicts.reading import Reading

_RESTATED_WORDS: Final = 4
"""A restatement has so many different words with content, at least; of fewer nobody can tell."""

_RESTATED_CHARACTERS: Final = 2_000
"""Who says in a few words what was said in more than these sums it up."""

_REPEATED_WORDS: Final = 12
"""The same of what an assistant says once more: "Done" is news each time."""

_RESTATED_SHARE: Final = 0.9
_RETRIED_SHARE: Final = 0.5
_KEY: Final = re.compile(r'"[^"\\]{0,200}"\s{0,9}:')
_WORD: Final = re.compile(r"\w+")


def is_blank(reading: Reading) -> bool:
    """Whether the turn says nothing at all."""
    return reading.turn.is_blank and not reading.turn.returns


def greets(reading: Reading) -> bool:
    """Whether the turn is a greeting and nothing more."""
    return _is_courtesy(reading, "greeting")


def thanks(reading: Reading) -> bool:
    """Whether the turn thanks or takes leave, and nothing more."""
    return _is_courtesy(reading, "thanks")


def acknowledges(reading: Reading) -> bool:
    """Whether the turn says that it was heard, and nothing more; an answer to a question or a proposal says more."""
    return _is_courtesy(reading, "acknowledgement")


def apologises(reading: Reading) -> bool:
    """Whether an assistant apologises, and nothing more."""
    return not reading.is_user and _is_courtesy(reading, "apology")


def restates(reading: Reading) -> bool:
    """Whether an assistant only repeats what the user just said, or at length what it said before itself."""
    if reading.is_user or not _says_nothing_exact(reading):
        return False
    if any(pattern.search(reading.plain) for pattern in reading.lexicon.commitments):
        return False
    own = content_words(reading.words, reading.lexicon)
    return len(own) >= _RESTATED_WORDS and any(_is_repeated(reading, own, turn) for turn in reading.surroundings.before)


def failed_and_was_retried(reading: Reading) -> bool:
    """Whether all calls of the turn failed, and each was made again later, much the same, with success."""
    turn = reading.turn
    if not turn.calls or not reading.has_text_and_calls_alone or len(turn.returns) != len(turn.calls):
        return False
    if not all(returned.is_error and not returned.orphan for returned in turn.returns):
        return False
    if reading.asks or reading.has_exact_string or reading.says_what_binds:
        return False
    return all(_was_retried(call.tool, str(call.arguments), reading.surroundings.after) for call in turn.calls)


def _is_courtesy(reading: Reading, kind: Courtesy) -> bool:
    kinds = reading.courtesies
    if kind not in kinds or "agreement" in kinds or reading.turn.returns:
        return False
    if "acknowledgement" in kinds and reading.may_take_an_option:
        return False
    return not (reading.asks or reading.is_answer or reading.says_what_binds)


def _says_nothing_exact(reading: Reading) -> bool:
    if not reading.is_text_alone or reading.turn.returns:
        return False
    return not (reading.asks or reading.has_exact_string or reading.says_what_binds)


def _is_repeated(reading: Reading, own: frozenset[str], earlier: Turn) -> bool:
    known = reading.lexicon
    if earlier.forgotten is not None or (earlier.role != "user" and len(own) < _REPEATED_WORDS):
        return False
    said = plain(own_words(earlier))
    words = words_of(said) if len(said) <= _RESTATED_CHARACTERS else []
    if earlier.role != "user":
        return words == reading.words
    denies = not known.negations.isdisjoint(reading.words)
    if denies != (not known.negations.isdisjoint(words)):
        return False
    return share(own, content_words(words, known)) >= _RESTATED_SHARE


def _was_retried(tool: str, arguments: str, after: tuple[Turn, ...]) -> bool:
    """Whether the tool was called again on the same things, all numbers and names of them, with success."""
    tried = looked_at(arguments)
    things = identifying_strings(tried)
    words = _values(tried)
    numbers = {word for word in words if any(character.isdigit() for character in word)}
    for again in (looked_at(text) for text in _successes(tool, after)):
        found = _values(again)
        if numbers <= found and share(words, found) >= _RETRIED_SHARE and all(thing in again for thing in things):
            return True
    return False


def _successes(tool: str, after: tuple[Turn, ...]) -> Iterator[str]:
    """The arguments of later calls of a tool that returned no error."""
    for turn in after:
        for call in turn.calls:
            returned = turn.answer_to(call.call_id) if call.tool == tool else None
            if returned is not None and not returned.is_error:
                yield str(call.arguments)


def _values(arguments: str) -> frozenset[str]:
    """The words of a JSON value; its keys say only what the tool asks for."""
    return frozenset(_WORD.findall(_KEY.sub(" ", arguments)))
