"""Conversations of a bakery's supplier, long enough to be compacted, and summarisers that behave badly in known ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ledger import Ledger
from ledger.json_text import JsonText
from ledger.parts import ToolCallPart
from projections.policy import Policy
from projections.summarising import SegmentTurns, SummariserFailed, SummaryDraft

POLICY: Final = Policy(budget_tokens=3_000, tail_turns=4)
"""Compacts a talk of forty turns."""

STATED: Final = {
    "region": "north-yard-4",
    "delivery": "LF-90217",
    "deadline": "2032-02-14 06:30",
    "warehouse": "kiln-store-b",
    "contract": "CT-2209-X",
    "price": "1,274.50 EUR",
    "contact": "orders@millrace.example",
    "batch": "rye-7731",
}
"""Values that are stated once, early."""

_FILLER: Final = "We talked about the weather on the coast and about how the ovens are doing today, at some length. " * 4


def talk(case: Ledger, *, turns: int, first: int = 1) -> None:
    """Record turns of talk, user and assistant in turn; the values are stated in the first four."""
    stated = list(STATED.items())
    for number in range(first, first + turns):
        said = stated[(number - 1) * 2 : number * 2]
        words = " ".join(f"The {name} is {value}." for name, value in said)
        case.record_turn("user" if number % 2 else "assistant", f"{words} Turn {number}: {_FILLER}".strip())


def work(case: Ledger, *, rounds: int, size: int, waiting: int | None = None) -> None:
    """Record rounds of a tool: a question, a call, a result of so many characters, an answer.

    The call of the round ``waiting`` is not answered.
    """
    for number in range(1, rounds + 1):
        case.record_turn("user", f"Look up shelf {number} of the store, please.")
        asked = JsonText.of({"shelf": f"SH-{number:04}"})
        case.record_turn("assistant", [ToolCallPart(call_id=f"c{number}", tool="shelf", arguments=asked)])
        if number != waiting:
            case.record_return(f"c{number}", f"SH-{number:04} holds: " + f"flour {number} " * (size // 8))
        case.record_turn("assistant", f"Shelf SH-{number:04} is full. {_FILLER}")


class Telling:
    """A summariser whose text is made from the turns by a function; ``seen`` are the segments that it was given."""

    def __init__(
        self,
        make: Callable[[SegmentTurns], str] = lambda segment: f"They talked, turns {segment.first} to {segment.last}.",
        *,
        name: str = "telling/1",
        model: str | None = "teller",
        prompt_hash: str | None = "p-1",
        fails: Sequence[int] = (),
        concerns_all: bool = False,
    ) -> None:
        self.name = name
        self.model = model
        self.prompt_hash = prompt_hash
        self.seen: list[SegmentTurns] = []
        self._make = make
        self._fails = fails
        self._concerns_all = concerns_all

    @property
    def firsts(self) -> list[int]:
        """Where the segments begin that it was given."""
        return [segment.first for segment in self.seen]

    def summarise(self, segment: SegmentTurns) -> SummaryDraft:
        """The text, or a failure for the segments that begin with these turns."""
        self.seen.append(segment)
        if segment.first in self._fails:
            raise SummariserFailed("the kettle boiled over", concerns_all=self._concerns_all)
        return SummaryDraft(self._make(segment))


def words_of(segment: SegmentTurns) -> str:
    """All texts of turns and results that a summariser was given."""
    return "\n".join([text for turn in segment.turns for text in (turn.text, *(found.text for found in turn.returns))])
