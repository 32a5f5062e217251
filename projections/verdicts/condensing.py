"""What keeps its sense in fewer words: long explanations, documents, drafts, and results that were acted on."""

from __future__ import annotations

from typing import Any, Final

from ledger.parts import JsonPart, TextPart
from projections.transcript import Turn
from projections.verdicts.lexicon import plain
from projections.verdicts.likeness import content_words, share
from projections.verdicts.reading import Reading

_LONG_CHARACTERS: Final = 600
_DOCUMENT_CHARACTERS: Final = 2_000
_RESULT_CHARACTERS: Final = 400
_DOCUMENT_TURNS: Final = 2
"""A document was read once so many turns followed."""

_DRAFT_SHARE: Final = 0.6
_COMPARED_CHARACTERS: Final = 2_000
_RESULTS_OUTWEIGH: Final = 9
"""Results that have so many times the characters of all else are nearly all of a turn."""


def is_mostly_results(reading: Reading) -> bool:
    """Whether what its calls returned is nearly all of the turn."""
    turn = reading.turn
    returned = sum(_size(returned.parts) for returned in turn.returns)
    asked = sum(len(str(call.arguments)) for call in turn.calls)
    return returned >= _RESULT_CHARACTERS and returned >= _RESULTS_OUTWEIGH * (_size(turn.parts) + asked)


def was_acted_on(reading: Reading) -> bool:
    """Whether calls of the turn returned something, and the assistant went on from there."""
    return bool(reading.turn.returns) and any(turn.role == "assistant" for turn in reading.surroundings.after)


def is_document(reading: Reading) -> bool:
    """Whether a user pasted a long text that was read some turns ago."""
    is_long = reading.is_user and _size(reading.turn.parts) >= _DOCUMENT_CHARACTERS
    return is_long and len(reading.surroundings.after) >= _DOCUMENT_TURNS


def is_superseded(reading: Reading) -> bool:
    """Whether a later text of the assistant has nearly all words of this long one: a newer draft took its place."""
    if reading.is_user or _size(reading.turn.parts) < _LONG_CHARACTERS:
        return False
    own = _content(reading, reading.turn)
    return any(
        later.role == "assistant"
        and _size(later.parts) >= _LONG_CHARACTERS
        and share(own, _content(reading, later)) >= _DRAFT_SHARE
        for later in reading.surroundings.after
    )


def explains(reading: Reading) -> bool:
    """Whether an assistant says something at length and calls nothing, and the conversation went on."""
    if reading.is_user or reading.turn.calls or not reading.surroundings.after:
        return False
    return _size(reading.turn.parts) >= _LONG_CHARACTERS


def _content(reading: Reading, turn: Turn) -> frozenset[str]:
    return content_words(plain(turn.text[:_COMPARED_CHARACTERS]).split(), reading.lexicon)


def _size(parts: tuple[Any, ...]) -> int:
    """The characters of text and values."""
    texts = (part.text if isinstance(part, TextPart) else part.value for part in parts if isinstance(part, TextPart | JsonPart))
    return sum(len(text) for text in texts)
