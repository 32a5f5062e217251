"""Conversations and request bodies that others had, in every form: valid, priced right, and quick to render.

They are not part of the repository.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import pytest

from delivery.importers.importing import import_file
from ledger.errors import LedgerError
from projections.cards import Card, card_of
from projections.invariants import violations
from projections.pieces import NotePiece, TurnPiece
from projections.render.renderer import Request, measure, plain, request_bytes
from replay.tokens import counter
from tests.projections.sdk_types import refusals_of
from tests.render.scenes import FORMS, PROVIDERS, Scene, transcript_of
from tests.replay.real_conversations import import_bodies, import_conversations, open_store

COUNT = counter("o200k_base")
SHARE, A_MESSAGE, A_REQUEST = 0.03, 12, 60
"""How far a price may be above what is counted: a share of it, tokens for each message and its parts, and for the request."""


@pytest.fixture(scope="module")
def scenes(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Scene]:
    """Every conversation, whole, with a note of ours before its last turn."""
    folder = tmp_path_factory.mktemp("render")
    made = []
    with open_store(str(folder / "store.db")) as store:
        assert import_conversations(store, real_data) == 25
        assert import_bodies(store, real_data, folder) > 30
        for session in sorted((real_data / "b_coding_agents").glob("*/**/*.jsonl")):
            if "claude" in str(session) or "fasthooks" in str(session):
                try_import(store, session)
        for head in store.heads():
            transcript = transcript_of(store, head.name)
            if any(turn.role == "user" for turn in transcript.turns):
                turns = list(map(TurnPiece, transcript.turns))
                made.append(Scene(transcript.system, (*turns[:-1], NotePiece("The state."), *turns[-1:]), {}))
    return made


def try_import(store: object, session: Path) -> None:
    """Some of the sessions are broken on purpose."""
    try:
        import_file(store, session, format="claude_code")  # type: ignore[arg-type]
    except LedgerError:
        return


def prefixes(scene: Scene, step: int) -> Iterator[Scene]:
    """The scene, its beginnings, and what is left of it when its middle is left out."""
    pieces = scene.pieces
    note = (NotePiece("[turns are left out]"),)
    yield scene
    for at in range(1, len(pieces), max(1, len(pieces) // step)):
        yield Scene(scene.system, (*pieces[:at], *note), {})
        yield Scene(scene.system, (*pieces[:1], *note, *pieces[max(1, at - 6) : at]), {})


@pytest.mark.parametrize("form", PROVIDERS)
def test_every_beginning_is_valid(scenes: list[Scene], form: str) -> None:
    for scene in scenes:
        for part in prefixes(scene, 6):
            request = part.render(form, breakpoints=(0, 1)).request
            assert violations(form, request, reasoning=part.reasoning) == ()


@pytest.mark.parametrize("form", PROVIDERS)
def test_the_official_types_take_each(scenes: list[Scene], form: str) -> None:
    for scene in scenes:
        short = Scene(scene.system, scene.pieces[-40:], {})
        assert refusals_of(plain(short.render(form).request), form) == []


@pytest.mark.parametrize("form", FORMS)
def test_prices_are_never_below_and_little_above(scenes: list[Scene], form: str) -> None:
    cards: dict[int, Card] = {}
    for scene in scenes:
        for part in prefixes(scene, 4):
            given = [cards.setdefault(id(turn), card_of(turn, COUNT, {})) for turn in part.turns]
            request = part.render(form).request
            counted, priced = measure(request, COUNT), part.priced(form, COUNT, given)
            assert counted <= priced
            if form in PROVIDERS:
                assert priced <= counted * (1 + SHARE) + A_MESSAGE * pieces_of(request) + A_REQUEST + named_media(given)


def pieces_of(request: Request) -> int:
    """Messages, items and blocks: whatever bears a kind or a role."""
    found = plain(request)
    talk = found.get("messages") or found.get("input") or found.get("contents")
    blocks = (one.get("content") or one.get("parts") or () for one in talk)
    return len(talk) + sum(len(inner) for inner in blocks if isinstance(inner, list)) + len(found.get("system", ()) and [1])


def named_media(cards: list[Card]) -> int:
    """A picture that is only named is priced as if it were shown."""
    contents = [each for card in cards for each in (card.contents, *(result.contents for result in card.results))]
    return sum(1_700 * each.pictures + 3_100 * each.documents for each in contents)


@pytest.mark.parametrize("form", FORMS)
def test_a_window_is_rendered_in_no_time(scenes: list[Scene], form: str) -> None:
    longest = max(scenes, key=lambda scene: len(scene.pieces))
    window = Scene(longest.system, longest.pieces[-40:], {})
    spent = []
    for _ in range(20):
        began = perf_counter()
        request_bytes(window.render(form).request)
        spent.append(perf_counter() - began)
    assert min(spent) < 0.002, "a fifth of it on a machine that is not busy"
