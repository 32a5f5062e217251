"""How turns stand in a window, whole or with texts in the place of results, and what they cost so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from projections.compacting.middle import KeptTurn, Stub
from projections.compacting.middle_text import kept_note, kept_note_tokens
from projections.framing import note_price
from projections.pieces import NotePiece, Piece, Pieces, TurnPiece
from projections.planning.scene import Scene
from projections.planning.taken_on import Each
from projections.told import Told


@dataclass(frozen=True, slots=True)
class Shown:
    """A turn as it stands in the window, and what it costs so in the form: ``piece`` has texts in the place of results."""

    told: Told
    tokens: int
    piece: TurnPiece

    @property
    def texts(self) -> Mapping[int, str]:
        """What stands in the place of results, by their versions."""
        return self.piece.replaced

    def cut(self, version: int, text: str, saved: int) -> Shown:
        """The same with a text in the place of one more result, and what that saves."""
        return Shown(self.told, self.tokens - saved, TurnPiece(self.told.turn, {**self.texts, version: text}))


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
    waiting = tuple(turn.number for turn in scene.middle.kept if turn.waits_since and not _is_answered(scene, turn))
    key = ("kept", scene.middle.key, numbers, waiting, scene.task in scene.pinned, scene.pricing)
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
    return sum(note_price(kept_note_tokens(group), scene.form.framing) for group in _noted(scene, turns))


def live_turns(scene: Scene) -> dict[int, Shown]:
    """The live turns whole, by number."""
    whole: Each[Told, Shown] = scene.recall(("whole", scene.pricing), Each)
    costs = scene.costs
    shown = whole.of(scene.live, lambda told: _with(told, costs[told.number - scene.first].whole, ()))
    return dict(enumerate(shown, scene.first))


def stubbed_turn(scene: Scene, place: int) -> Shown:
    """A live turn with stubs."""
    key = ("stubbed", scene.stubs_through(place), scene.pricing)
    return scene.live[place].recall(key, lambda told: _priced(scene, told, scene.stubs(place)))


def _priced(scene: Scene, told: Told, stubs: Sequence[Stub]) -> Shown:
    return _with(told, scene.price(told, {stub.version: stub.tokens for stub in stubs}), stubs)


def _with(told: Told, tokens: int, stubs: Sequence[Stub]) -> Shown:
    return Shown(told, tokens, TurnPiece(told.turn, {stub.version: stub.text for stub in stubs}))


def _all_kept(scene: Scene) -> KeptTurns:
    turns = scene.middle.kept
    stubs = {turn.number: turn.stubs if _is_answered(scene, turn) else () for turn in turns}
    shown = {number: _priced(scene, scene.kept[number], stubs[number]) for number in stubs}
    tokens = kept_notes_price(scene, turns) + sum(one.tokens for one in shown.values())
    return KeptTurns(shown, tuple(kept_pieces(scene, turns, shown)), tokens)


def _is_answered(scene: Scene, turn: KeptTurn) -> bool:
    return turn.is_answered(told.turn for told in scene.live)


def _noted(scene: Scene, turns: Sequence[KeptTurn]) -> Iterator[tuple[KeptTurn, ...]]:
    task = scene.task if scene.task in scene.pinned else None
    others = (turn for turn in turns if turn.number != task)
    return (tuple(group) for _, group in groupby(others, key=lambda turn: turn.first))
