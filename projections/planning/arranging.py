"""In which order the chosen pieces of a window stand, and after which of them a provider's cache may end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from projections.pieces import NotePiece, Piece, Pieces
from projections.planning.left_out import LeftOut
from projections.planning.scene import Scene
from projections.planning.shown import Shown


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
    pieces: list[Piece] = [*(state if is_first else ()), *task, *chosen.kept, *middle]
    ends = [len(pieces) - 1]
    pieces += _live_before(chosen, begins)
    ends.append(len(pieces) - 1)
    pieces += [] if is_first else state
    pieces += [shown.piece for number, shown in chosen.live.items() if number >= begins]
    return tuple(pieces), tuple(dict.fromkeys(end for end in ends if end >= 0))


def _state_place(scene: Scene, chosen: Chosen) -> int:
    """The number of the first turn after the state: the task stands before it, though it be in the tail still.

    So what stands before the state only grows at its end.
    """
    task = scene.task
    if task is None or task not in scene.pinned or task == scene.current.turn.number:
        return chosen.start
    return max(chosen.start, task + 1)


def _live_before(chosen: Chosen, begins: int) -> Iterator[Piece]:
    """The turns before the state; what is told of those that gave way stands where the first of them stood, or at the end."""
    left = chosen.left
    for number, shown in chosen.live.items():
        if left is not None and number > min(left.first, begins - 1):
            yield NotePiece(left.text)
            left = None
        if number < begins:
            yield shown.piece
