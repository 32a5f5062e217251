"""What turns are worth and what they cost: every turn once, under the verdict that windows would give it."""

from __future__ import annotations

from collections import Counter

import pytest

from ledger import Ledgers
from ledger.errors import InvalidInput, UnknownLedger
from projections.auditing.audit import Audit
from projections.presets import PRESETS
from projections.verdicts.verdict import Judgement, Verdict
from replay import view
from replay.audit import audit
from tests.audit.talking import COUNT, OTHER_PAGE, PAGE, judged_alone, look_up, say

TALK = (
    "Please find out where parcel 7 of order ORD-88213 is.",
    "Which depot should I ask?",
    "Do not ask the depot in Ghent.",
    "Understood.",
    "Thanks!",
    "You are welcome!",
    "What else is there about rail?",
    OTHER_PAGE,
    "I see. And by road?",
    "By road it takes two days.",
)


def turns_of(found: Audit, verdict: Verdict) -> int:
    return sum(row.turns for row in found.rules if row.verdict == verdict)


def test_every_turn_counts_once(store: Ledgers) -> None:
    """Numbers, tokens and shares add up, and are those that the texts have by themselves."""
    say(store.ledger("talk"), *TALK)
    found = audit(store, ["talk"], policies={})
    assert (found.turns, found.tokens) == (len(TALK), sum(map(COUNT, TALK)))
    assert sum(row.turns for row in found.kinds) == sum(row.turns for row in found.rules) == found.turns
    assert sum(row.tokens for row in found.kinds) == sum(row.tokens for row in found.rules) == found.tokens
    assert sum(row.share for row in found.kinds) == pytest.approx(1)
    assert sum(row.turn_share for row in found.kinds) == pytest.approx(1)
    assert sum(row.share for row in found.rules) == pytest.approx(1)
    assert all(row.share == row.tokens / found.tokens and row.turn_share == row.turns / found.turns for row in found.kinds)


def test_the_verdicts_are_those_of_the_rules(store: Ledgers) -> None:
    """More turns than are judged together: where one lot ends, its last turns see what comes after, and the next what was."""
    case = store.ledger("long")
    for place in range(21):
        say(case, f"Where is order ORD-{place:05}?", "Understood.", "Thanks!", f"Shall I send parcel {place}?", "ok")
        look_up(case, "search", f"order {place}", PAGE if place % 2 else "none")
    say(case, "Never call me before 9:00.", OTHER_PAGE)
    policy = PRESETS["support"]
    expected = Counter([Judgement("keep", "task"), *judged_alone(store, "long", policy)[1:]])
    found = audit(store, ["long"], policies={"support": policy}).rules
    assert {Judgement(row.verdict, row.rule): row.turns for row in found} == expected
    assert {"answer", "results", "acted on", "thanks", "constraint"} <= {row.rule for row in found}


def test_stubs_count_as_compressed_and_have_a_row_of_their_own(store: Ledgers) -> None:
    case = store.ledger("stubs")
    say(case, "Read the page about the depot in Ghent.")
    look_up(case, "read_page", "Ghent", PAGE)
    say(case, "And what does it say of Lyon?", "Nothing at all.")
    kinds = {row.kind: row for row in audit(store, ["stubs"], policies={}).kinds}
    assert list(kinds) == ["keep", "compress", "drop", "never"]
    rows = {row.verdict: row for row in kinds["compress"].verdicts}
    assert rows["stub"].turns == 1
    assert COUNT(PAGE) < rows["stub"].tokens < COUNT(PAGE) + 40
    assert kinds["compress"].turns == rows["stub"].turns + rows["compress"].turns == 3
    assert kinds["compress"].tokens == rows["stub"].tokens + rows["compress"].tokens


def test_what_a_person_said_of_a_turn_wins(store: Ledgers) -> None:
    case = store.ledger("talk")
    say(case, *TALK)
    before = audit(store, ["talk"], policies={})
    case.classify(3, "drop", by="person")
    case.classify(8, "keep", by="model")
    after = audit(store, ["talk"], policies={})
    assert turns_of(after, "drop") == turns_of(before, "drop") + 1
    assert {(row.rule, row.verdict, row.turns) for row in after.rules} >= {
        ("classified by person", "drop", 1),
        ("classified by model", "keep", 1),
    }
    assert after.governing.number == before.governing.number - 1


def test_courtesies_and_what_governs_have_rows_of_their_own(store: Ledgers) -> None:
    say(store.ledger("talk"), *TALK)
    found = audit(store, ["talk"], policies={})
    courtesies = [text for text in TALK if text in ("Understood.", "Thanks!", "You are welcome!")]
    assert (found.courtesies.number, found.courtesies.tokens) == (3, sum(map(COUNT, courtesies)))
    governing = [TALK[0], TALK[2]]
    assert (found.governing.number, found.governing.tokens) == (2, sum(map(COUNT, governing)))
    assert found.governing.share == found.governing.tokens / found.tokens


def test_results_are_spent_once_an_assistant_went_on(store: Ledgers) -> None:
    case = store.ledger("spent")
    say(case, "Read both pages.")
    look_up(case, "read_page", "Ghent", PAGE)
    found = audit(store, ["spent"], policies={})
    assert (found.results.number, found.spent_results.number) == (1, 0)
    assert found.results.tokens == COUNT(PAGE)
    say(case, "Well?")
    assert audit(store, ["spent"], policies={}).spent_results.number == 0
    look_up(case, "read_page", "Lyon", OTHER_PAGE)
    found = audit(store, ["spent"], policies={})
    assert (found.results.number, found.results.tokens) == (2, COUNT(PAGE) + COUNT(OTHER_PAGE))
    assert (found.spent_results.number, found.spent_results.tokens) == (1, COUNT(PAGE))
    assert found.spent_results.share == COUNT(PAGE) / found.tokens
    say(case, "And now?", "Both were read.", "Sure?", "Yes.")
    assert audit(store, ["spent"], policies={}).spent_results.number == 2


def test_several_ledgers_are_summed(store: Ledgers) -> None:
    say(store.ledger("one"), *TALK)
    other = store.ledger("two")
    other.record_turn("system", "Answer in one line.")
    say(other, "Read the page.")
    look_up(other, "read_page", "Ghent", PAGE)
    both, one, two = (audit(store, names, policies={}) for names in (["one", "two"], ["one"], ["two"]))
    for name in ("turns", "tokens", "system_tokens"):
        assert getattr(both, name) == getattr(one, name) + getattr(two, name) > 0
    for name in ("courtesies", "governing", "results", "spent_results"):
        assert getattr(both, name).tokens == getattr(one, name).tokens + getattr(two, name).tokens
    assert [row.tokens for row in both.kinds] == [a.tokens + b.tokens for a, b in zip(one.kinds, two.kinds, strict=True)]
    assert both.ledgers == (*one.ledgers, *two.ledgers)
    assert both.system_tokens == COUNT("Answer in one line.")


def test_a_ledger_without_turns_costs_nothing(store: Ledgers) -> None:
    store.ledger("empty").open(task="nothing yet")
    found = audit(store, ["empty"])
    assert (found.turns, found.tokens, [row.share for row in found.kinds]) == (0, 0, [0, 0, 0, 0])
    assert found.everything is not None
    assert found.everything.decisions == 0


def test_what_was_forgotten_is_of_its_own_kind(store: Ledgers) -> None:
    case = store.ledger("talk")
    say(case, *TALK)
    look_up(case, "read_page", "Ghent", f"{PAGE} The key is swordfish-4471.")
    say(case, "My card is 4000-1234-9010.", "Thank you.")
    assert b"swordfish" not in audit(store, ["talk"], policies={}).to_json()
    case.forget(turns=[12], reason="nobody needs it")
    found = audit(store, ["talk"], policies={})
    assert {row.kind: row.turns for row in found.kinds}["never"] == 1
    assert b"4000" not in found.to_json()


def test_the_profile_tells_the_same_along_the_conversation(store: Ledgers) -> None:
    """However long it is, it has a bounded number of steps."""
    case = store.ledger("long")
    for place in range(150):
        say(case, f"Where is order ORD-{place:05}?", "Understood.")
    say(case, "Thanks!")
    found = audit(store, ["long"], policies={})
    steps = found.ledgers[0].profile
    assert len(steps) <= 128
    assert [step.first for step in steps[1:]] == [step.last + 1 for step in steps[:-1]]
    assert (steps[0].first, steps[-1].last) == (1, 301)
    for kind in found.kinds:
        assert sum(step.tokens.get(row.verdict, 0) for step in steps for row in kind.verdicts) == kind.tokens
    assert steps[0].tokens == {
        "compress": 2 * COUNT("Understood.") + COUNT("Where is order ORD-00001?"),
        "keep": COUNT("Where is order ORD-00000?"),
    }


@pytest.mark.parametrize("names", [[], ["talk", "talk"]])
def test_no_ledger_and_the_same_twice_are_refused(store: Ledgers, names: list[str]) -> None:
    say(store.ledger("talk"), *TALK)
    with pytest.raises(InvalidInput, match="name"):
        audit(store, names)


def test_a_name_alone_is_no_list_of_names(store: Ledgers) -> None:
    say(store.ledger("talk"), *TALK)
    with pytest.raises(InvalidInput, match="'talk': give a list of names"):
        audit(store, "talk")


def test_an_unknown_ledger_is_named(store: Ledgers) -> None:
    say(store.ledger("talk"), *TALK)
    with pytest.raises(UnknownLedger, match="talk"):
        audit(store, ["tlak"])


def test_it_reads_as_of_now(store: Ledgers) -> None:
    case = store.ledger("talk")
    say(case, *TALK)
    before = audit(store, ["talk"], policies={})
    say(case, "One more thing: rail.")
    after = audit(store, ["talk"], policies={})
    assert (after.turns, after.ledgers[0].version) == (before.turns + 1, view(store, "talk").version)
