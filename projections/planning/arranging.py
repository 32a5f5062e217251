"""In which order the chosen pieces of a window stand, and after which of them a provider's cache may end."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from projections.pieces import NotePiece, Piece, Pieces
from projections.planning.left_out import LeftOut
from projections.planning.scene import Scene
from projections.planning.shown import Shown

_PIECE: Final[Callable[[Shown], Piece]] = attrgetter("piece")


@dataclass(frozen=True, slots=True)
class Chosen:
    """What stands in a window: live turns by their numbers, the pieces of those that are kept, and our texts.

    ``start``: the number of the first turn of the tail.
    """

    live: Mapping[int, Shown]
    kept: Pieces
    middle: Piece | None
    left: LeftOut | None
    start: int


def arranged(scene: Scene, chosen: Chosen) -> tuple[Pieces, tuple[int, ...]]:
    """The pieces in their order, and the places of those after which a stable block ends."""
    state = [] if scene.fixed.state is None else [NotePiece(scene.fixed.state)]
    is_first = scene.policy.state_place == "after_system"
    task = [] if scene.fixed.task is None else [NotePiece(scene.fixed.task)]
    middle = [] if chosen.middle is None else [chosen.middle]
    begins = _state_place(scene, chosen)
    numbers, live = list(chosen.live), [*map(_PIECE, chosen.live.values())]
    after = bisect_left(numbers, begins)
    pieces: list[Piece] = [*(state if is_first else ()), *task, *chosen.kept, *middle]
    ends = [len(pieces) - 1]
    pieces += live[:after] if chosen.left is None else _with_left_out(chosen.left, numbers, live[:after], begins)
    ends.append(len(pieces) - 1)
    pieces += [*(() if is_first else state), *live[after:]]
    return tuple(pieces), tuple(dict.fromkeys(end for end in ends if end >= 0))


def _state_place(scene: Scene, chosen: Chosen) -> int:
    """The number of the first turn after the state: the task stands before it, though it be in the tail still.

    So what stands before the state only grows at its end.
    """
    task = scene.task
    if task is None or task not in scene.pinned or task == scene.current.turn.number:
        return chosen.start
    return max(chosen.start, task + 1)


def _with_left_out(left: LeftOut, numbers: list[int], before: list[Piece], begins: int) -> Iterable[Piece]:
    """The turns before the state; what is told of those that gave way stands where the first of them stood, or at the end."""
    place = bisect_right(numbers, min(left.first, begins - 1))
    return (*before[:place], NotePiece(left.text), *before[place:])
