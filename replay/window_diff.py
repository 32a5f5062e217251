"""What differs between two windows of a ledger: the same version under two policies, or two versions under one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from itertools import zip_longest
from typing import Final

from ledger.errors import InvalidInput
from projections.basis import Basis
from projections.receipt import Row
from projections.verdicts.verdict import Verdict
from projections.window import Window
from projections.wire import to_json

_NEIGHBOURING_LINES: Final = 1


@dataclass(frozen=True, slots=True)
class Became:
    """What became of a turn in a window: its verdict, by which rule, and the tokens that it takes there."""

    verdict: Verdict
    rule: str
    tokens: int


@dataclass(frozen=True, slots=True)
class TurnChange:
    """A turn of which something else became; None on the side whose version has not got it."""

    turn: int
    before: Became | None
    after: Became | None


@dataclass(frozen=True, slots=True)
class WindowDiff:
    """What differs between two windows, which their bases tell apart.

    ``tokens`` and ``blocks`` are pairs, before and after; a block that a window has not got costs nothing there. ``turns`` are
    those that changed their verdict, in order. ``text`` is a unified diff of both as people read them, without ends of lines.
    """

    before: Basis
    after: Basis
    tokens: tuple[int, int]
    blocks: Mapping[str, tuple[int, int]]
    turns: tuple[TurnChange, ...]
    text: tuple[str, ...]

    def to_json(self) -> bytes:
        """The difference as JSON."""
        return to_json(
            {
                "before": self.before,
                "after": self.after,
                "tokens": list(self.tokens),
                "blocks": {name: list(both) for name, both in self.blocks.items()},
                "turns": list(self.turns),
                "text": list(self.text),
            }
        )


def diff_windows(before: Window, after: Window) -> WindowDiff:
    """Compare two windows. Reads the whole ledger for the verdicts of all turns; ``InvalidInput`` for two ledgers."""
    if before.basis.ledger != after.basis.ledger:
        raise InvalidInput(
            f"one window is of ledger {before.basis.ledger!r}, the other of {after.basis.ledger!r}: their turns have nothing"
            " in common",
            path="after",
        )
    ours, theirs = before.receipt.blocks, after.receipt.blocks
    return WindowDiff(
        before.basis,
        after.basis,
        (before.tokens, after.tokens),
        {name: (ours.get(name, 0), theirs.get(name, 0)) for name in dict.fromkeys([*ours, *theirs])},
        tuple(_changes(before.receipt.turns(), after.receipt.turns())),
        tuple(_text(before, after)),
    )


def _changes(before: tuple[Row, ...], after: tuple[Row, ...]) -> Iterator[TurnChange]:
    """Both receipts have a row for every turn up to their version, from the first."""
    for ours, theirs in zip_longest(before, after):
        if ours is None or theirs is None or ours.verdict != theirs.verdict:
            yield TurnChange((ours or theirs).turn, _became(ours), _became(theirs))


def _became(row: Row | None) -> Became | None:
    return None if row is None else Became(row.verdict, row.rule, row.tokens)


def _text(before: Window, after: Window) -> Iterator[str]:
    """The changed lines with a neighbour on either side, without a heading: the bases say more."""
    lines = unified_diff(before.text.splitlines(), after.text.splitlines(), lineterm="", n=_NEIGHBOURING_LINES)
    return (line for number, line in enumerate(lines) if number > 1)
