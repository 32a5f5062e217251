"""Summaries are made one segment at a time, each recorded at once, never twice, from turns alone, and never grow."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

import pytest

from ledger import Ledger, Ledgers
from ledger.errors import ClosedLedger, InvalidInput, UnknownLedger
from ledger.events import SummaryRecorded
from projections.compacting.segments import SUMMARY_CHARACTERS
from projections.policy import Policy, SummaryChoice
from projections.summarising import ExtractiveSummariser, SegmentTurns, choice_of, taking, unfounded_strings
from replay.summarising import MOST_IN_VAIN, SummarisedSegment, summarise
from replay.view import Turn, view
from tests.contract.stores import OpenStore
from tests.summaries.talks import POLICY, STATED, Telling, talk, words_of, work


def recorded(case: Ledger) -> list[SummaryRecorded]:
    """The summaries in the record, in order."""
    return [item.event for item in case.events() if isinstance(item.event, SummaryRecorded)]


def test_each_is_recorded_once_with_what_it_was_made_from(open_store: OpenStore) -> None:
    store = open_store()
    case = store.ledger("case")
    talk(case, turns=41)
    told: list[tuple[SummarisedSegment, int, int]] = []
    missing = view(store, "case").missing_summaries(POLICY)
    done = summarise(store, "case", Telling(), POLICY, progress=lambda one, number, of: told.append((one, number, of)))
    assert [(one.first, one.last, one.tokens) for one in done.segments] == [(m.first, m.last, m.tokens) for m in missing]
    assert done.unfinished == ()
    assert told == [(one, number, len(missing)) for number, one in enumerate(done.segments, start=1)]
    assert [(event.first_turn, event.summariser, event.model, event.prompt_hash) for event in recorded(case)] == [
        (one.first, "telling/1", "teller", "p-1") for one in missing
    ]
    version = case.version
    again = Telling()
    assert summarise(store, "case", again, POLICY).segments == ()
    assert (again.seen, case.version) == ([], version)


def test_a_window_takes_them_and_says_which(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=41)
    policy = taking(POLICY, choice_of(Telling()))
    made = summarise(store, "case", Telling(), policy).segments
    window = view(store, "case").window(policy, render="text")
    assert set(window.receipt.summaries) <= {one.id for one in made}
    assert window.receipt.summaries
    assert f"They talked, turns {made[-1].first} to {made[-1].last}." in str(window.request)


def test_a_summariser_sees_turns_alone(store: Ledgers, case: Ledger) -> None:
    """No system text, no summary of its own or another's, no turn of another segment."""
    case.record_turn("system", "You are Mill-Bot. Answer in Frisian.")
    talk(case, turns=41)
    for summariser in (first := Telling(lambda _: "ALPHA-TOLD"), second := Telling(lambda _: "BETA-TOLD", model="other")):
        summarise(store, "case", summariser, POLICY)
    policy = taking(POLICY, choice_of(first))
    for text in (words_of(segment) for segment in (*first.seen, *second.seen)):
        assert not any(word in text for word in ("Mill-Bot", "ALPHA-TOLD", "BETA-TOLD"))
    assert all([turn.number for turn in one.turns] == list(range(one.first, one.last + 1)) for one in first.seen)
    for turns in range(3):
        talk(case, turns=1, first=42 + turns)
        messages = view(store, "case").window(policy).request["messages"]
        assert messages[0] == {"role": "system", "content": "You are Mill-Bot. Answer in Frisian."}
        assert str(messages).count("Mill-Bot") == 1


def test_a_summary_does_not_grow_with_the_compactions(store: Ledgers, case: Ledger) -> None:
    """A summariser that returns what it returned before, and a kilobyte more."""
    before: list[str] = [""]

    def growing(_: SegmentTurns) -> str:
        before.append(before[-1] + "More was said. " * 70)
        return before[-1]

    policy = taking(POLICY, SummaryChoice(summariser="telling/1"))
    sizes = []
    for number in range(48):
        talk(case, turns=8, first=number * 8 + 1)
        summarise(store, "case", Telling(growing), policy)
        sizes.append(view(store, "case").window(policy).receipt.blocks["middle"])
    texts = [event.text for event in recorded(case)]
    assert len(texts) > 40
    assert len(before[-1]) > 40_000
    assert max(map(len, texts)) == SUMMARY_CHARACTERS
    assert max(sizes) <= 3_000 * 25 // 100


def test_it_is_told_when_one_was_cut(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=41)
    done = summarise(store, "case", Telling(lambda segment: "a" * (SUMMARY_CHARACTERS + (segment.first == 1))), POLICY)
    assert [one.is_cut for one in done.segments] == [True] + [False] * (len(done.segments) - 1)


def test_rebuilding_does_not_depend_on_how_often_it_was_compacted_before(store: Ledgers) -> None:
    """A summariser that generalises, three times along the way or once at the end: the same inputs, texts and windows."""
    often, once = store.ledger("often"), store.ledger("once")
    policy = taking(POLICY, choice_of(Telling()))
    seen = Telling(lambda _: "The user gave some particulars.")
    for first in (1, 21, 41):
        talk(often, turns=20, first=first)
        summarise(store, "often", seen, policy)
    talk(once, turns=60)
    for ledger in (often, once):
        for turn, (name, value) in enumerate(STATED.items(), start=2):
            ledger.set_fact(name, value, source="user" if turn // 2 % 2 else "inferred", turn=turn // 2)
    summarise(store, "once", at_once := Telling(lambda _: "The user gave some particulars."), policy)
    assert [one.turns[0].text for one in seen.seen] == [one.turns[0].text for one in at_once.seen]
    assert [one.inputs for one in seen.seen] == [one.inputs for one in at_once.seen]
    assert [(e.first_turn, e.last_turn, e.inputs, e.text) for e in recorded(often)] == [
        (e.first_turn, e.last_turn, e.inputs, e.text) for e in recorded(once)
    ]
    windows = [str(view(store, name).window(policy, render="text").request) for name in ("often", "once")]
    assert windows[0] == windows[1]
    assert [value for value in STATED.values() if value not in windows[0]] == []


def test_another_model_or_prompt_stands_beside(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=41)
    kinds = [
        Telling(lambda _: "by the first model"),
        Telling(lambda _: "by the second model", model="second"),
        Telling(lambda _: "by another prompt", prompt_hash="p-2"),
    ]
    for kind in kinds:
        assert not summarise(store, "case", kind, POLICY).unfinished
    segments = len(kinds[0].seen)
    assert len(recorded(case)) == 3 * segments
    for kind in kinds:
        text = str(view(store, "case").window(taking(POLICY, choice_of(kind)), render="text").request)
        assert [f"by {name}" in text for name in ("the first model", "the second model", "another prompt")] == [
            kind is other for other in kinds
        ]


def test_windows_of_earlier_versions_stay_as_they_were(store: Ledgers, case: Ledger) -> None:
    """And so do the transcript and what was the case before a turn: a summary is one more event."""
    talk(case, turns=60)
    policy = taking(POLICY, choice_of(Telling()))
    version = case.version
    before = [view(store, "case", at=at).window(policy).to_json() for at in (version, Turn(39))]
    transcript = view(store, "case").transcript().transcript
    summarise(store, "case", Telling(), policy)
    summarise(store, "case", Telling(lambda _: "Said anew.", prompt_hash="p-2"), POLICY)
    assert [view(store, "case", at=at).window(policy).to_json() for at in (version, Turn(39))] == before
    assert view(store, "case").transcript().transcript == transcript
    assert view(store, "case").window(policy).to_json() != before[0]


def test_a_failed_segment_keeps_no_other_from_being_done_nor_is_one_done_twice(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=61)
    failing = Telling(fails=(9, 25))
    done = summarise(store, "case", failing, POLICY)
    assert [(one.first, one.why) for one in done.unfinished] == [(9, "the kettle boiled over"), (25, "the kettle boiled over")]
    assert len(failing.seen) == len(done.segments)  # each was tried once
    assert len(recorded(case)) == len(done.segments) - 2
    again = Telling()
    assert not summarise(store, "case", again, POLICY).unfinished
    assert again.firsts == [9, 25]


def test_where_none_can_be_made_the_run_ends_early(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=80)
    down = Telling(fails=range(200), concerns_all=True)
    done = summarise(store, "case", down, POLICY)
    assert len(down.seen) == MOST_IN_VAIN < len(done.segments)
    assert [one.outcome for one in done.segments] == ["failed"] * MOST_IN_VAIN + ["left"] * (len(done.segments) - MOST_IN_VAIN)
    assert done.segments[-1].why == "not tried: the kettle boiled over"


def test_what_was_done_before_a_crash_stays(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=61)

    def crashing(segment: SegmentTurns) -> str:
        if segment.first == 17:
            raise RuntimeError("out of flour")
        return "They talked."

    with pytest.raises(RuntimeError):
        summarise(store, "case", Telling(crashing), POLICY)
    assert [event.first_turn for event in recorded(case)] == [1, 9]
    again = Telling(lambda _: "They talked.")
    summarise(store, "case", again, POLICY)
    assert again.firsts[0] == 17


@pytest.mark.parametrize("text", ["", " \n ", "\t"])
def test_an_empty_text_is_none(store: Ledgers, case: Ledger, text: str) -> None:
    talk(case, turns=41)
    done = summarise(store, "case", Telling(lambda _: text), POLICY)
    assert {one.outcome for one in done.segments} == {"failed"}
    assert recorded(case) == []


def test_runs_beside_each_other_record_each_once(open_shared: OpenStore) -> None:
    stores = [open_shared() for _ in range(4)]
    talk(stores[0].ledger("case"), turns=61)
    ready = threading.Barrier(4)
    found: list[SummarisedSegment] = []

    def run(number: int) -> None:
        ready.wait()
        found.extend(summarise(stores[number], "case", Telling(lambda _: f"Told by {number}."), POLICY).segments)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = recorded(stores[0].ledger("case"))
    firsts = [event.first_turn for event in events]
    assert len(firsts) == len(set(firsts)) > 3
    assert {one.outcome for one in found} <= {"recorded", "known"}
    assert sum(one.outcome == "recorded" for one in found) == len(firsts)


def test_extracts_can_be_recorded(store: Ledgers, case: Ledger) -> None:
    """The same text every time, in the turns' own words, with nothing that does not stand in them."""
    work(case, rounds=20, size=2_000)
    policy = taking(POLICY, choice_of(ExtractiveSummariser()))
    done = summarise(store, "case", ExtractiveSummariser(), policy)
    assert len(done.segments) > 2
    assert not done.unfinished
    assert all(one.unfounded == () for one in done.segments)
    assert [e.text for e in recorded(case)] == [
        ExtractiveSummariser().summarise(segment).text for segment in _segments_of(store)
    ]
    assert view(store, "case").window(policy).receipt.wanting == 0


def _segments_of(store: Ledgers) -> list[SegmentTurns]:
    asked = Telling(name="looking/1")
    summarise(store, "case", asked, POLICY)
    return asked.seen


def test_strings_that_nobody_said_are_reported(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=41)
    told = "In turns 1-8 the delivery LF-90217 at 2032-02-14 06:30 costs 1,274.50 EUR"
    made_up = f"{told}, or 1,275 EUR; see LF-9021 and /srv/oven.log."
    done = summarise(store, "case", Telling(lambda _: made_up), POLICY)
    assert set(done.segments[0].unfounded) == {"1,275 EUR", "LF-9021", "/srv/oven.log"}
    assert "LF-90217" in done.segments[1].unfounded
    assert recorded(case)[0].text == made_up


def test_strings_in_arguments_and_results_were_said(store: Ledgers, case: Ledger) -> None:
    work(case, rounds=20, size=800)
    seen = Telling()
    summarise(store, "case", seen, POLICY)
    turns = seen.seen[0].turns
    assert unfounded_strings("SH-0001 and SH-0002 were looked up, SH-0099 was not.", turns) == ("SH-0099",)


def test_a_policy_that_takes_others_is_refused(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=41)
    seen = Telling()
    with pytest.raises(InvalidInput, match=r"takes no summaries of telling/1 with teller.*compaction\.by") as caught:
        summarise(store, "case", seen, taking(POLICY, SummaryChoice(summariser="telling/1", model="another")))
    assert caught.value.path == "compaction.by"
    assert seen.seen == []


def test_a_closed_ledger_is_refused_before_anything_is_asked(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=41)
    case.close()
    seen = Telling()
    with pytest.raises(ClosedLedger, match="takes no more summaries"):
        summarise(store, "case", seen, POLICY)
    assert seen.seen == []
    with pytest.raises(UnknownLedger):
        summarise(store, "csae", seen, POLICY)


def test_a_summary_made_in_advance_does_not_stop_the_rest(store: Ledgers, case: Ledger) -> None:
    """Prepared for turns 1 to 40 and used at turn 160: what came between is compacted too, and the beginning stays the same."""
    talk(case, turns=41)
    policy = taking(Policy(budget_tokens=6_000), choice_of(Telling()))
    summarise(store, "case", Telling(), policy, which="complete")
    assert [event.last_turn for event in recorded(case)] == [8, 16, 24, 32, 40]
    talk(case, turns=119, first=42)
    costs, texts = [], []
    for number in range(10):
        window = view(store, "case").window(policy)
        costs.append(window.tokens)
        texts.append(window.to_json())
        assert window.receipt.through > 120
        talk(case, turns=1, first=161 + number)
    assert max(costs) <= 6_000
    behind = Telling()
    summarise(store, "case", behind, policy)
    assert min(behind.firsts) == 41  # what was prepared is not made again
    assert view(store, "case").window(policy).receipt.wanting == 0


def test_the_time_of_recording_is_no_input(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=41)
    judged = datetime(2040, 1, 1, tzinfo=UTC)
    assert view(store, "case", judged_at=judged).missing_summaries(POLICY) == view(store, "case").missing_summaries(POLICY)
