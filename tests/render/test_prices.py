"""A window is priced by adding: never below what is counted in the request, and little above."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from projections.policy import Policy
from projections.render.renderer import measure
from replay.tokens import counter
from tests.render.scenes import FORMS, SCENES, Scene

ENCODINGS = st.sampled_from(["o200k_base", "cl100k_base"])


@settings(deadline=None, max_examples=120)
@given(SCENES, ENCODINGS, st.booleans())
def test_a_price_is_never_below_what_is_counted(scene: Scene, encoding: str, is_complete: bool) -> None:
    count = counter(encoding)
    for form in FORMS:
        for policy in (Policy(), Policy(image_tokens=0, document_tokens=0), Policy(images="name", documents="name")):
            chosen = replace(scene, policy=policy)
            breakpoints = tuple(range(-1, len(scene.pieces), 2))
            request = chosen.render(form, is_complete=is_complete, breakpoints=breakpoints).request
            assert measure(request, count) <= chosen.priced(form, count), form
