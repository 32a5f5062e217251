"""What a page of SpecStory quotes inside fences that are long enough never becomes a turn, whatever it is."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from delivery.importers.specstory_messages import messages
from tests.delivery.importers.test_specstory import AGENT, CHANGE, CLOSE, HEAD, USER, tool

LINES = st.sampled_from(
    [
        *("x", "", "---", "```", "````", "```text", "~~~", "    ```", USER.strip(), AGENT.strip(), CLOSE.strip()),
        '<tool-use data-tool-type="read" data-tool-name="Read"><details>',
        "<think><details><summary>Thought Process</summary>",
        "</details></think>",
    ]
)
HOSTILE = st.lists(LINES, max_size=12).map("\n".join)
PLAIN = st.lists(st.sampled_from(["x", "", "---", "a `b` c", "<details>", "* _**bold**_"]), min_size=1, max_size=6).map(
    "\n".join
)


def fenced(text: str) -> str:
    """A text in a fence that nothing in it can close."""
    longest = max((len(ticks) for ticks in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


@given(st.lists(st.tuples(st.booleans(), PLAIN, HOSTILE), min_size=1, max_size=5))
def test_results_are_told_as_they_were(exchanges: list[tuple[bool, str, str]]) -> None:
    pieces, expected = [], []
    for has_text, said, result in exchanges:
        before = f"{said}\n\n" if has_text and said.strip("\n-") else ""
        pieces += [USER, "ask", CHANGE, AGENT, before, tool(f"`x`\n\n{fenced(result)}"), CHANGE]
        expected += [("User", "ask", None), ("Agent", before.removesuffix("\n\n"), result)]
    text = HEAD + "".join(pieces).removesuffix(CHANGE) + "\n"
    told = [(one.role, one.text, None if one.use is None else one.use.result) for one in messages(text)]
    assert told == expected


@given(st.lists(LINES, max_size=40))
def test_any_lines_are_told_in_order_and_no_text_is_lost(lines: list[str]) -> None:
    text = HEAD + USER + "\n".join(lines) + "\n"
    found: list[Any] = list(messages(text))
    assert [one.line for one in found] == sorted({one.line for one in found})
    kept = "".join(
        "".join(one.thoughts) + one.text + ("" if one.use is None else one.use.asked + (one.use.result or "")) for one in found
    )
    if not any(one.is_torn for one in found):
        assert kept.count("x") >= "\n".join(lines).split("\n").count("x")
