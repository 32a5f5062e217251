"""The order of rules, what wins over them, and what a user's own rules may do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from ledger.erased import Forgotten
from ledger.errors import InvalidInput
from ledger.parts import ImagePart, TextPart
from projections.errors import PolicyUnavailable, UnknownLanguage
from projections.policy_text import policy_from_toml
from projections.verdicts.judging import drops_task, judge
from projections.verdicts.registered import register_rule
from projections.verdicts.rules import DEFAULT_RULES, FunctionRule, PatternRule, ProvidedRule
from projections.verdicts.verdict import Classified, Judgement, Ruled, Surroundings
from tests.verdicts.turns import among, assistant, user

FORGOTTEN = Forgotten("job_1", "asked for", "2031-05-11T09:00:00Z")


def verdict(text: str) -> Judgement:
    return judge(among(user(text)), DEFAULT_RULES)


def test_the_first_rule_that_claims_a_turn_wins() -> None:
    mine = PatternRule(name="mine", verdict="stub", pattern="thanks")
    assert judge(among(user("thanks")), (mine, *DEFAULT_RULES)) == ("stub", "mine")
    assert judge(among(user("thanks")), (*DEFAULT_RULES, mine)) == ("drop", "thanks")
    assert judge(among(user("thanks")), (mine,)) == ("stub", "mine")


def test_what_no_rule_claims_gets_the_verdict_for_the_rest() -> None:
    assert judge(among(user("The printer is on the second floor.")), DEFAULT_RULES) == ("compress", "otherwise")
    assert judge(among(user("thanks")), (), otherwise="keep") == ("keep", "otherwise")


@pytest.mark.parametrize("by", ["person", "model"])
@pytest.mark.parametrize("text", ["thanks", "Never send it.", "The printer is on the second floor."])
def test_a_recorded_classification_wins_over_every_rule(by: str, text: str) -> None:
    said = Classified("stub", "person" if by == "person" else "model")
    assert judge(among(user(text)), DEFAULT_RULES, classified=said) == ("stub", f"classified by {by}")


def test_a_forgotten_turn_may_never_be_kept_whoever_says_so() -> None:
    gone = replace(user("[forgotten]"), parts=(FORGOTTEN,), forgotten=FORGOTTEN)
    rules = (PatternRule(name="all", verdict="keep", pattern="."),)
    assert judge(among(gone), rules, classified=Classified("keep", "person")) == ("never", "forgotten")


def test_what_is_to_be_remembered_is_dropped_by_a_person_alone() -> None:
    turn = among(user("Please remember that I am allergic to nuts."))
    everything = PatternRule(name="all", verdict="drop", pattern=".")
    assert judge(turn, DEFAULT_RULES, classified=Classified("drop", "model")) == ("keep", "remember")
    assert judge(turn, (everything, *DEFAULT_RULES)) == ("keep", "remember")
    assert judge(turn, (everything,)) == ("compress", "otherwise")
    assert judge(turn, (everything,), otherwise="drop") == ("compress", "otherwise")
    assert judge(turn, DEFAULT_RULES, classified=Classified("drop", "person")) == ("drop", "classified by person")
    assert judge(turn, DEFAULT_RULES, classified=Classified("compress", "model")) == ("compress", "classified by model")


def test_a_pattern_may_be_of_one_role_only() -> None:
    rule = PatternRule(name="logs", verdict="stub", pattern=r"^LOG", role="assistant")
    assert judge(among(assistant("LOG 1")), (rule,)) == ("stub", "logs")
    assert judge(among(user("LOG 1")), (rule,)) == ("compress", "otherwise")


@pytest.mark.parametrize("pattern", ["(", "", "a{2,1}", "(a+)+$", "((?:ab)*c*)*", r"(\w+\s?)*x", "x" * 2_001])
def test_a_pattern_that_cannot_be_used_is_refused_at_once(pattern: str) -> None:
    with pytest.raises(ValidationError, match="pattern: "):
        PatternRule(name="mine", verdict="drop", pattern=pattern)


@pytest.mark.parametrize(
    "pattern", ["(ab)+", r"(?:\(a+\))x*", "[(+]+", r"(a+)(b+)", "(a{1,3}b)+", r"a\+\)+", "(?=a+)b+", "(a++b)?"]
)
def test_a_pattern_that_takes_no_long_time_is_taken(pattern: str) -> None:
    assert PatternRule(name="mine", verdict="drop", pattern=pattern).pattern == pattern


def test_a_rule_that_is_not_provided_is_refused() -> None:
    with pytest.raises(ValidationError, match="no rule 'greetings' is provided: take one of remember, "):
        ProvidedRule(name="greetings")


def test_a_function_sees_the_neighbours_and_may_decline() -> None:
    @register_rule("after a question", 1)
    def after_a_question(surroundings: Surroundings) -> Ruled | None:
        return "keep" if surroundings.before and surroundings.before[-1].text.endswith("?") else None

    rule = FunctionRule(name="after a question", version=1)
    assert judge(among(user("Blue."), before=(assistant("Which?"),)), (rule,)) == ("keep", "after a question")
    assert judge(among(user("Blue.")), (rule,)) == ("compress", "otherwise")


@pytest.mark.parametrize(
    ("name", "version", "message"), [("absent", 1, "no function"), ("there", 2, "registered as version 1")]
)
def test_a_function_that_is_not_registered_is_named(name: str, version: int, message: str) -> None:
    register_rule("there", 1)(declines)
    with pytest.raises(PolicyUnavailable, match=message) as caught:
        judge(among(user("Hi")), (FunctionRule(name=name, version=version),))
    assert (caught.value.name, caught.value.version) == (name, version)


def test_a_name_and_a_version_stand_for_one_function_only() -> None:
    register_rule("one", 1)(declines)
    register_rule("one", 1)(declines)
    with pytest.raises(InvalidInput, match="register this one as version 2"):
        register_rule("one", 1)(lambda _: "drop")


def test_a_function_that_returns_no_verdict_is_named() -> None:
    register_rule("odd", 1)(lambda _: "remove")  # type: ignore[arg-type,return-value]
    with pytest.raises(InvalidInput, match="'odd' of version 1 returned 'remove'"):
        judge(among(user("Hi")), (FunctionRule(name="odd", version=1),))


def declines(surroundings: Surroundings) -> Ruled | None:
    return None


def test_no_rule_calls_a_turn_forgotten() -> None:
    """A window tells its reader how many turns were forgotten: a rule that drops a turn has forgotten nothing."""
    register_rule("hides", 1)(lambda _: "never")  # type: ignore[arg-type,return-value]
    with pytest.raises(InvalidInput, match="'hides' of version 1 returned 'never'"):
        judge(among(user("Hi")), (FunctionRule(name="hides", version=1),))
    rule = '[[rules]]\ntype = "pattern"\nname = "mine"\npattern = "x"\nverdict = "never"'
    for text, key in ((rule, r"rules\.0\.verdict"), ('otherwise = "never"', "otherwise")):
        with pytest.raises(InvalidInput, match=f"policy key {key}: Input should be 'keep', 'compress', 'stub' or 'drop'"):
            policy_from_toml(text)


def test_a_language_without_rules_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UnknownLanguage, match=r"'xx': take 'en' \(English\), 'de' \(German\)"):
        judge(among(user("Hi")), DEFAULT_RULES, languages=("en", "xx"))


def test_the_task_is_what_no_drop_rule_claims() -> None:
    turns = [user(text) for text in ("Hi!", "", "thanks", "Refund my order, please.", "Remember: no calls.")]
    assert [drops_task(turn, DEFAULT_RULES, ("en",)) for turn in turns] == [True, True, True, False, False]


def test_a_rule_that_keeps_a_turn_before_keeps_the_task() -> None:
    keeps = PatternRule(name="mine", verdict="keep", pattern="Hi")
    assert not drops_task(user("Hi!"), (keeps, *DEFAULT_RULES), ("en",))


def test_a_forgotten_turn_may_have_been_the_task() -> None:
    assert not drops_task(replace(user("Hi!"), parts=(FORGOTTEN,), forgotten=FORGOTTEN), DEFAULT_RULES, ("en",))


def test_a_picture_is_not_dropped_with_its_greeting() -> None:
    picture = ImagePart(url="https://example.org/receipt.png")
    turn = replace(user("Hi!"), parts=(TextPart(text="Hi!"), picture))
    assert judge(among(turn), DEFAULT_RULES) == ("compress", "otherwise")
    assert not drops_task(turn, DEFAULT_RULES, ("en",))
