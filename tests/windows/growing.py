"""How the windows of a growing ledger follow each other: what stands before the state only grows at its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from projections.pieces import NotePiece, Piece
from projections.window import Window

AMENDING = frozenset({"turn.classified", "summary.recorded", "content.forgotten"})
"""Events after which earlier turns may read otherwise; so may a result, if a later turn had begun."""

Place = tuple[int, int]
"""Where a result stands: its turn and its version."""


def stable(window: Window) -> list[tuple[Any, ...]]:
    """What stands before the state block, piece by piece: a text of ours, or a turn with what stands in for results of it."""
    ends = window.plan.breakpoints
    state = None if window.block is None else window.block.text
    upto = ends[-1] + 1 if ends else 0
    return [
        _signature(piece) for piece in window.plan.pieces[:upto] if not (isinstance(piece, NotePiece) and piece.text == state)
    ]


def _signature(piece: Piece) -> tuple[Any, ...]:
    if isinstance(piece, NotePiece):
        return ("note", piece.text)
    turn = piece.turn
    return ("turn", turn.number, turn.parts, turn.returns, tuple(sorted(piece.replaced.items())))


def stubs(window: Window) -> dict[Place, str]:
    """The stubs before the state."""
    return {
        (signature[1], version): text
        for signature in stable(window)
        if signature[0] == "turn"
        for version, text in signature[-1]
    }


@dataclass
class Growth:
    """Takes the windows of a ledger one after the other, and says what is wrong between two of them."""

    before: Window | None = None
    made: dict[Place, str] = field(default_factory=dict)

    def faults(self, window: Window, *, amended: bool) -> Iterator[str]:
        """What is wrong with a window after the ones before it; ``amended``: earlier turns may read otherwise now."""
        before, self.before = self.before, window
        now = stubs(window)
        if amended or before is None:
            self.made = {**now}
            return
        for place, text in now.items():
            if self.made.setdefault(place, text) != text:
                yield f"the stub at {place} changed from {self.made[place]!r} to {text!r}"
        if window.receipt.through > before.receipt.through:
            return
        if window.receipt.through < before.receipt.through:
            yield f"turns up to {before.receipt.through} were compacted, now only up to {window.receipt.through}"
        shown = {row.turn for row in window.receipt.rows if row.verdict in ("keep", "stub")}
        for number, version in sorted(stubs(before).keys() - now.keys()):
            if number in shown:
                yield f"the result {version} of turn {number} was a stub and is whole again"
        if before.receipt.gave_way or window.receipt.gave_way or now.keys() != stubs(before).keys():
            return
        old, new = stable(before), stable(window)
        if new[: len(old)] != old:
            at = next((at for at, both in enumerate(zip(old, new, strict=False)) if both[0] != both[1]), len(new))
            yield f"piece {at} before the state was {str(old[at])[:300]}, is {str(new[at : at + 1])[:300]}"
