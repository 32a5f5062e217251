"""Compaction cannot loop and never grows, however many segments there are and whatever a summariser returned."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ledger import Ledger, Ledgers
from ledger.events import TurnRecorded
from ledger.parts import TextPart
from projections.compacting.segments import SUMMARY_CHARACTERS, inputs_digest
from projections.policy import Compaction, Policy, SummaryChoice
from replay import Turn, view


@pytest.fixture
def case(store: Ledgers) -> Ledger:
    """A new ledger."""
    return store.ledger("case")


def record(case: Ledger, first: int, last: int) -> None:
    """Turns that name something each, a user's with an odd number."""
    turns = [
        TurnRecorded(turn=number, role="user" if number % 2 else "assistant", parts=(TextPart(text=said(number)),))
        for number in range(first, last + 1)
    ]
    case.append(turns)


def said(number: int) -> str:
    """A turn's words."""
    if number % 2:
        return f"Order ORD-{number:05d} goes to gate {number} with /srv/depot_{number}.csv; never ship it by sea."
    return f"Noted, point {number}: it is late again."


@pytest.mark.parametrize("most", [500, pytest.param(3_150, marks=pytest.mark.slow)])
def test_a_window_does_not_grow_with_the_number_of_segments(store: Ledgers, case: Ledger, most: int) -> None:
    policy = Policy(tail_turns=2, budget_tokens=2_000, compaction=Compaction(segment_turns=1))
    sizes = []
    for first, last in ((1, 100), (101, 148), (149, most)):
        record(case, first, last)
        made = view(store, "case").window(policy)
        assert made.receipt.through > last - 60
        sizes.append(made.tokens)
        rows = made.receipt.turns()
        assert [row.turn for row in rows] == list(range(1, last + 1))
        assert sum(total.turns for total in made.receipt.totals.values()) == made.receipt.through
    assert max(sizes) <= 2_000
    assert max(sizes) - min(sizes) < 500
    last_request = view(store, "case").window(policy).request
    assert last_request["messages"][0]["content"].startswith(said(1))


def test_compaction_goes_on_only_when_enough_is_new(store: Ledgers, case: Ledger) -> None:
    policy = Policy(tail_turns=2, budget_tokens=1_200, compaction=Compaction(segment_turns=4))
    through = []
    for number in range(1, 81):
        record(case, number, number)
        through.append(view(store, "case").window(policy).receipt.through)
    steps = [after - before for before, after in pairwise(through)]
    assert through == sorted(through)
    assert through[-1] > 60
    assert all(step % 4 == 0 for step in steps)
    assert sum(step > 0 for step in steps) < 18, "once a segment at most, not at every turn"


def test_segments_are_compacted_before_turns_give_way_one_by_one(store: Ledgers, case: Ledger) -> None:
    policy = Policy(tail_turns=6, budget_tokens=1_500, compaction=Compaction(segment_turns=4))
    for number in range(1, 61):
        words = " It rains on the long way to the quay." * (2 if number % 9 else 16)
        case.record_turn("user" if number % 2 else "assistant", said(number) + words)
        made = view(store, "case").window(policy)
        assert [what for what in made.receipt.gave_way if what.startswith("turn")] == []


def test_asking_again_compacts_nothing_more(store: Ledgers, case: Ledger) -> None:
    record(case, 1, 50)
    policy = Policy(tail_turns=4, budget_tokens=900)
    made = [view(store, "case").window(policy) for _ in range(3)]
    assert len({one.request_bytes for one in made}) == 1
    assert case.version == 50
    assert [row.turn for row in made[0].receipt if row.rule == "tail"] == [46, 47, 48, 49]


def test_what_a_summariser_returned_is_shown_up_to_a_limit(store: Ledgers, case: Ledger) -> None:
    record(case, 1, 60)
    turns = view(store, "case").transcript().transcript.turns
    text = ""
    for first in range(1, 49, 8):
        text += f"Summary of {first}. " + "All went well there. " * 400
        case.record_summary(
            text,
            first_turn=first,
            last_turn=first + 7,
            through_version=case.version,
            inputs=inputs_digest(turns[first - 1 : first + 7]),
            summariser="fake",
        )
    choice = SummaryChoice(summariser="fake")
    policy = Policy(tail_turns=2, budget_tokens=9_000, compaction=Compaction(live_percent=0, text_percent=25, by=(choice,)))
    tight = policy.model_copy(update={"budget_tokens": 1_500})
    whole = view(store, "case").window(policy)
    assert whole.receipt.through == 0, "what fits is not compacted"
    made = view(store, "case").window(tight)
    assert made.tokens <= 1_500
    assert made.receipt.through >= 40
    shown = view(store, "case").window(Policy(tail_turns=2, budget_tokens=3_000, compaction=policy.compaction))
    assert shown.tokens <= 3_000
    assert all(len(text) <= 4 * SUMMARY_CHARACTERS for text in texts(shown.request))


def texts(request: dict[str, object]) -> list[str]:
    """The texts of a request in the form "openai"."""
    messages = request["messages"]
    assert isinstance(messages, list)
    return [str(message["content"]) for message in messages]


def test_a_summary_is_made_of_turns_and_not_of_summaries(store: Ledgers, case: Ledger) -> None:
    record(case, 1, 60)
    policy = Policy(tail_turns=2, budget_tokens=1_300, compaction=Compaction(segment_turns=4))
    at_once = view(store, "case").window(policy).request_bytes
    for number in range(1, 61):
        view(store, "case", at=Turn(number)).window(policy)  # compacts as often as there is something
    assert view(store, "case").window(policy).request_bytes == at_once


def test_a_late_summary_takes_the_place_of_extracts_and_nothing_else(store: Ledgers, case: Ledger) -> None:
    record(case, 1, 40)
    choice = SummaryChoice(summariser="fake", model="small-1")
    policy = Policy(tail_turns=2, budget_tokens=1_000, compaction=Compaction(segment_turns=8, by=(choice,)))
    before = view(store, "case").window(policy)
    assert before.receipt.wanting >= 2
    turns = view(store, "case").transcript().transcript.turns
    version = case.version
    last = before.receipt.through
    made = case.record_summary(
        "The orders of the last days go by road.",
        first_turn=last - 7,
        last_turn=last,
        through_version=version,
        inputs=inputs_digest(turns[last - 8 : last]),
        summariser="fake",
        model="small-1",
    )
    after = view(store, "case").window(policy)
    assert after.receipt.summaries == (made,)
    assert after.receipt.wanting == before.receipt.wanting - 1
    assert "The orders of the last days go by road." in after.text
    assert view(store, "case", at=version).window(policy).request_bytes == before.request_bytes
    case.record_summary(
        "Of other inputs.", first_turn=last - 7, last_turn=last, through_version=version, inputs="0" * 64, summariser="fake"
    )
    assert view(store, "case").window(policy).receipt.summaries == (made,), "one of other turns than these is not taken"


@pytest.mark.parametrize("segment_turns", [100, 200])
def test_the_tail_stands_where_no_segment_begins_among_the_turns_that_are_read(store: Ledgers, segment_turns: int) -> None:
    case = store.ledger("case")
    case.record_turn("user", "Survey the quays.")
    for number in range(180):
        case.record_turn("user" if number % 2 else "assistant", f"Remark {number}. " + "It is raining. " * 10)
    policy = Policy(budget_tokens=1_500, compaction=Compaction(segment_turns=segment_turns))
    assert view(store, "case").window(policy).receipt.effective_tail == policy.tail_turns
