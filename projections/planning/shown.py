"""How turns stand in a window, whole or with texts in the place of results, and what they cost so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from projections.compacting.middle import KeptTurn
from projections.compacting.middle_text import kept_note
from projections.pieces import NotePiece, Piece, Pieces, TurnPiece
from projections.planning.clearing import shown_used_through
from projections.planning.scene import Scene
from projections.told import Told


@dataclass(slots=True)
class Shown:
    """A turn as it stands in the window: ``texts`` in the place of results, ``tokens`` in the form."""

    told: Told
    tokens: int
    texts: dict[int, str]

    @property
    def piece(self) -> TurnPiece:
        """The piece."""
        return TurnPiece(self.told.turn, self.texts) if self.texts else self.told.recall("piece", _whole)


@dataclass(frozen=True, slots=True)
class KeptTurns:
    """Turns that are compacted and kept whole, by number, and their pieces; ``tokens``: with the notes before them."""

    shown: Mapping[int, Shown]
    pieces: Pieces
    tokens: int


def all_kept(scene: Scene) -> KeptTurns:
    """All turns that are kept, before any gives way: the same ones until the next compaction."""
    numbers = tuple(turn.number for turn in scene.middle.kept)
    if not numbers or numbers[-1] > scene.middle.through:  # what comes late to such a pin is not in the middle's key
        return _all_kept(scene)
    key = ("kept", scene.middle.key, numbers, scene.task in scene.pinned, scene.pricing)
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
    return sum(scene.note(kept_note(group)) for group in _noted(scene, turns))


def live_turn(scene: Scene, place: int, *, stubbed: bool) -> Shown:
    """A live turn before the budget presses, whole or with stubs."""
    told = scene.live[place]
    if not stubbed:
        return Shown(told, scene.whole[place], {})
    through = shown_used_through(scene.live, place, scene.policy)
    tokens, texts = told.recall(("stubbed", through, scene.pricing), lambda _: _stubbed(scene, place))
    return Shown(told, tokens, dict(texts))


def _stubbed(scene: Scene, place: int) -> tuple[int, dict[int, str]]:
    stubs = scene.stubs(place)
    tokens = scene.price(scene.live[place], {stub.version: stub.tokens for stub in stubs})
    return tokens, {stub.version: stub.text for stub in stubs}


def _all_kept(scene: Scene) -> KeptTurns:
    turns = scene.middle.kept
    shown = {turn.number: _kept(scene, turn) for turn in turns}
    tokens = kept_notes_price(scene, turns) + sum(one.tokens for one in shown.values())
    return KeptTurns(shown, tuple(kept_pieces(scene, turns, shown)), tokens)


def _kept(scene: Scene, turn: KeptTurn) -> Shown:
    told = scene.kept[turn.number]
    tokens = scene.price(told, {stub.version: stub.tokens for stub in turn.stubs})
    return Shown(told, tokens, {stub.version: stub.text for stub in turn.stubs})


def _noted(scene: Scene, turns: Sequence[KeptTurn]) -> Iterator[tuple[KeptTurn, ...]]:
    task = scene.task if scene.task in scene.pinned else None
    others = (turn for turn in turns if turn.number != task)
    return (tuple(group) for _, group in groupby(others, key=lambda turn: turn.first))


def _whole(told: Told) -> TurnPiece:
    return TurnPiece(told.turn)
