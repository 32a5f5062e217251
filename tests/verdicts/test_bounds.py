"""Verdicts cost little, however long and however odd a turn is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.verdicts.judging import drops_task, judge
from projections.verdicts.own_words import LOOKED_AT_CHARACTERS
from projections.verdicts.rules import DEFAULT_RULES, PatternRule
from tests.verdicts.turns import among, assistant, user

MOST_SECONDS = 1.0
"""Hundreds of times what is needed: what would run on would take minutes."""

ODD = {
    "one word": "only " * 300_000,
    "one letter": "a" * 1_500_000,
    "questions": "? " * 500_000,
    "tags": "".join(f"<a{number}>" for number in range(200_000)),
    "open fences": "```\n" * 300_000,
    "back quotes": "`" * 1_000_000,
    "refusals": "no not don't never " * 60_000,
    "points": "...." * 300_000,
    "spaces": " " * 1_000_000,
    "open reminders": "<system-reminder>" * 60_000,
    "greetings": "thanks ok hi " * 80_000,
    "apostrophes": "'" * 1_000_000,
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_a_long_turn_takes_no_long_time(text: str) -> None:
    sizes = [text, text[: 2 * LOOKED_AT_CHARACTERS], text[:500]]
    began = time.process_time()
    for said in sizes:
        for turn in (user(said), assistant(said)):
            judge(
                among(turn, before=(assistant(said), user(said)), after=(assistant(said),)),
                DEFAULT_RULES,
                languages=("en", "de"),
            )
    assert time.process_time() - began < MOST_SECONDS


def test_a_pattern_sees_the_beginning_and_the_end_of_a_long_text() -> None:
    rule = PatternRule(name="mine", verdict="stub", pattern="needle")
    most = LOOKED_AT_CHARACTERS
    verdicts = [
        judge(among(user(text)), (rule,)).verdict
        for text in ("needle" + "." * 9 * most, "." * 9 * most + "needle", "." * 4 * most + "needle" + "." * 4 * most)
    ]
    assert verdicts == ["stub", "stub", "compress"]


@given(st.text(max_size=300), st.text(max_size=300), st.sampled_from(["user", "assistant"]))
def test_any_text_gets_a_verdict_and_always_the_same(text: str, before: str, role: str) -> None:
    says, hears = (user, assistant) if role == "user" else (assistant, user)
    first, second = (judge(among(says(text), before=(hears(before),)), DEFAULT_RULES, languages=("en", "de")) for _ in range(2))
    assert first == second
    assert isinstance(drops_task(says(text), DEFAULT_RULES, ("en",)), bool)


@given(
    st.lists(
        st.sampled_from(["thanks", "ok", "hi", "no", "yes", "4,050", "?", "not", "the", "/tmp/a", "refund", "!"]), max_size=8
    )
)
def test_what_is_dropped_holds_nothing_that_could_be_missed(words: list[str]) -> None:
    text = " ".join(words)
    if judge(among(user(text)), DEFAULT_RULES).verdict == "drop":
        assert not {"4,050", "?", "/tmp/a", "refund", "not", "yes", "the"} & set(words)
