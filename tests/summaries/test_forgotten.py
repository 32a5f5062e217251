"""No summariser is shown what was forgotten, and nothing it made of that stays; of what is past its retention none is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from ledger import Ledger, Ledgers, connect
from ledger.events import SummaryRecorded
from projections.summarising import SegmentTurns, choice_of, taking
from replay.summaries import MissingSummary
from replay.summarising import summarise
from replay.view import view
from tests.contract.stores import OpenStore
from tests.summaries.talks import POLICY, Telling, talk, words_of, work

DAY: Final = 86_400 * 1_000_000
REASON: Final = "asked to"


def recorded(case: Ledger) -> list[SummaryRecorded]:
    """The summaries in the record, in order."""
    return [item.event for item in case.events() if isinstance(item.event, SummaryRecorded)]


def missing(store: Ledgers) -> tuple[MissingSummary, ...]:
    """What a policy misses that takes the summaries of a plain summariser."""
    return view(store, "case").missing_summaries(taking(POLICY, choice_of(Telling())))


def test_forgotten_content_is_shown_to_none(open_store: OpenStore) -> None:
    store = open_store()
    case = store.ledger("case")
    work(case, rounds=18, size=1_600)
    result = next(item.version for item in case.events() if item.envelope.type == "tool.returned" and item.turn == 5)
    case.forget(turns=[1], reason=REASON)
    case.forget(ids=[f"r_{result}"], reason=REASON)
    seen = Telling()
    assert not summarise(store, "case", seen, POLICY).unfinished
    text = words_of(seen.seen[0])
    assert [turn.number for turn in seen.seen[0].turns] == [2, 3, 4, 5, 6, 7, 8]
    assert "SH-0001 holds" in text
    assert not any(word in text for word in ("shelf 1 ", "SH-0002 holds", "[forgotten]"))
    assert missing(store) == ()


def test_a_summary_goes_with_a_turn_and_is_made_of_the_others(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=41)
    summarise(store, "case", Telling(), POLICY)
    case.forget(turns=[10], reason=REASON)
    assert [(one.first, one.turns) for one in missing(store)] == [(9, 7)]
    again = Telling(lambda _: "Told of the rest.")
    assert [one.outcome for one in summarise(store, "case", again, POLICY).segments] == ["recorded"]
    assert [turn.number for turn in again.seen[0].turns] == [9, 11, 12, 13, 14, 15, 16]
    assert missing(store) == ()


def test_of_a_segment_that_is_forgotten_whole_nothing_is_missing(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=41)
    case.forget(turns=list(range(9, 17)), reason=REASON)
    assert 9 not in [one.first for one in missing(store)]


def test_forgetting_while_a_summary_is_made_leaves_nothing_and_the_run_goes_on(open_store: OpenStore) -> None:
    store = open_store()
    case = store.ledger("case")
    talk(case, turns=61)

    def slow(segment: SegmentTurns) -> str:
        if segment.first == 9:
            case.forget(turns=[12], reason=REASON)
        return f"They said: {segment.turns[3].text}"

    done = summarise(store, "case", Telling(slow), POLICY)
    assert [(one.first, one.outcome) for one in done.unfinished] == [(9, "refused")]
    assert "was forgotten" in (done.unfinished[0].why or "")
    assert [event.first_turn for event in recorded(case)] == [one.first for one in done.segments if one.first != 9]
    again = Telling()
    assert not summarise(store, "case", again, POLICY).unfinished
    assert again.firsts == [9]
    assert 12 not in [turn.number for turn in again.seen[0].turns]


def test_what_is_forgotten_elsewhere_makes_nothing_anew(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=41)
    summarise(store, "case", Telling(), POLICY)
    case.forget(turns=[40], reason=REASON)
    again = Telling()
    summarise(store, "case", again, POLICY)
    assert again.seen == []


def test_a_summary_that_was_forgotten_itself_can_be_made_again(store: Ledgers, case: Ledger) -> None:
    talk(case, turns=41)
    first = summarise(store, "case", Telling(), POLICY).segments[0].id
    assert first is not None
    case.forget(ids=[first], reason=REASON)
    assert [one.first for one in missing(store)] == [1]
    assert [one.outcome for one in summarise(store, "case", Telling(), POLICY).segments] == ["recorded"]
    assert missing(store) == ()


@pytest.fixture
def days() -> list[int]:
    """The days that have passed, which a test may raise."""
    return [0]


def clock_of(days: list[int]) -> Callable[[], int]:
    """A clock that shows these days."""
    return lambda: 1_900_000_000_000_000 + days[0] * DAY


def test_while_a_turn_is_past_its_retention_nothing_is_made_of_its_segment(days: list[int]) -> None:
    """What is made then would go with the turn; once that is erased, the others are told, once."""
    with connect(":memory:", clock=clock_of(days)) as store:
        case = store.ledger("case")
        case.set_retention("30 days", event_type="turn.recorded")
        talk(case, turns=4)
        days[0] = 20
        talk(case, turns=40, first=5)
        assert not summarise(store, "case", Telling(), POLICY).unfinished
        assert missing(store) == ()
        days[0] = 35
        seen = Telling()
        for _ in range(3):
            assert summarise(store, "case", seen, POLICY).segments == ()
        store.retain()
        assert [(one.first, one.turns) for one in missing(store)] == [(1, 4)]
        for _ in range(3):
            summarise(store, "case", seen, POLICY)
        assert [[turn.number for turn in one.turns] for one in seen.seen] == [[5, 6, 7, 8]]


def test_summaries_that_are_past_their_own_retention_are_made_once_more(days: list[int]) -> None:
    with connect(":memory:", clock=clock_of(days)) as store:
        case = store.ledger("case")
        case.set_retention("30 days", event_type="summary.recorded")
        talk(case, turns=41)
        segments = len(summarise(store, "case", Telling(), POLICY).segments)
        for months in (1, 2, 3):
            days[0] = 31 * months
            again = Telling()
            for _ in range(3):
                assert not summarise(store, "case", again, POLICY).unfinished
            assert len(again.seen) == segments
