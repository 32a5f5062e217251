"""What state and memory of agents were reported to get wrong, and what is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from ledger import Ledgers, connect
from ledger.errors import AdmissionRefused, VersionConflict
from ledger.events import ContradictionRecorded, EntryAdded, FactSet, Side, TurnRecorded
from ledger.json_text import JsonText
from ledger.parts import ToolCallPart
from ledger.schema import Entries, StateModel, declared
from projections.extraction import Candidate
from projections.transcript import Turn
from replay import view
from replay.extraction import extract
from tests.contract.conftest import open_store
from tests.contract.stores import OpenStore
from tests.extraction.saying import Says

__all__ = ["open_store"]


@pytest.fixture
def store() -> Iterator[Ledgers]:
    """A new store."""
    with connect(":memory:") as ledgers:
        yield ledgers


class PumpState(StateModel):
    """A pump that failed."""

    failed_on: date | None = declared()


def a_week_before(turns: Sequence[Turn]) -> list[Candidate]:
    """What a model makes of "last week" that was told when each turn was said; and the words alone."""
    said = [turn for turn in turns if turn.said_at is not None and "last week" in turn.text]
    days = [(turn, (turn.said_at - timedelta(days=7)).date().isoformat()) for turn in said if turn.said_at is not None]
    worked_out = [Candidate("failed_on", day, "failed last week", turn.number) for turn, day in days]
    return [*worked_out, *(Candidate("failed_on", "last week", "last week", turn.number) for turn in said)]


@pytest.mark.parametrize("years_later", [0, 1, 30])
def test_a_day_that_is_told_from_the_day_of_speaking(years_later: int) -> None:
    """It is counted from when the turn was said, whenever it is read; the words stay, and it is not taken for the user's."""
    said_at = datetime(2019, 11, 6, 22, 40, tzinfo=timezone(timedelta(hours=-3)))
    read_at = round((said_at + timedelta(days=365 * years_later)).timestamp() * 1_000_000)
    with connect(":memory:", clock=lambda: read_at) as store:
        case = store.ledger("case", schema=PumpState)
        case.record_turn("user", "the pump failed last week", said_at=said_at)
        extract(store, "case", Says(a_week_before))
        claim = view(store, "case").state().entities["failed_on"]
        assert (claim.value, claim.source, claim.turn) == ("2019-10-30", "inferred", 1)
        (rejected,) = view(store, "case").rejected()
        assert (rejected.json.value, rejected.turn, [one.rule for one in rejected.problems]) == ("last week", 1, ["date"])
        (turn,) = [one.event for one in case.events() if isinstance(one.event, TurnRecorded)]
        assert turn.said_at is not None
        assert turn.said_at.isoformat() == "2019-11-06T22:40:00-03:00"
        assert view(store, "case").transcript().turns[0].said_at == turn.said_at


def test_a_day_without_a_day_of_speaking_is_not_guessed(store: Ledgers) -> None:
    store.ledger("case", schema=PumpState).record_turn("user", "the pump failed last week")
    extract(store, "case", Says(a_week_before))
    assert view(store, "case").state().entities == {}


@pytest.mark.parametrize("said", ["2031-05-11", "11 May 2031", "2031-05-11 "])
@pytest.mark.parametrize("order", ["day_first", "month_first", None])
def test_an_iso_day_is_read_alike_everywhere(store: Ledgers, said: str, order: Any) -> None:
    class Task(StateModel):
        """A task."""

        deadline: date | None = declared(date_order=order)

    case = store.ledger("case", schema=Task)
    event: Any = case.set_fact("deadline", said, source="user").event
    assert (event.meaning.value, event.value.value) == ("2031-05-11", said)
    ambiguous = case.set_fact("deadline", "11/05/2031", source="user").event
    expected = {"day_first": "fact.reaffirmed", "month_first": "contradiction.recorded", None: "fact.rejected"}
    assert ambiguous.type == expected[order]


def test_a_claim_of_contradiction_with_everything_retires_nothing(store: Ledgers) -> None:
    case = store.ledger("case")
    versions = [case.set_fact(f"field {number}", number, source="inferred").version for number in range(30)]
    rate = case.set_fact("rate", "4 %", source="inferred")
    sides = [Side(version=version) for version in (rate.version, *versions[:7])]
    case.record_contradiction("rate", sides)
    case.append(ContradictionRecorded(about="rate", field="rate", sides=tuple(sides)))
    state = view(store, "case").state()
    assert {name: value.value for name, value in state.entities.items()} == {
        **{f"field_{number}": number for number in range(30)},
        "rate": "4 %",
    }
    assert len(state.contradictions) == 2


def test_what_a_tool_was_not_allowed_does_not_outlive_the_ban(store: Ledgers) -> None:
    case = store.ledger("case")
    case.record_turn("user", "Read my upload")
    case.record_turn("assistant", [ToolCallPart(call_id="c", tool="read", arguments=JsonText("{}"))])
    case.record_return("c", "reading was skipped by policy", is_error=True)
    case.set_fact("can_read_uploads", value=False, source="inferred", turn=2)
    shown = view(store, "case").state().block
    assert '{"can_read_uploads":false,"inferred":2}' in shown
    assert "inferred are unconfirmed" in shown
    assert case.set_fact("can_read_uploads", value=True, source="interface").event.type == "fact.superseded"
    case.record_turn("user", "And now?")
    said_again = [case.set_fact("can_read_uploads", value=False, source=source).event.type for source in ("inferred", "tool")]
    assert said_again == ["contradiction.recorded", "fact.reaffirmed"]
    state = view(store, "case").state()
    assert (state.entities["can_read_uploads"].value, state.entities["can_read_uploads"].source) == (True, "interface")


def test_what_held_for_a_time_is_not_told_of_later(store: Ledgers) -> None:
    noon = datetime(2031, 5, 11, 12, tzinfo=UTC)
    case = store.ledger("case")
    case.set_fact("can_read", value=False, source="tool", valid_from=noon, valid_to=noon + timedelta(hours=1))
    seen = view(store, "case")
    assert seen.state(valid_at=noon).entities["can_read"].value is False
    assert seen.state(valid_at=noon + timedelta(hours=1)).entities == {}


def test_of_two_who_write_from_one_version_the_second_is_told(open_store: OpenStore) -> None:
    first, second = open_store().ledger("case"), open_store().ledger("case")
    first.record_turn("user", "Deliver when you can")
    base = second.version
    first.append(FactSet(field="window", value=JsonText('"mornings"'), source="tool"), expected_version=base)
    write = FactSet(field="window", value=JsonText('"evenings"'), source="tool")
    with pytest.raises(VersionConflict) as conflict:
        second.append(write, expected_version=base)
    assert (conflict.value.expected, conflict.value.actual) == (base, base + 1)
    with pytest.raises(AdmissionRefused, match="has a value since version 2"):
        second.append(write)
    assert second.set_fact("window", "evenings", source="user").event.type == "fact.superseded"
    assert first.set_fact("window", "mornings", source="user").event.type == "contradiction.recorded"
    history = view(open_store(), "case").history("window")
    assert [value.value for value in history.values] == ["mornings", "evenings"]
    assert len(history.contradictions) == 1


def test_branches_that_run_beside_each_other_overwrite_nothing(open_store: OpenStore) -> None:
    """Each writes to a ledger of its own, so that both values are there for whoever joins them."""
    ledgers = open_store()
    ledgers.ledger("parent").set_fact("budget_remaining", "1.00", source="user")
    for name, value in (("s1", "0.40"), ("s2", "0.35")):
        ledgers.ledger(name, parent="parent").set_fact("budget_remaining", value, source="tool")
    left = {name: view(ledgers, name).state().entities["budget_remaining"].value for name in ("s1", "s2", "parent")}
    assert left == {"s1": "0.40", "s2": "0.35", "parent": "1.00"}
    parent = ledgers.ledger("parent")
    joined = [parent.set_fact("budget_remaining", value, source="tool").event.type for value in ("0.40", "0.35")]
    assert joined == ["contradiction.recorded", "contradiction.recorded"]


def test_a_cap_holds_whichever_way_the_entries_came(store: Ledgers) -> None:
    class Plan(StateModel):
        """A plan."""

        decisions: Entries = declared(most_shown=12)

    case = store.ledger("case", schema=Plan)
    case.record_turn("user", "Go on")
    for number in range(20):
        case.add_entry("decisions", f"step {number}", source="tool")
    case.append([EntryAdded(section="decisions", what=f"step {number}", source="tool") for number in range(20, 40)])
    state = view(store, "case").state()
    assert state.block.count("step ") == 12
    assert '{"not_shown":{"decisions":28}}' in state.block
    assert view(store, "case").window().request_bytes.count(b"step ") == 12
    assert len(state.entries["decisions"]) == 40
