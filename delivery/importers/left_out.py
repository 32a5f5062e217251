"""What of a file was not recorded: what could not be, and what is neither a turn nor a return, counted by its kind."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line or a message that could not be imported, and why; or the first of a ``kind`` of what was left out on purpose.

    ``line`` counts from 1. Without a ``kind``, what stands there is lost.
    """

    line: int
    reason: str
    kind: str | None = None


class LeftOut:
    """What stands in a file and becomes neither a turn nor a return, counted by its kind."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self._lines: dict[str, int] = {}

    def add(self, kind: str, line: int, count: int = 1) -> None:
        """Count something of a kind; ``line`` (from 1) is where it stands."""
        self.counts[kind] = self.counts.get(kind, 0) + count
        self._lines.setdefault(kind, line)

    def merge(self, other: LeftOut) -> None:
        """Count all that another one counted."""
        for kind, count in other.counts.items():
            self.add(kind, other._lines[kind], count)

    def told(self) -> list[Skipped]:
        """One line a kind, at the first of it."""
        return [
            Skipped(self._lines[kind], f"left out, as it is neither a turn nor a return: {kind} ({count:,} in all)", kind)
            for kind, count in self.counts.items()
        ]
