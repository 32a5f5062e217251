"""What later windows begin with too is marked for the cache where the provider has to be told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projections.pieces import NotePiece
from projections.render.renderer import plain, request_bytes
from tests.render.building import answering, asking, call, calling, reasoning, system
from tests.render.scenes import FORMS, SCENES, Scene

MARK = {"type": "ephemeral"}


def marked(request: dict[str, Any]) -> list[Any]:
    """The texts or types of the blocks that are marked, the system text first."""
    messages = [{"content": request.get("system", "")}, *request["messages"]]
    blocks = [block for one in messages if isinstance(one["content"], list) for block in one["content"]]
    return [block.get("text", block["type"]) for block in blocks if block.get("cache_control") == MARK]


def talk() -> tuple[Any, ...]:
    return (asking(1, "The task."), NotePiece("[compacted]"), NotePiece("[state]"), calling(4, call("c1")), asking(5, "So?"))


def test_the_system_text_and_the_end_of_each_stable_block_are_marked() -> None:
    request = plain(Scene(system("Be exact.", "Be brief."), talk(), {}).render("anthropic", breakpoints=(0, 1)).request)
    assert marked(request) == ["Be brief.", "The task.", "[compacted]"]


def test_without_breakpoints_nothing_is_marked() -> None:
    request = Scene(system("Be exact."), talk(), {}).render("anthropic").request
    assert b"cache_control" not in request_bytes(request)


def test_of_too_many_the_last_are_marked() -> None:
    request = plain(Scene(system("Be exact."), talk(), {}).render("anthropic", breakpoints=(-1, 0, 1, 2, 3)).request)
    assert marked(request) == ["Be exact.", "[compacted]", "[state]", "tool_result"]
    request = plain(Scene((), talk(), {}).render("anthropic", breakpoints=(0, 1, 2, 3, 4)).request)
    assert marked(request) == ["[compacted]", "[state]", "tool_result", "So?"]


def test_the_mark_stands_on_the_last_block_that_can_bear_it() -> None:
    raw = '{"type":"thinking","thinking":"Hm.","signature":"EqQB"}'
    pieces = (asking(1, "The task."), answering(2, "Well.", reasoning("anthropic", raw)), asking(3, "So?"))
    request = plain(Scene((), pieces, {}).render("anthropic", breakpoints=(1,)).request)
    assert marked(request) == ["[nothing was said after this reasoning]"]


def test_the_system_text_is_marked_where_it_alone_is_stable() -> None:
    request = plain(Scene(system("Be exact."), talk(), {}).render("anthropic", breakpoints=(-1,)).request)
    assert marked(request) == ["Be exact."]


@settings(deadline=None, max_examples=60)
@given(SCENES, st.lists(st.integers(-1, 20), max_size=9).map(tuple))
def test_marks_change_nothing_else(scene: Scene, breakpoints: tuple[int, ...]) -> None:
    request = plain(scene.render("anthropic", breakpoints=breakpoints).request)
    assert without_marks(request) == without_marks(plain(scene.render("anthropic").request))


@pytest.mark.parametrize("form", [form for form in FORMS if form != "anthropic"])
def test_other_forms_ignore_breakpoints(form: str) -> None:
    scene = Scene(system("Be exact."), talk(), {})
    assert scene.render(form, breakpoints=(0, 2)).request == scene.render(form).request


def without_marks(value: Any) -> Any:
    """Every content as blocks, without marks."""
    if isinstance(value, list):
        return [without_marks(item) for item in value]
    if not isinstance(value, dict):
        return value
    plainer = {name: without_marks(item) for name, item in value.items() if name != "cache_control"}
    for name in ("content", "system"):
        if isinstance(plainer.get(name), str):
            plainer[name] = [{"type": "text", "text": plainer[name]}]
    return plainer
