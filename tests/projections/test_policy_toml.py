"""A policy as TOML is the policy, and says what every key means."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from ledger.errors import InvalidInput
from projections.policy import Compaction, Policy, StubRules, SummaryChoice
from projections.policy_text import policy_from_toml
from projections.policy_toml import MEANINGS, policy_to_toml
from projections.presets import PRESETS
from projections.state_block import BlockOptions
from projections.verdicts.rules import FunctionRule, PatternRule, ProvidedRule

PARTS: dict[str, type[BaseModel]] = {
    "": Policy,
    "stubs.": StubRules,
    "compaction.": Compaction,
    "compaction.by.": SummaryChoice,
    "state.": BlockOptions,
}

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).map(str.strip).filter(bool)


def test_every_key_has_a_meaning_and_every_meaning_a_key() -> None:
    assert set(MEANINGS) == {f"{prefix}{key}" for prefix, part in PARTS.items() for key in part.model_fields}


@pytest.mark.parametrize("name", PRESETS)
def test_every_key_of_a_preset_stands_in_its_text(name: str) -> None:
    text = policy_to_toml(PRESETS[name])
    given_up = [part for part in ("compaction", "state") if getattr(PRESETS[name], part) is None]
    for path, meaning in MEANINGS.items():
        assert (meaning in text) is not any(path.startswith(f"{part}.") for part in given_up) or path.startswith(
            "compaction.by."
        )


STUBS = st.builds(
    StubRules, excluded_tools=st.lists(NAMES, max_size=20).map(tuple), older_than_turns=st.none() | st.integers(0, 99)
)
COMPACTIONS = st.builds(Compaction, by=st.lists(st.builds(SummaryChoice, model=st.none() | NAMES), max_size=3).map(tuple))
RULES = (
    st.builds(PatternRule, name=NAMES, verdict=st.sampled_from(["keep", "drop"]), pattern=st.just("(?i)\\bcosts?\\b\"'"))
    | st.builds(FunctionRule, name=NAMES, version=st.integers(1, 9))
    | st.sampled_from([ProvidedRule(name="constraint"), ProvidedRule(name="failed call")])
)
VALUES = {
    "tail_tokens": st.none() | st.integers(0, 10**9),
    "model": st.none() | NAMES,
    "pins": st.lists(st.integers(1, 10**6), max_size=40).map(tuple),
    "languages": st.sampled_from([("en",), ("de",), ("en", "de")]),
    "stubs": STUBS,
    "compaction": st.none() | COMPACTIONS,
    "state": st.none() | st.builds(BlockOptions, provenance=st.booleans()),
    "rules": st.lists(RULES, max_size=6).map(tuple),
}


@given(st.fixed_dictionaries({}, optional=VALUES))
def test_what_is_written_is_read_as_the_same_policy(values: dict[str, Any]) -> None:
    policy = Policy(**values)
    read = policy_from_toml(policy_to_toml(policy))
    assert read == policy
    assert read.digest == policy.digest


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ("budget_tokens = true", "budget_tokens", "give a whole number (it is True)"),
        ("[compaction]\nsegment_turns = false", "compaction.segment_turns", "give a whole number (it is False)"),
        ("budget_tokens = 8_000.0", "budget_tokens", "give a whole number (it is 8000.0)"),
        ('budget_tokens = "8000"', "budget_tokens", "give a whole number (it is '8000')"),
        ("pins = [1.0]", "pins.0", "give a whole number (it is 1.0)"),
        ("[state]\nmost_entries = true", "state.most_entries", "give a whole number (it is True)"),
        ('pins_task = "no"', "pins_task", "give true or false"),
        ("[stubs]\nspent = 0", "stubs.spent", "give true or false"),
        ("[stubs]\nspnt = true", "stubs.spnt", "no such key: did you mean spent?"),
        ("[stubs]\nxxxxxxxx = true", "stubs.xxxxxxxx", "no such key"),
        ('preset = "sliding"\n[compaction]\nsegment_turn = 4', "compaction.segment_turn", "did you mean segment_turns?"),
        ('[[compaction.by]]\nsumariser = "x"', "compaction.by.0.sumariser", "no such key: did you mean summariser?"),
        ('[[rules]]\ntype = "function"\nname = "x"\nversion = 1\nverson = 1', "rules.0.verson", "did you mean version?"),
        ('[[rules]]\nname = "x"\nverdict = "keep"\npattern = "a"', "rules.0", 'rules.0.type = "pattern"'),
        ('[[rules]]\ntype = "patern"\nname = "x"', "rules.0", "there is no type 'patern': rules.0.type is \"pattern\""),
        ('rules = "constraint"', "rules", "give a list (it is 'constraint')"),
        ("pins = 3", "pins", "give a list (it is 3)"),
        ("stubs = false", "stubs", "give a table of keys (it is False)"),
        ("compaction = true", "compaction", "give a table of keys, or false to leave it out (it is True)"),
        ('state = "off"', "state", "give a table of keys, or false to leave it out (it is 'off')"),
        ('[compaction]\nby = ["gpt"]', "compaction.by.0", "give a table of keys (it is 'gpt')"),
        ('rules = ["constrant"]', "rules.0.name", "rules.0.name: no rule 'constrant' is provided"),
        ('[[rules]]\ntype = "pattern"\nname = "x"\nverdict = "kep"\npattern = "a"', "rules.0.verdict", "'keep'"),
        ('[[rules]]\ntype = "pattern"\nname = "x"\nverdict = "keep"\npattern = "("', "rules.0.pattern", "missing )"),
        ('encoding = "o200k"', "encoding", "encoding: no token encoding is known for 'o200k'; nearest: o200k_base"),
        ('encoding = "claude-opus-5"', "encoding", "choose o200k_base or cl100k_base by name"),
        ('languages = ["en", "xx"]', "languages", "languages: there are no rules for the language 'xx': take 'en'"),
        ("tail_turns = -1", "tail_turns", "greater than or equal to 0 (it is -1)"),
        ("[compaction]\nlive_percent = 80\nkept_percent = 20", "compaction", "125 together: at most 90"),
        ("reserve_tokens = 9_000", "reserve_tokens", "nothing is left for the request"),
    ],
)
def test_what_is_wrong_is_said_with_its_key(text: str, key: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        policy_from_toml(text)
    assert refusal.value.path == key
    assert said in str(refusal.value)


ALL_WRONG = """
tial_turns = 3
preset = "codin"
budget_tokens = "much"
reserve_tokens = true
encoding = "o300k"
languages = ["xx"]
rules = ["constrant", { type = "function", name = "mine", version = 0 }]

[compaction]
segment_turns = 0
live_percent = 91

[stubs]
spnt = true
"""


def test_all_mistakes_are_told_at_once_in_their_order_a_line_each() -> None:
    with pytest.raises(InvalidInput) as refusal:
        policy_from_toml(ALL_WRONG)
    lines = str(refusal.value).splitlines()
    assert [line.partition(": ")[0] for line in lines] == [
        "a policy has no key tial_turns",
        "no preset 'codin' (did you mean 'coding'?)",
        "policy key budget_tokens",
        "policy key reserve_tokens",
        "policy key encoding",
        "policy key languages",
        "policy key rules.0.name",
        "policy key rules.1.version",
        "policy key compaction.segment_turns",
        "policy key compaction.live_percent",
        "policy key stubs.spnt",
    ]
    assert refusal.value.path == "tial_turns"
    assert refusal.value.mistakes == tuple(lines)


def test_what_a_reserve_leaves_is_told_beside_other_mistakes() -> None:
    with pytest.raises(InvalidInput) as refusal:
        policy_from_toml("tail_turns = -1\nreserve_tokens = 9_000")
    assert [line.partition(": ")[0] for line in str(refusal.value).splitlines()] == [
        "policy key tail_turns",
        "policy key reserve_tokens",
    ]


def test_what_the_shares_are_together_is_told_beside_other_mistakes_of_the_table() -> None:
    with pytest.raises(InvalidInput) as refusal:
        policy_from_toml("[compaction]\nsegment_turns = 0\nsegmnt_turns = 4\nlive_percent = 91\nkept_percent = 70")
    together = "policy key compaction: the percentages of kept, text and exact are 95 together: at most 90"
    assert sorted(str(refusal.value).splitlines()) == [
        "policy key compaction.live_percent: Input should be less than or equal to 90 (it is 91)",
        "policy key compaction.segment_turns: Input should be greater than or equal to 1 (it is 0)",
        "policy key compaction.segmnt_turns: there is no such key: did you mean segment_turns?",
        f"{together}, since task, state and the last turns need room too",
    ]


def test_what_the_shares_are_together_is_told_of_those_that_are_not_given_too() -> None:
    with pytest.raises(ValidationError, match="the percentages of live, kept, text and exact are 91 together"):
        Compaction(live_percent=46)
    assert Compaction(live_percent=45).percent == 90


NUMBERS = {
    Policy: {
        "tail_turns",
        "tail_exchanges",
        "tail_tokens",
        "budget_tokens",
        "reserve_tokens",
        "image_tokens",
        "document_tokens",
    },
    StubRules: {"older_than_turns", "larger_than_tokens", "clear_at_least_tokens"},
    Compaction: {"segment_turns", "live_percent", "kept_percent", "text_percent", "exact_percent"},
    BlockOptions: {"most_entries", "most_characters", "budget_tokens"},
}
SWITCHES = {Policy: {"pins_task"}, StubRules: {"spent"}, BlockOptions: {"provenance", "task"}}


@pytest.mark.parametrize(("part", "key"), [(part, key) for part, keys in NUMBERS.items() for key in sorted(keys)])
@pytest.mark.parametrize("value", [True, 1.0, "1"])
def test_a_number_is_a_whole_one_in_python_as_in_toml(part: type[BaseModel], key: str, value: object) -> None:
    with pytest.raises(ValidationError, match=f"{key}\n.*give a whole number \\(it is {value!r}\\)"):
        part(**{key: value})


@pytest.mark.parametrize(("part", "key"), [(part, key) for part, keys in SWITCHES.items() for key in sorted(keys)])
@pytest.mark.parametrize("value", [1, 0.0, "yes"])
def test_a_switch_is_true_or_false_in_python_as_in_toml(part: type[BaseModel], key: str, value: object) -> None:
    with pytest.raises(ValidationError, match=f"{key}\n.*give true or false \\(it is {value!r}\\)"):
        part(**{key: value})


def test_the_number_of_a_pin_and_the_version_of_a_rule_are_whole_ones() -> None:
    with pytest.raises(ValidationError, match=r"pins.0\n.*give a whole number"):
        Policy(pins=(True,))
    with pytest.raises(ValidationError, match=r"version\n.*give a whole number"):
        FunctionRule.model_validate({"name": "ours", "version": "1"})


@pytest.mark.parametrize("name", [name for name, preset in PRESETS.items() if preset.compaction is not None])
def test_a_recorded_summary_can_be_named_below_a_policy_that_was_written_out(name: str) -> None:
    written = policy_to_toml(PRESETS[name]) + '\n[[compaction.by]]\nsummariser = "extractive/1"\n'
    compaction = policy_from_toml(written).compaction
    assert compaction is not None
    assert compaction.by == (SummaryChoice(summariser="extractive/1"),)


PRESET = PRESETS["coding"]
WRONG_COPIES = [
    (PRESET, {"budget_tokens": 0}, r"budget_tokens\n.*greater than or equal to 1"),
    (PRESET, {"budget_tokens": True}, r"budget_tokens\n.*give a whole number"),
    (PRESET, {"tial_turns": 3}, r"tial_turns\n.*[Ee]xtra"),
    (PRESET, {"reserve_tokens": 10**9}, "nothing is left for the request"),
    (Policy(reserve_tokens=400), {"budget_tokens": 400}, "nothing is left for the request"),
    (PRESET, {"stubs": StubRules, "state": "lines"}, "2 validation errors for Policy"),
    (StubRules(), {"spent": "yes"}, r"spent\n.*give true or false"),
    (Compaction(), {"live_percent": 80}, "are 125 together"),
    (SummaryChoice(), {"modle": "x"}, "modle"),
    (BlockOptions(), {"form": "yaml"}, "form"),
    (ProvidedRule(name="constraint"), {"name": "constrant"}, "no rule 'constrant' is provided"),
    (PatternRule(name="x", verdict="keep", pattern="a"), {"pattern": "("}, "missing \\)"),
    (FunctionRule(name="x", version=1), {"version": 0}, "version"),
]


@pytest.mark.parametrize(("part", "update", "said"), WRONG_COPIES)
def test_a_copy_with_what_may_not_stand_in_a_policy_is_refused(part: BaseModel, update: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        part.model_copy(update=update)


@given(st.fixed_dictionaries({}, optional=VALUES), st.booleans())
def test_a_copy_is_what_is_made_anew(values: dict[str, Any], deep: bool) -> None:
    policy = Policy(budget_tokens=9_000)
    assert policy.digest == Policy(budget_tokens=9_000).digest
    copied, made = policy.model_copy(update=values, deep=deep), Policy(budget_tokens=9_000, **values)
    assert (copied, copied.digest, copied.leaving) == (made, made.digest, made.leaving)
    assert copied.model_fields_set == made.model_fields_set
    assert policy.digest == Policy(budget_tokens=9_000).digest


def test_an_encoding_that_is_not_known_is_refused_when_the_policy_is_made() -> None:
    with pytest.raises(ValidationError, match=r"encoding\n.*'gpt4o'; nearest: gpt-4o"):
        Policy(encoding="gpt4o")
    assert Policy(encoding="gpt-4o-2024-11-20").encoding == "gpt-4o-2024-11-20"
