"""The records of a JSON-lines file, gone through once, and read again where a conversation needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from delivery.importers.left_out import LeftOut, Skipped
from delivery.importers.lines import Line, LineMessages, Place
from delivery.importers.source import Node


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON value on a line of its own: where it stands, and what it is."""

    place: Place
    node: Node


class Records:
    """The records of a file in order; lines that are no JSON are reported and passed over.

    Only one of them is held at a time. A conversation keeps the places of its records (``gathered``), and has them read
    again whenever it is told.
    """

    def __init__(self, path: Path, lines: Iterable[Line], parse: Callable[[Line], Node | None]) -> None:
        self._path = path
        self._lines = lines
        self._parse = parse
        self.last = 0
        self.left_out = LeftOut()
        self.skipped: list[Skipped] = []

    def __iter__(self) -> Iterator[Record]:
        for line in self._lines:
            node = self._parse(line)
            if node is not None:
                self.last = line.number
                yield Record(Place(line.number, line.offset), node)

    def gathered(self, places: Iterable[Place] = ()) -> LineMessages:
        """The records at some places, in the order in which they are given; more may be added. Eight bytes a record and
        field are held.
        """
        found = LineMessages(self._path)
        for place in places:
            found.add(place)
        return found

    def leave_out(self, kind: str, line: int) -> None:
        """Count a record that belongs to no conversation."""
        self.left_out.add(kind, line)

    def skip(self, line: int, reason: str) -> None:
        """Report a record that cannot be read."""
        self.skipped.append(Skipped(line, reason))
