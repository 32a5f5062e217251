"""Turns that a person labelled: each gets the verdict that the person gave, and none is dropped wrongly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from projections.verdicts.judging import judge
from projections.verdicts.rules import DEFAULT_RULES
from projections.verdicts.verdict import Judgement
from tests.verdicts.turns import among, assistant, user

LABELLED: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "labelled.jsonl").read_text(encoding="utf-8").splitlines()
]

DROPPED = [case for case in LABELLED if case["verdict"] == "drop"]
ADDITIONS = [
    "The number is 4471.",
    "See /etc/hosts.",
    "Which one?",
    "Do not send it.",
    "Nicht abschicken, bitte nicht.",
    "Use `rm`.",
]


def judged(case: dict[str, Any], *languages: str) -> Judgement:
    """The verdict on a labelled turn; what stands before it was said by the other side."""
    says, hears = (user, assistant) if case.get("role", "user") == "user" else (assistant, user)
    before = (hears(case["before"]),) if "before" in case else ()
    spoken = languages or (case.get("language", "en"),)
    return judge(among(says(case["text"], number=2), before=before), DEFAULT_RULES, languages=spoken)


@pytest.mark.parametrize("case", LABELLED, ids=lambda case: f"{case['verdict']}: {case['text'][:60]}")
def test_a_turn_gets_the_verdict_of_its_label(case: dict[str, Any]) -> None:
    given = judged(case)
    assert given.verdict == case["verdict"], given


@pytest.mark.parametrize(
    "case", [case for case in LABELLED if case["verdict"] == "drop"], ids=lambda case: str(case["text"][:60])
)
@pytest.mark.parametrize(
    "addition",
    ["The number is 4471.", "See /etc/hosts.", "Which one?", "Do not send it.", "Use `rm`."],
)
def test_a_courtesy_that_says_more_is_no_courtesy(case: dict[str, Any], addition: str) -> None:
    assert judged(case | {"text": f"{case['text']} {addition}"}).verdict != "drop"


def test_languages_are_understood_together() -> None:
    assert {judged(case, "de", "en").verdict for case in DROPPED} == {"drop"}
