"""The provided rules that look at calls and at neighbours."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ledger.erased import Forgotten
from ledger.json_text import JsonText
from ledger.parts import DocumentPart, OpaquePart, TextPart
from projections.transcript import Turn
from projections.verdicts.judging import judge
from projections.verdicts.provided import CATALOGUE
from projections.verdicts.rules import DEFAULT_RULES, ProvidedRule
from projections.verdicts.verdict import Judgement
from tests.verdicts.turns import among, assistant, calling, user

FAILED = calling("charge", {"order": "ORD-88213", "amount": 4050}, "timeout", fails=True, number=3)
LONG = "The tenant pays the deposit before moving in, and the landlord keeps it apart from other money. " * 8


def after(turn: Turn, *later: Turn) -> Judgement:
    return judge(among(turn, after=later), DEFAULT_RULES)


def test_a_failed_call_that_was_made_good_is_dropped() -> None:
    again = calling("charge", {"order": "ORD-88213", "amount": 4050}, "charged", number=5)
    assert after(FAILED, again) == ("drop", "failed call")


@pytest.mark.parametrize(
    "later",
    [
        (),
        (calling("charge", {"order": "ORD-88213", "amount": 4050}, "timeout", fails=True),),
        (calling("refund", {"order": "ORD-88213", "amount": 4050}, "refunded"),),
        (calling("charge", {"order": "ORD-11907", "amount": 90, "note": "another customer altogether"}, "charged"),),
        (calling("charge", {"order": "ORD-88213", "amount": 90}, "charged"),),
        (user("Then leave it."), assistant("The charge was not made.")),
    ],
    ids=["nothing", "failed again", "another tool", "another order", "another amount", "given up"],
)
def test_a_failed_call_that_was_not_made_good_stays(later: tuple[Turn, ...]) -> None:
    assert after(FAILED, *later).verdict != "drop"


def test_a_call_that_returned_something_is_never_dropped() -> None:
    worked = calling("charge", {"order": "ORD-88213"}, "charged", text="I apologize for the confusion.")
    assert after(worked, calling("charge", {"order": "ORD-88213"}, "charged")).verdict != "drop"


def test_a_failed_call_among_others_is_not_dropped_with_them() -> None:
    half = replace(FAILED, returns=())
    assert after(half, calling("charge", {"order": "ORD-88213", "amount": 4050}, "charged")).verdict != "drop"


def test_what_was_said_with_a_failed_call_counts() -> None:
    again = calling("charge", {"order": "ORD-88213", "amount": 4050}, "charged", number=5)
    said = replace(FAILED, parts=(TextPart(text="The customer's limit is 9,000 INR."), *FAILED.parts))
    small = replace(FAILED, parts=(TextPart(text="Charging now."), *FAILED.parts))
    assert after(said, again).verdict != "drop"
    assert after(small, again) == ("drop", "failed call")


@pytest.mark.parametrize(
    "text", ["Shall I try that once more?", "See the log in src/charges.py first.", "You must not close it."]
)
def test_a_failed_call_stays_with_whatever_is_said_in_it(text: str) -> None:
    again = calling("charge", {"order": "ORD-88213", "amount": 4050}, "charged", number=5)
    assert after(replace(FAILED, parts=(TextPart(text=text), *FAILED.parts)), again).verdict != "drop"


@pytest.mark.parametrize(
    ("tried", "again", "is_dropped"),
    [
        ({"to": "north quay"}, {"to": "north quay", "via": "canal"}, True),
        ({"to": "north quay", "by": "slow barge"}, {"to": "north gate", "by": "lorry"}, False),
        ({"to": "quay 4", "by": "slow barge"}, {"to": "quay 7", "by": "slow barge"}, False),
        ({"file": "logs/a.txt", "as": "plain text"}, {"file": "a.txt.logs", "as": "plain text"}, False),
    ],
    ids=["the same and more", "few of the words", "another number", "another file of the same words"],
)
def test_a_retry_asks_for_the_same_things(tried: dict[str, str], again: dict[str, str], *, is_dropped: bool) -> None:
    failed = calling("send", tried, "timeout", fails=True)
    assert (after(failed, calling("send", again, "sent")) == ("drop", "failed call")) is is_dropped


def test_a_return_that_answers_no_call_does_not_fail_one() -> None:
    again = calling("charge", {"order": "ORD-88213", "amount": 4050}, "charged", number=5)
    lost = replace(FAILED, returns=(replace(FAILED.returns[0], orphan=True),))
    assert after(lost, again).verdict != "drop"


def test_a_turn_that_is_nearly_all_results_becomes_a_stub() -> None:
    assert after(calling("read", {"path": "a.txt"}, "lorem " * 400)) == ("stub", "results")
    assert after(calling("read", {"path": "a.txt"}, "lorem"), assistant("It says lorem.")) == ("compress", "acted on")


def test_long_texts_of_an_assistant_are_compressed() -> None:
    assert after(assistant(LONG), user("thanks")) == ("compress", "explanation")
    assert after(assistant(LONG), user("Shorter."), assistant(LONG + "That is all.")) == ("compress", "superseded")


def test_a_document_is_compressed_once_it_was_read() -> None:
    pasted = user("What does this lease say of pets?\n" + "The tenant keeps the stairs clean. " * 80)
    assert after(pasted) == ("compress", "otherwise")
    assert after(pasted, assistant("Nothing."), user("thanks")) == ("compress", "document")


def test_what_is_wanted_of_a_document_stands_before_or_after_it() -> None:
    page = "The tenant keeps the stairs clean. " * 40_000
    assert after(user(f"Summarise this, but do not name anybody.\n{page}")).verdict == "keep"
    assert after(user(f"{page}\nSummarise this, but do not name anybody.")).verdict == "keep"


@pytest.mark.parametrize(
    "part",
    [DocumentPart(url="https://example.org/lease.pdf"), OpaquePart(provider="p", block="b", raw=JsonText.of({"x": 1}))],
)
def test_what_comes_with_more_than_text_is_not_dropped(part: DocumentPart | OpaquePart) -> None:
    assert after(replace(user("Hi!"), parts=(TextPart(text="Hi!"), part))).verdict == "compress"


def test_an_assistant_that_says_at_length_what_it_said_before_restates() -> None:
    words = "Tenants and landlords share a garden, a cellar, a laundry, an attic, two gates, a shed, three benches and an oak"
    assert judge(among(assistant(words), before=(assistant(words), user("Go on."))), DEFAULT_RULES) == ("drop", "restatement")
    more = among(assistant(f"{words} tree"), before=(assistant(words), user("Go on.")))
    assert judge(more, DEFAULT_RULES).rule == "otherwise"
    assert judge(among(assistant("All lights are green"), before=(assistant("All lights are green"),)), DEFAULT_RULES) == (
        "compress",
        "otherwise",
    )


CHORES = "Water the garden roses, sweep the stairs, empty the bins"


@pytest.mark.parametrize(
    ("said", "restated", "is_dropped"),
    [
        (CHORES, f"{CHORES}.", True),
        (CHORES, f"{CHORES}?", False),
        (f"{CHORES}, read todo.txt", f"{CHORES}, read todo.txt", False),
        (f"You must not tell Ana. {CHORES}", f"You must not tell Ana. {CHORES}", False),
        (CHORES, "Water the garden roses, sweep the stairs, empty no bins", False),
        (CHORES, f"{CHORES}, then fetch two parcels", False),
        ("Water roses, sweep stairs", "Water roses, sweep stairs", True),
        ("Water roses, sweep", "Water roses, sweep", False),
        (f"{CHORES}{'.' * 2_000}", CHORES, False),
    ],
    ids=["alike", "asked", "exact", "binding", "denied", "more", "four words", "three words", "summed up"],
)
def test_only_what_says_nothing_of_its_own_restates(said: str, restated: str, *, is_dropped: bool) -> None:
    assert (judge(among(assistant(restated), before=(user(said),)), DEFAULT_RULES) == ("drop", "restatement")) is is_dropped


def test_nobody_can_tell_whether_a_forgotten_turn_was_restated() -> None:
    mark = Forgotten("job", "asked", "2031-04-09T17:00:00Z")
    gone = replace(user(CHORES), forgotten=mark)
    assert judge(among(assistant(CHORES), before=(gone,)), DEFAULT_RULES).rule != "restatement"


def test_only_an_assistant_apologises_for_nothing() -> None:
    assert after(assistant("I apologize for the confusion.")) == ("drop", "apology")
    assert after(user("I apologize for the confusion.")).verdict != "drop"


def test_a_one_off_wish_keeps_its_own_words_and_so_its_scope() -> None:
    turns = (user("For this file only, keep the header row."), assistant("Understood."), user("Now the next file."))
    verdicts = [judge(among(turn, before=turns[:place]), DEFAULT_RULES).verdict for place, turn in enumerate(turns)]
    assert verdicts == ["keep", "drop", "compress"]


def test_a_prohibition_is_kept_however_much_is_said_after_it() -> None:
    rule = user("Do NOT send anything to the supplier before I approve.")
    later = tuple(assistant(f"Step {number} is done.", number=number) for number in range(2, 9))
    assert after(rule, *later) == ("keep", "constraint")


@pytest.mark.parametrize(
    "text",
    [
        "```make lint``` fails here. Do not touch the Makefile.",
        "```make lint``` fails.\nDo not touch the Makefile.",
        "```\nmake lint\n``` Do not touch the Makefile.",
        "```sh\nmake lint\n```\nDo not touch the Makefile.",
    ],
)
def test_what_is_said_beside_code_binds(text: str) -> None:
    assert after(user(text)) == ("keep", "constraint")


def test_code_binds_nobody() -> None:
    assert after(user("What does this say?\n```\nDo not touch the Makefile.\n```")).verdict == "compress"
    assert after(user("```\nDo not touch the Makefile.\n```\nWhat does it say?")).verdict == "compress"


def test_what_is_not_a_users_own_word_binds_nobody() -> None:
    assert after(assistant("You must never call it twice.")).verdict == "compress"
    observed = replace(user("Do not edit this file.\n(Current directory: /repo)\nbash-$ "), number=5)
    assert after(observed).verdict == "compress"


def test_every_provided_rule_can_stand_alone() -> None:
    for provided in CATALOGUE:
        assert judge(among(user("thanks")), (ProvidedRule(name=provided.name),)).verdict in ("drop", "compress")


def test_rules_that_need_later_turns_are_known() -> None:
    later = (assistant(LONG), calling("charge", {"order": "ORD-88213", "amount": 4050}, "charged"), user("ok"))
    turns = (FAILED, assistant(LONG), user("lorem " * 500), calling("read", {}, "x"))
    looked = {after(turn, *later).rule for turn in turns} | {after(turn).rule for turn in turns}
    changed = {after(turn, *later).rule for turn in turns if after(turn, *later) != after(turn)}
    assert changed == {provided.name for provided in CATALOGUE if provided.needs_later} & looked
    assert len(changed) >= 4
