"""Whatever pieces are chosen, the request is one that its provider takes."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from projections.invariants import violations
from projections.render.renderer import plain, request_bytes
from tests.projections.sdk_types import refusals_of
from tests.render.scenes import FORMS, PROVIDERS, SCENES, Scene

KEYS = {
    "openai": {"messages"},
    "openai_responses": {"input", "instructions"},
    "anthropic": {"messages", "system"},
    "gemini": {"contents", "systemInstruction"},
}
"""What a request without tools has: anything else is for whoever sends it."""

AT = st.lists(st.integers(-1, 20), max_size=6).map(tuple)


@settings(deadline=None, max_examples=80)
@given(SCENES, AT)
def test_no_rule_of_a_provider_is_broken(scene: Scene, breakpoints: tuple[int, ...]) -> None:
    for form in PROVIDERS:
        request = scene.render(form, breakpoints=breakpoints).request
        assert request.keys() <= KEYS[form]
        assert violations(form, request, reasoning=scene.reasoning) == ()
        assert violations(form, plain(request)) == ()


@settings(deadline=None, max_examples=25)
@given(SCENES)
def test_the_official_types_take_it(scene: Scene) -> None:
    for form in PROVIDERS:
        assert refusals_of(plain(scene.render(form).request), form) == []


@settings(deadline=None, max_examples=60)
@given(SCENES, AT)
def test_the_same_pieces_give_the_same_bytes(scene: Scene, breakpoints: tuple[int, ...]) -> None:
    for form in FORMS:
        first = request_bytes(scene.render(form, breakpoints=breakpoints).request)
        assert request_bytes(scene.render(form, breakpoints=breakpoints).request) == first
        assert json.loads(first, parse_int=str)
