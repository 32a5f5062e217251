"""What a renderer is given: system texts and pieces that somebody chose, from generated histories and from real ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from hypothesis import strategies as st

from ledger import JsonText, Ledgers
from ledger.parts import OpaquePart, ReasoningPart, ToolCallPart
from projections.cards import Card, card_of
from projections.fold import run
from projections.framing import note_price, price, request_price
from projections.pieces import NotePiece, Piece, Pieces, TurnPiece
from projections.policy import Policy
from projections.render import RENDERERS
from projections.render.media import Media
from projections.render.renderer import Count, Renderer
from projections.transcript import Return, SystemText, Transcript, TranscriptFold, Turn
from tests.projections.histories import CONVERSATIONS, NOTES, PICTURE, PNG, TEXTS, Answer, Say, Step

FORMS = tuple(RENDERERS)
PLAIN = Policy()
PROVIDERS = ("openai", "openai_responses", "anthropic", "gemini")


@dataclass(frozen=True)
class Scene:
    """System texts, pieces, and the bytes that they show."""

    system: tuple[SystemText, ...]
    pieces: Pieces
    known: dict[str, bytes]
    policy: Policy = PLAIN

    @property
    def turns(self) -> list[Turn]:
        """The turns of its pieces."""
        return [piece.turn for piece in self.pieces if isinstance(piece, TurnPiece)]

    @property
    def reasoning(self) -> frozenset[str]:
        """The source texts of all reasoning in it."""
        parts = chain.from_iterable(turn.parts for turn in self.turns)
        return frozenset(str(part.raw) for part in parts if isinstance(part, ReasoningPart))

    def render(self, form: str, *, is_complete: bool = True, **more: Any) -> Renderer:
        """It in a form."""
        return RENDERERS[form](self.system, self.pieces, self.policy, Media(self.known, complete=is_complete), **more)

    def priced(self, form: str, count: Count, cards: Iterable[Card] | None = None) -> int:
        """What it costs by adding."""
        renderer = RENDERERS[form]
        replaced: dict[int, int] = {}
        for piece in self.pieces:
            if isinstance(piece, TurnPiece):
                replaced |= {version: count(text) for version, text in piece.replaced.items()}
        given = cards if cards is not None else [card_of(turn, count, self.known) for turn in self.turns]
        said = [part.text for part in self.system if part.text.strip()]
        notes = [piece.text for piece in self.pieces if isinstance(piece, NotePiece)]
        prices = [
            request_price(renderer.framing, 0),
            *(note_price(count(text), renderer.framing) for text in dict.fromkeys(said)),
            *(price(card, renderer.framing, self.policy, renderer.provider, replaced) for card in given),
            *(note_price(count(text), renderer.framing) for text in notes),
        ]
        return sum(prices)


def transcript_of(store: Ledgers, name: str) -> Transcript:
    """The transcript of a ledger."""
    fold = TranscriptFold()
    run([fold], store.ledger(name).events())
    return fold.result()


def scene_of(transcript: Transcript, known: dict[str, bytes] | None = None) -> Scene:
    """Every turn of a transcript, whole."""
    return Scene(transcript.system, tuple(map(TurnPiece, transcript.turns)), known or {})


def _own(model: type[Any], provider: str, raw: str, **more: Any) -> Any:
    return model(provider=provider, raw=JsonText.parse(raw), **more)


_OWN = st.sampled_from(
    [
        _own(ReasoningPart, "gemini", '{ "thoughtSignature": "CtwB\\/8Y=" }'),
        _own(ReasoningPart, "gemini", '{"text": "Two quays.", "thought": true}'),
        _own(OpaquePart, "gemini", '{"executableCode": {"language": "PYTHON", "code": "1"}}', block="executableCode"),
        _own(ReasoningPart, "openai", '{"type": "reasoning", "id": "rs_7", "summary": [], "encrypted_content": "gAAA/="}'),
        _own(
            OpaquePart,
            "openai",
            '{"type":"image_generation_call","id":"ig_1","result":"iVBO","status":"completed"}',
            block="image_generation_call",
        ),
        _own(OpaquePart, "openai", '"Two quays."', block="message.reasoning_content"),
        _own(OpaquePart, "anthropic", '[{"cited_text": "quay"}]', block="text.citations"),
    ]
)
"""What only one provider understands, of all providers."""


def _transcript(steps: list[Step]) -> Transcript:
    """What the ledger would tell of such steps; those that are no turns and no answers are passed over."""
    system: list[SystemText] = []
    turns: list[Turn] = []
    waiting: list[tuple[int, str]] = []
    for version, step in enumerate(steps, 1):
        match step:
            case Say(role="system", parts=parts):
                system.append(SystemText(version, parts))
            case Say(role=role, parts=parts):
                waiting += [(len(turns), part.call_id) for part in parts if isinstance(part, ToolCallPart)]
                turns.append(Turn(len(turns) + 1, version, role, parts))
            case Answer(which=which, parts=found, is_error=is_error) if waiting:
                at, call_id = waiting.pop(which % len(waiting))
                answer = Return(version, call_id, found, is_error, orphan=False, tool=None)
                turns[at] = replace(turns[at], returns=(*turns[at].returns, answer))
    return Transcript(tuple(system), tuple(turns), ())


_KNOWN = {PICTURE: PNG, "1" * 64: b"Row 7 wrong.", "2" * 64: NOTES.encode()}


@st.composite
def _scenes(draw: st.DrawFn) -> Scene:
    transcript = _transcript(draw(CONVERSATIONS))
    known = draw(st.sampled_from([_KNOWN, _KNOWN, {}]))
    pieces: list[Piece] = []
    for turn in transcript.turns:
        if draw(st.integers(0, 5)) == 0:
            pieces.append(NotePiece(draw(TEXTS) + "."))
        if draw(st.integers(0, 3)):
            at = draw(st.integers(0, len(turn.parts)))
            more = draw(st.lists(_OWN, max_size=2)) if turn.role == "assistant" else ()
            said = replace(turn, parts=(*turn.parts[:at], *more, *turn.parts[at:]))
            versions = [found.version for found in turn.returns if draw(st.integers(0, 3)) == 0]
            pieces.append(TurnPiece(said, {version: f"[{draw(TEXTS)}]" for version in versions}))
    pieces.append(NotePiece("The state."))
    return Scene(transcript.system, tuple(pieces), known)


SCENES = _scenes()
"""Pieces chosen from generated histories, with notes of ours and replaced results, and at least one text of a user's side."""


def without(scene: Scene, at: int) -> Scene:
    """The scene without its last pieces from ``at`` on."""
    return replace(scene, pieces=scene.pieces[:at])
