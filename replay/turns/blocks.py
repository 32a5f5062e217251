"""Which events make up which turn: rows for blocks of turns, made from envelopes, so that they hold no text.

Keys, all below the number of forgettings that were taken into account, so that rows from before one are never read after it:

    t/<first turn>            a block of ``BLOCK_TURNS`` turns: for each its version, and those of the returns that came in time
    t/<turn>/<version>        a return that came after the block of its turn was complete
    s/<version>               a system text
    a/<version>               an artifact that was stored
    m/<version>               an amendment of earlier turns; the value is the turn
    c/<turn>/<version>        a classification
    u/<last turn>/<version>   a summary; the value is the first turn
    p                         how far the rows go, and the turns of the last block, which is not complete

A block is complete when the turn after it begins. All rows but the last follow from the events up to there alone, so that
whoever makes them makes the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

import orjson

from ledger.events import SummaryRecorded
from ledger.record import Recorded
from ledger.store import Stored
from replay.facts.rows import numbered

BLOCK_TURNS: Final = 64
"""So many turns has a block."""

TURNS: Final = "t/"
SYSTEM: Final = "s/"
ARTIFACTS: Final = "a/"
AMENDMENTS: Final = "m/"
CLASSIFICATIONS: Final = "c/"
SUMMARIES: Final = "u/"
FRONTIER: Final = "p"

Versions = tuple[int, ...]
"""The version of a turn, then those of its returns, in order."""

Row = tuple[str, bytes]


def first_of_block(turn: int) -> int:
    """The first turn of the block that a turn is in."""
    return (turn - 1) // BLOCK_TURNS * BLOCK_TURNS + 1


def placed(prefix: str, turn: int, version: int) -> str:
    """The key of an event that is about a turn."""
    return f"{numbered(prefix, turn)}/{version:016x}"


def packed_block(turns: list[Versions]) -> bytes:
    """The row of a block."""
    return orjson.dumps(turns)


def unpacked_block(row: bytes) -> list[Versions]:
    """The turns of a block's row."""
    return [tuple(versions) for versions in orjson.loads(row)]


@dataclass
class Frontier:
    """Events up to ``through`` were looked at; ``turns`` are those of the last block, which begins with the turn ``first``."""

    through: int = 0
    first: int = 1
    turns: list[Versions] = field(default_factory=list)

    @classmethod
    def unpacked(cls, row: bytes) -> Frontier:
        """The frontier of a row."""
        through, first, turns = orjson.loads(row)
        return cls(through, first, [tuple(versions) for versions in turns])

    def packed(self) -> bytes:
        """Its row."""
        return orjson.dumps((self.through, self.first, self.turns))

    @property
    def last(self) -> int:
        """The last turn that began; 0 if there is none."""
        return self.first + len(self.turns) - 1

    def take(self, row: Stored, event_of: Callable[[Stored], Recorded]) -> Iterator[Row]:
        """Go on by one event, the next; the rows that it completes. ``event_of`` decodes those few whose content matters."""
        envelope = row.envelope
        version, turn = envelope.version, envelope.turn
        match envelope.type:
            case "turn.recorded" if turn is None:
                yield numbered(SYSTEM, version), b""
            case "turn.recorded":
                yield from self._begin(version)
            case "tool.returned" if turn is not None:
                yield from self._return(version, turn)
                yield from self._amend(version, turn)
            case "turn.classified" if turn is not None:
                yield placed(CLASSIFICATIONS, turn, version), b""
                yield from self._amend(version, turn)
            case "summary.recorded":
                yield from _summary(event_of(row))
            case "artifact.stored":
                yield numbered(ARTIFACTS, version), b""
            case _:
                pass
        self.through = version

    def _begin(self, version: int) -> Iterator[Row]:
        if len(self.turns) == BLOCK_TURNS:
            yield numbered(TURNS, self.first), packed_block(self.turns)
            self.first, self.turns = self.first + BLOCK_TURNS, []
        self.turns.append((version,))

    def _return(self, version: int, turn: int) -> Iterator[Row]:
        place = turn - self.first
        if 0 <= place < len(self.turns):
            self.turns[place] += (version,)
        else:
            yield placed(TURNS, turn, version), b""

    def _amend(self, version: int, turn: int) -> Iterator[Row]:
        """What comes before the next turn begins amends nothing, as ``projections.amendments`` has it."""
        if turn < self.last:
            yield numbered(AMENDMENTS, version), str(turn).encode()


def _summary(recorded: Recorded) -> Iterator[Row]:
    event = recorded.event
    if isinstance(event, SummaryRecorded):
        yield placed(SUMMARIES, event.last_turn, recorded.version), str(event.first_turn).encode()
        yield numbered(AMENDMENTS, recorded.version), str(event.last_turn).encode()
