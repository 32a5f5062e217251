"""What a window is made of, before it takes a provider's form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter, is_
from typing import ClassVar, Final, TypeGuard

from ledger.parts import DocumentPart, ImagePart, JsonPart, TextPart, ToolCallPart
from projections.lazily import lazily
from projections.measured import measured
from projections.sendable import is_said, sendable
from projections.transcript import Return, Turn, answered_calls

_MEDIA: Final = (ImagePart, DocumentPart)
_NO_MEDIA: Final = (TextPart, ToolCallPart, JsonPart)  # nearly all parts: it takes ten times as long to ask pydantic
_SHOWN_BY: Final[Callable[[Piece], frozenset[str]]] = attrgetter("media")


@dataclass(frozen=True)
class TurnPiece:
    """A turn with all that its calls returned, never cut off from it.

    ``replaced`` holds, by version, the text that stands in the place of a result: its stub, or its beginning and end.
    """

    turn: Turn
    replaced: Mapping[int, str] = field(default_factory=dict)

    @lazily
    def media(self) -> frozenset[str]:
        """The hashes of the artifacts that it shows: pictures and documents, in the turn and in results that stand whole."""
        shown = [found.parts for found in self.turn.returns if found.version not in self.replaced]
        parts = [part for part in chain(self.turn.parts, *shown) if type(part) not in _NO_MEDIA and isinstance(part, _MEDIA)]
        return frozenset([part.sha256 for part in parts if part.sha256])

    @lazily
    def only_texts(self) -> tuple[str, ...] | None:
        """All that the turn says beside its calls, in sendable texts; None where it holds anything but texts and calls."""
        parts = self.turn.parts
        if not all(isinstance(part, TextPart | ToolCallPart) for part in parts):
            return None
        return tuple(sendable(part.text) for part in parts if isinstance(part, TextPart) and is_said(part.text))

    @lazily
    def calls(self) -> tuple[ToolCallPart, ...]:
        """The calls of the turn."""
        return self.turn.calls

    @lazily
    def answers(self) -> Mapping[str, Return]:
        """What its calls returned so far, by their ids, with encoded bytes only measured."""
        return {call.call_id: self._shown(found) for call, found in answered_calls(self.turn)}

    def _shown(self, found: Return) -> Return:
        return found if found.version in self.replaced else measured(found)


@dataclass(frozen=True, slots=True)
class NotePiece:
    """A text of ours between the turns: a task given at opening, what was compacted, or the state block."""

    text: str

    media: ClassVar[frozenset[str]] = frozenset()


Piece = TurnPiece | NotePiece


Pieces = tuple[Piece, ...]


def is_text_document(part: object) -> TypeGuard[DocumentPart]:
    """Whether a part is a document whose artifact is text."""
    return isinstance(part, DocumentPart) and part.sha256 is not None and (part.media_type or "").startswith("text/")


def text_documents(turns: Iterable[Turn]) -> set[str]:
    """The hashes of the text documents in turns and in what their calls returned: their text has to be counted."""
    found = (parts for turn in turns for parts in (turn.parts, *(returned.parts for returned in turn.returns)))
    return {part.sha256 or "" for parts in found for part in parts if is_text_document(part)}


def alike(pieces: Pieces, others: Pieces) -> int:
    """How many pieces at the beginning are the same in both: our texts, and the same turns with the same texts in them.

    Turns that are not one object are taken for others, since it would take long to look.
    """
    same = bytes(map(is_, pieces, others))  # 1 for each that is one object in both, as nearly all are
    place = same.find(0)
    while place >= 0 and _reads_alike(pieces[place], others[place]):
        place = same.find(0, place + 1)
    return len(same) if place < 0 else place


def _reads_alike(piece: Piece, other: Piece) -> bool:
    if isinstance(piece, NotePiece) or isinstance(other, NotePiece):
        return piece == other
    return piece.turn is other.turn and piece.replaced == other.replaced


def media_of(pieces: Pieces) -> set[str]:
    """The hashes of the artifacts that the pieces show."""
    return set[str]().union(*map(_SHOWN_BY, pieces))


def media_note(part: ImagePart | DocumentPart) -> str:
    """The marked stand-in for a picture or document that a form has no place for; data in an address is only measured."""
    if part.sha256 is not None:
        where = f"sha256={part.sha256}"
    elif part.url is not None and part.url[:5].lower() == "data:":
        where = f"url={part.url.partition(',')[0][:80]}, {len(part.url):,} characters"
    else:
        where = f"url={part.url}"
    return f"[{part.type} {part.media_type or 'of unknown type'}: {where}]"
