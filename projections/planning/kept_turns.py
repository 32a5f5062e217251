"""The turns that are compacted and stand in a window whole: how they stand there, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from projections.compacting.middle import KeptTurn
from projections.compacting.middle_text import kept_note, kept_note_tokens
from projections.pieces import NotePiece, Piece, Pieces, TurnPiece
from projections.planning.scene import Scene
from projections.planning.shown import Shown


@dataclass(frozen=True, slots=True)
class KeptTurns:
    """All of them, by number, as they stand, and their pieces; ``tokens``: with the notes before them."""

    turns: Mapping[int, KeptTurn]
    shown: Mapping[int, Shown]
    pieces: Pieces
    tokens: int


def all_kept(scene: Scene) -> KeptTurns:
    """All turns that are kept, before any gives way: the same ones until the next compaction."""
    middle, numbers = scene.middle, scene.middle.numbers
    waiting: tuple[int, ...] = ()
    if not numbers or numbers[-1] > middle.through:  # what comes late to such a pin is not in the middle's key
        return _all_kept(scene)
    if middle.waits:
        waiting = tuple(turn.number for turn in middle.kept if turn.waits_since and not _is_answered(scene, turn))
    key = ("kept", middle.key, numbers, waiting, scene.task in scene.pinned, scene.form, scene.policy.settling)
    return scene.recall(key, lambda: _all_kept(scene))


def kept_pieces(scene: Scene, turns: Sequence[KeptTurn], shown: Mapping[int, Shown]) -> Iterator[Piece]:
    """The task first, then the others in order, those of a segment behind a note that says which they are."""
    task = scene.task if scene.task in shown and scene.task in scene.pinned else None
    if task is not None:
        yield TurnPiece(shown[task].told.turn)
    for group in _noted(scene, turns):
        yield NotePiece(kept_note(group))
        for turn in group:
            yield shown[turn.number].piece


def kept_notes_price(scene: Scene, turns: Sequence[KeptTurn]) -> int:
    """What the notes cost that stand before turns of a segment that are kept; before the task there is none."""
    return sum(scene.pricing.note(kept_note_tokens(group)) for group in _noted(scene, turns))


def _all_kept(scene: Scene) -> KeptTurns:
    turns = scene.middle.kept
    shown = {turn.number: _shown(scene, turn) for turn in turns}
    tokens = kept_notes_price(scene, turns) + sum(one.tokens for one in shown.values())
    return KeptTurns({turn.number: turn for turn in turns}, shown, tuple(kept_pieces(scene, turns, shown)), tokens)


def _shown(scene: Scene, turn: KeptTurn) -> Shown:
    return scene.pricing.stubbed(scene.kept[turn.number], turn.stubs if _is_answered(scene, turn) else ())


def _is_answered(scene: Scene, turn: KeptTurn) -> bool:
    return turn.is_answered(told.turn for told in scene.live)


def _noted(scene: Scene, turns: Sequence[KeptTurn]) -> Iterator[tuple[KeptTurn, ...]]:
    task = scene.task if scene.task in scene.pinned else None
    others = (turn for turn in turns if turn.number != task)
    return (tuple(group) for _, group in groupby(others, key=lambda turn: turn.first))
