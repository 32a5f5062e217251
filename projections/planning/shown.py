"""How a turn stands in a window, whole or with texts in the place of results, and what it costs so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from projections.pieces import TurnPiece
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
