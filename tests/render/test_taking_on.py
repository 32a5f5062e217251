"""A request that is made after another takes on what both begin with, and nobody can tell."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import replace
from weakref import ref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.parts import DocumentPart, ImagePart
from projections.pieces import NotePiece, Piece, Pieces, TurnPiece
from projections.policy import Policy
from projections.render.renderer import Renderer, request_bytes
from tests.projections.histories import PICTURE, PNG
from tests.render.building import answering, asking, call, calling, returned, system
from tests.render.scenes import FORMS, PLAIN, SCENES, Scene

TAKING_ON = pytest.mark.parametrize("form", ["openai", "openai_responses", "gemini"])
EACH = pytest.mark.parametrize("form", FORMS)

Told = tuple[bytes, list[object], list[object]]


def told(renderer: Renderer) -> Told:
    """All that can be told of a renderer, in its order."""
    return request_bytes(renderer.request), [*renderer.call_ids.items()], [*renderer.tool_names.items()]


def assert_same(form: str, before: Scene, after: Scene) -> None:
    """What is made after another is what is made of itself alone, and the other stays as it was."""
    first = before.render(form)
    was = told(first)
    assert told(after.render(form, before=first.made)) == told(after.render(form))
    assert told(first) == was


def _noted(draw: st.DrawFn, pieces: list[Piece], others: Pieces) -> None:
    pieces.insert(draw(st.integers(0, len(pieces))), NotePiece(draw(st.sampled_from(["A berth.", "The state.", "\ud800"]))))


def _cut(draw: st.DrawFn, pieces: list[Piece], others: Pieces) -> None:
    del pieces[draw(st.integers(0, len(pieces))) :]


def _left_out(draw: st.DrawFn, pieces: list[Piece], others: Pieces) -> None:
    if pieces:
        del pieces[draw(st.integers(0, len(pieces) - 1))]


def _grown(draw: st.DrawFn, pieces: list[Piece], others: Pieces) -> None:
    pieces += others[: draw(st.integers(0, len(others)))]


def _made_again(draw: st.DrawFn, pieces: list[Piece], others: Pieces) -> None:
    pieces[:] = [replace(piece) for piece in pieces]


def _stubbed(draw: st.DrawFn, pieces: list[Piece], others: Pieces) -> None:
    for place, piece in enumerate(pieces):
        if isinstance(piece, TurnPiece) and piece.turn.returns and draw(st.booleans()):
            pieces[place] = TurnPiece(
                piece.turn, {**piece.replaced, draw(st.sampled_from(piece.turn.returns)).version: "[stub]"}
            )


CHANGES: list[Callable[[st.DrawFn, list[Piece], Pieces], None]] = [_noted, _cut, _left_out, _grown, _made_again, _stubbed]


@st.composite
def _windows(draw: st.DrawFn) -> list[Scene]:
    """Scenes that come of one another by a few changes, in pieces and in all else."""
    scene, others = draw(SCENES), draw(SCENES)
    found = [scene]
    for _ in range(draw(st.integers(1, 4))):
        pieces = [*found[-1].pieces]
        for change in draw(st.lists(st.sampled_from(CHANGES), min_size=1, max_size=2)):
            change(draw, pieces, others.pieces)
        found.append(replace(found[-1], pieces=tuple(pieces)))
    known = draw(st.sampled_from([scene.known, {}, {**scene.known, PICTURE: b"GIF8"}]))
    said = draw(st.sampled_from([scene.system, others.system]))
    named = replace(found[0], policy=Policy(images="name", documents="name"))
    return [*found, replace(found[-1], known=known, system=said), named]


@settings(deadline=None, max_examples=150)
@given(_windows())
def test_whatever_was_made_before_the_request_is_the_same(windows: list[Scene]) -> None:
    for form in FORMS:
        alone = [told(scene.render(form)) for scene in windows]
        for before in windows:
            earlier = before.render(form)
            assert [told(after.render(form, before=earlier.made)) for after in windows] == alone
            assert told(earlier) == told(before.render(form))
        after = windows[0].render(form)
        for at, scene in enumerate(windows):
            after = scene.render(form, before=after.made)
            assert told(after) == alone[at]


@EACH
def test_what_another_form_made_is_not_taken_on(form: str) -> None:
    scene = Scene(system("Plan."), (asking(1), calling(2, call("a|b")), asking(3)), {})
    for other in FORMS:
        assert told(scene.render(form, before=scene.render(other).made)) == told(scene.render(form))


@TAKING_ON
def test_a_window_that_grows_keeps_the_messages_that_it_had(form: str) -> None:
    pieces = (asking(1), calling(2, call("a")), asking(3), calling(4, call("b")), asking(5))
    first = Scene((), (*pieces, NotePiece("The state.")), {}).render(form)
    scene = Scene((), (*pieces, answering(6, "B-02."), NotePiece("The state, changed."), asking(7)), {})
    after = scene.render(form, before=first.made)
    assert told(after) == told(scene.render(form))
    assert after.made is not None
    assert first.made is not None
    assert after.made.taken == len(Scene((), pieces[:-1], {}).render(form).made.messages)  # type: ignore[union-attr]
    for place in range(after.made.taken):
        assert after.made.messages[place] is first.made.messages[place]


@EACH
def test_turns_that_merge_with_what_came_behind_them_are_made_anew(form: str) -> None:
    common = (asking(1), answering(2, "Moored."), asking(3, "Which berth?"))
    before = Scene((), (*common, asking(4, "And when?"), NotePiece("The state.")), {})
    for after in ((*common, NotePiece("The state.")), (*common, answering(4)), (*common, answering(4), asking(5)), common):
        assert_same(form, before, Scene((), after, {}))
        assert_same(form, Scene((), after, {}), before)


@EACH
def test_a_new_tool_may_change_the_names_of_those_that_were_there(form: str) -> None:
    pieces = (asking(1), calling(2, call("a", "read page")), asking(3), calling(4, call("b", "read page")))
    for tool in ("read_page", "read.page", "read page", "look"):
        grown = Scene((), (*pieces, asking(5), calling(6, call("c", tool))), {})
        assert_same(form, Scene((), pieces, {}), grown)
        assert_same(form, grown, Scene((), pieces, {}))


@EACH
def test_a_call_that_stands_there_twice_is_called_as_if_nothing_was_before(form: str) -> None:
    pieces = (asking(1), calling(2, call("a"), call("a")), asking(3), calling(4, call("b")), asking(5))
    scenes = [Scene((), found, {}) for found in (pieces, (*pieces, pieces[3]), pieces[2:], (*pieces[2:], pieces[3]))]
    for before in scenes:
        for after in scenes:
            assert_same(form, before, after)


@EACH
def test_a_result_that_became_a_stub_is_one(form: str) -> None:
    pieces = (asking(1), calling(2, call("a")), asking(3), answering(4, "Yes."), asking(5))
    asked = pieces[1]
    stubbed = replace(asked, replaced={asked.turn.returns[0].version: "[a stub]"})
    before, after = Scene((), pieces, {}), Scene((), (pieces[0], stubbed, *pieces[2:]), {})
    assert b"[a stub]" in told(after.render(form, before=before.render(form).made))[0]
    assert_same(form, before, after)
    assert_same(form, after, before)


@EACH
def test_bytes_that_came_or_went_are_shown_as_they_are_now(form: str) -> None:
    shown = asking(3, ImagePart(sha256=PICTURE, media_type="image/png"))
    result = returned(41, "a", DocumentPart(sha256="2" * 64, media_type="text/plain"))
    pieces = (
        asking(1),
        answering(2, "Yes."),
        shown,
        answering(4, call("a"), returns=(result,)),
        asking(5),
        answering(6, "No."),
    )
    pictures: list[dict[str, bytes]] = [{}, {PICTURE: PNG}, {PICTURE: b"GIF8"}, {PICTURE: PNG, "2" * 64: b"B-07"}]
    scenes = [Scene((), pieces, known) for known in pictures]
    scenes += [replace(scenes[1], policy=PLAIN.model_copy(update={"images": "name"})), replace(scenes[3], pieces=pieces[3:])]
    for before in scenes:
        for after in scenes:
            assert_same(form, before, after)
        assert told(scenes[0].render(form, is_complete=False, before=before.render(form).made)) == told(
            scenes[0].render(form, is_complete=False)
        )


@TAKING_ON
def test_nothing_of_a_window_is_kept_alive_by_those_after_it(form: str) -> None:
    gone = answering(4, "Berth B-07.")
    pieces = (asking(1), answering(2, "Moored."), asking(3))
    first = Scene((), (*pieces, gone), {}).render(form)
    after = Scene((), (*pieces, answering(5, "Berth B-08.")), {}).render(form, before=first.made)
    left = ref(gone)
    del first, gone
    gc.collect()
    assert left() is None
    assert after.made is not None
    assert after.made.taken == 2
