"""A window is priced by adding: never below what is counted in the request, and little above."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.parts import ImagePart
from projections.policy import Policy
from projections.render.renderer import measure
from replay.tokens import counter
from tests.render.building import answering, asking, call, calling
from tests.render.scenes import FORMS, PROVIDERS, SCENES, Scene

ENCODINGS = st.sampled_from(["o200k_base", "cl100k_base"])


@settings(deadline=None, max_examples=80)
@given(SCENES, ENCODINGS, st.booleans())
def test_a_price_is_never_below_what_is_counted(scene: Scene, encoding: str, is_complete: bool) -> None:
    count = counter(encoding)
    for form in FORMS:
        for policy in (Policy(), Policy(image_tokens=0, document_tokens=0), Policy(images="name", documents="name")):
            chosen = replace(scene, policy=policy)
            breakpoints = tuple(range(-1, len(scene.pieces), 2))
            request = chosen.render(form, is_complete=is_complete, breakpoints=breakpoints).request
            assert measure(request, count) <= chosen.priced(form, count), form


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("is_answered", [True, False])
def test_long_ids_of_many_calls_are_priced_wherever_they_stand(form: str, is_answered: bool) -> None:
    names = [sha256(bytes([number])).hexdigest()[:40] for number in range(60)]
    calls = tuple(call(name, f"tool_{name}") for name in names)
    turns = (calling(2, *calls), calling(3, *calls)) if is_answered else (answering(2, *calls), answering(3, *calls))
    scene = Scene((), (asking(1), *turns), {})
    count = counter("o200k_base")
    counted, priced = measure(scene.render(form).request, count), scene.priced(form, count)
    assert counted <= priced
    if form in PROVIDERS:
        assert priced <= counted * 1.03 + 240 * 5 + 60


def test_a_picture_costs_what_shows_it_or_what_names_it() -> None:
    count = counter("o200k_base")
    scene = Scene((), (asking(1, *[ImagePart(sha256="d4" * 32, media_type="image/png")] * 20),), {})
    for policy, most in [(Policy(image_tokens=500), 520), (Policy(image_tokens=500, images="name"), 80)]:
        for form in PROVIDERS:
            chosen = replace(scene, policy=policy)
            assert measure(chosen.render(form).request, count) <= chosen.priced(form, count) < 20 * most
