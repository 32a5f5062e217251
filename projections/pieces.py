"""What a window is made of, before it takes a provider's form."""

from __future__ import annotations

from dataclasses import dataclass

from ledger.parts import DocumentPart, ImagePart
from projections.transcript import Turn


@dataclass(frozen=True, slots=True)
class TurnPiece:
    """A turn with all that its calls returned, never cut; returns whose versions are in ``stubbed`` are shown as stubs."""

    turn: Turn
    stubbed: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class NotePiece:
    """A text of ours between the turns: the middle's receipt, or the state block."""

    text: str


Piece = TurnPiece | NotePiece


Pieces = tuple[Piece, ...]


def media_of(pieces: Pieces) -> set[str]:
    """The hashes of the artifacts that the pieces show: pictures and documents, in turns and in results that are not stubs."""
    hashes: set[str] = set()
    for piece in pieces:
        if isinstance(piece, TurnPiece):
            shown = (found for found in piece.turn.returns if found.version not in piece.stubbed)
            for parts in (piece.turn.parts, *(found.parts for found in shown)):
                hashes |= {part.sha256 for part in parts if isinstance(part, ImagePart | DocumentPart) and part.sha256}
    return hashes
