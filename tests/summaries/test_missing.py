"""Which segments have no summary: those that the policy compacts, takes summaries of, and finds none of as they are now."""

from __future__ import annotations

import pytest

from ledger import Ledger, Ledgers
from projections.policy import Compaction, Policy, SummaryChoice
from projections.summarising import ExtractiveSummariser, choice_of, taking
from replay.summaries import MissingSummary
from replay.summarising import summarise
from replay.view import view
from tests.summaries.talks import POLICY, Telling, talk, work


def ranges(missing: tuple[MissingSummary, ...]) -> list[tuple[int, int]]:
    """The segments by their first and last turns."""
    return [(one.first, one.last) for one in missing]


def test_they_are_the_segments_that_a_window_compacts(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=41)
    policy = taking(POLICY, choice_of(Telling()))
    seen = view(store, "case")
    receipt = seen.window(policy).receipt
    missing = seen.missing_summaries(policy)
    assert ranges(missing) == [(first, first + 7) for first in range(1, receipt.through, 8)]
    assert len(missing) == receipt.wanting > 2
    assert all(one.turns == 8 and one.tokens > 8 * 50 for one in missing)


def test_nothing_is_missing_while_nothing_is_compacted(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=4)
    assert view(store, "case").missing_summaries(POLICY) == ()
    assert view(store, "case").missing_summaries(POLICY, which="complete") == ()


def test_all_complete_segments_can_be_asked_for(store: Ledgers, case: Ledger) -> None:
    """The current turn is in none: what it calls may still be answered."""
    talk(case, turns=16)
    large = Policy(budget_tokens=100_000)
    assert view(store, "case").missing_summaries(large) == ()
    assert ranges(view(store, "case").missing_summaries(large, which="complete")) == [(1, 8)]
    talk(case, turns=1, first=17)
    assert ranges(view(store, "case").missing_summaries(large, which="complete")) == [(1, 8), (9, 16)]


def test_without_a_compaction_or_a_user_turn_nothing_is_missing(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=41)
    assert view(store, "case").missing_summaries(POLICY.model_copy(update={"compaction": None})) == ()
    other = store.ledger("other")
    for _ in range(30):
        other.record_turn("assistant", "Is anybody there? " * 100)
    assert view(store, "other").missing_summaries(POLICY) == ()


def test_a_policy_that_names_no_summaries_misses_those_of_which_there_are_none(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=41)
    assert len(view(store, "case").missing_summaries(POLICY)) > 2
    summarise(store, "case", ExtractiveSummariser(), POLICY)
    assert view(store, "case").missing_summaries(POLICY) == ()
    named = taking(POLICY, choice_of(Telling()))
    assert len(view(store, "case").missing_summaries(named)) > 2


def test_of_choices_any_will_do(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=41)
    summarise(store, "case", Telling(), POLICY)
    either = taking(POLICY, SummaryChoice(model="better"), SummaryChoice(summariser="telling/1"))
    assert view(store, "case").missing_summaries(either) == ()


def test_nothing_is_missed_of_turns_that_are_kept_or_dropped(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=41)
    for turn in range(9, 17):
        case.classify(turn, "keep" if turn % 2 else "drop")
    assert (9, 16) not in ranges(view(store, "case").missing_summaries(POLICY))


def test_a_late_result_makes_it_missing_again(store: Ledgers, case: Ledger) -> None:
    """The window tells it in extracts until then and says so; what was served before stays as it was."""
    work(case, rounds=16, size=1_200, waiting=2)
    case.record_turn("user", "And one more, please. " * 60)
    policy = taking(POLICY, choice_of(Telling()))
    summarise(store, "case", Telling(), policy)
    before = view(store, "case")
    assert before.missing_summaries(policy) == ()
    assert before.window(policy).receipt.wanting == 0
    served = before.window(policy).to_json()
    case.record_return("c2", "SH-0002 was counted again: 7 sacks", turn=5)
    now = view(store, "case")
    assert ranges(now.missing_summaries(policy)) == [(1, 8)]
    assert now.window(policy).receipt.wanting == 1
    assert view(store, "case", at=before.version).window(policy).to_json() == served
    again = Telling()
    summarise(store, "case", again, policy)
    assert again.firsts == [1]
    assert "counted again" in str(again.seen[0].turns)
    assert view(store, "case").window(policy).receipt.wanting == 0


@pytest.mark.parametrize("length", [1, 5, 20])
def test_segments_are_as_long_as_the_policy_says(store: Ledgers, case: Ledger, length: int) -> None:
    talk(case, turns=60)
    policy = POLICY.model_copy(update={"compaction": Compaction(segment_turns=length)})
    missing = view(store, "case").missing_summaries(policy)
    assert missing
    assert all(one.last - one.first + 1 == length for one in missing)
