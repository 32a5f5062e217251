"""Turns with their cards out of a transcript that is folded already: what reading them one by one must come to, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from projections.amendments import AmendmentsFold
from projections.cards import Card, card_of, contents_of
from projections.pieces import is_text_document, text_documents
from projections.state_block import Count
from projections.told import Told
from projections.transcript import SystemText, Transcript, Turn

Documents = Callable[[set[str]], Mapping[str, bytes]]
"""The bytes of artifacts by their hashes, as far as they are there."""


class FoldedTurns:
    """The ``Turns`` of a transcript. A card is counted when its turn is first asked for."""

    def __init__(self, transcript: Transcript, amendments: AmendmentsFold, *, count: Count, documents: Documents) -> None:
        self._transcript = transcript
        self._amendments = amendments
        self._count = count
        self._documents = documents
        self._told: dict[int, Told] = {}

    @property
    def last(self) -> int:
        """The number of the last turn; 0 if there is none."""
        turns = self._transcript.turns
        return turns[-1].number if turns else 0

    @property
    def system(self) -> tuple[tuple[SystemText, int], ...]:
        """The system texts in order, each with its tokens."""
        return tuple((text, system_tokens(text, self._count, self._documents)) for text in self._transcript.system)

    def between(self, first: int, last: int) -> Sequence[Told]:
        """The turns from ``first`` to ``last``, both included, in order; as far as there are any."""
        return [self._tell(turn) for turn in self._transcript.turns[max(first, 1) - 1 : max(last, 0)]]

    def cards(self, first: int, last: int) -> Sequence[Card]:
        """What the turns from ``first`` to ``last`` cost, likewise."""
        return [told.card for told in self.between(first, last)]

    def at(self, numbers: Iterable[int]) -> Mapping[int, Told]:
        """The turns of some numbers."""
        turns = self._transcript.turns
        return {number: self._tell(turns[number - 1]) for number in sorted(set(numbers)) if 1 <= number <= len(turns)}

    def amended(self, through_turn: int) -> int:
        """The version of the last event that changed how a turn up to ``through_turn`` reads after the next one had begun."""
        return self._amendments.of(through_turn)

    def _tell(self, turn: Turn) -> Told:
        if turn.number not in self._told:
            self._told[turn.number] = told(turn, self._count, self._documents)
        return self._told[turn.number]


def told(turn: Turn, count: Count, documents: Documents) -> Told:
    """A turn with its card, counted now."""
    hashes = text_documents([turn])
    return Told(turn, card_of(turn, count, documents(hashes) if hashes else {}))


def system_tokens(text: SystemText, count: Count, documents: Documents) -> int:
    """The tokens of a system text."""
    hashes = {part.sha256 or "" for part in text.parts if is_text_document(part)}
    return contents_of(text.parts, count, documents(hashes) if hashes else {}).tokens
