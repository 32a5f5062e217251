"""What keeps its sense in fewer words: where each of these rules begins to claim, and what it leaves to others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from projections.transcript import Turn
from projections.verdicts.judging import judge
from projections.verdicts.rules import DEFAULT_RULES
from projections.verdicts.verdict import Judgement
from tests.verdicts.turns import among, assistant, calling, user

NEXT = user("And then?")
DRAFT = (
    "Dear neighbours, the yard will be paved in spring, so please move bicycles, prams, flower pots and benches into the cellar"
    " before work begins; whoever needs help carrying heavy things may ring at the caretaker's door any evening. "
)
SENTENCES = "The quarry opens early and lorries queue along the lane. "
LONG = (SENTENCES * 12)[:600]


def after(turn: Turn, *later: Turn) -> Judgement:
    return judge(among(turn, after=later), DEFAULT_RULES)


@pytest.mark.parametrize(
    ("said", "returned", "is_claimed"), [("", 400, True), ("", 399, False), ("x" * 98, 900, True), ("x" * 98, 899, False)]
)
def test_a_turn_is_its_results_where_these_are_many_times_all_else(said: str, returned: int, *, is_claimed: bool) -> None:
    turn = calling("look", {}, "r" * returned, text=said)
    assert (after(turn) == ("stub", "results")) is is_claimed


def test_results_were_acted_on_once_the_assistant_went_on() -> None:
    turn = calling("look", {"berth": "North"}, "two ships", text="I look it up.")
    assert after(turn, NEXT, assistant("Two ships.")) == ("compress", "acted on")
    assert after(turn, NEXT) == ("compress", "otherwise")
    assert after(replace(turn, returns=()), assistant("Two ships.")) == ("compress", "otherwise")


def test_a_document_is_long_and_a_users_and_two_turns_old() -> None:
    pasted = (SENTENCES * 40)[:2_000]
    assert after(user(pasted), NEXT, NEXT) == ("compress", "document")
    assert after(user(pasted), NEXT) == ("compress", "otherwise")
    assert after(user(pasted[1:]), NEXT, NEXT) == ("compress", "otherwise")
    assert after(assistant(pasted), NEXT, NEXT) == ("compress", "explanation")


def test_an_explanation_is_long_and_an_assistants_and_calls_nothing() -> None:
    assert after(assistant(LONG), NEXT) == ("compress", "explanation")
    assert after(assistant(LONG[1:]), NEXT) == ("compress", "otherwise")
    assert after(assistant(LONG)) == ("compress", "otherwise")
    assert after(user(LONG), NEXT) == ("compress", "otherwise")
    waiting = replace(calling("look", {}, "", text=LONG), returns=())
    assert after(waiting, NEXT) == ("compress", "otherwise")


def test_a_newer_draft_takes_the_place_of_one_with_nearly_the_same_words() -> None:
    draft = assistant(DRAFT * 3)
    newer = assistant(DRAFT * 2 + "Thank you all, and see you at the summer feast by the old fountain. " * 4)
    assert after(draft, NEXT, newer) == ("compress", "superseded")
    assert after(draft, user(newer.text)) == ("compress", "explanation")
    assert after(draft, assistant(DRAFT)) == ("compress", "explanation")
    assert after(draft, assistant(SENTENCES * 20)) == ("compress", "explanation")
    assert after(user(DRAFT * 3), newer).rule != "superseded"
    assert after(assistant(DRAFT), newer).rule == "otherwise"
