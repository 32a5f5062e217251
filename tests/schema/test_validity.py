"""From when to when a value holds in the world, which is not when it was recorded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers
from ledger import events as e
from ledger.errors import InvalidInput
from ledger.verify import verify_store
from tests.schema.refunds import RefundState, types

MAY, JUNE, JULY = (datetime(2031, month, 1, tzinfo=UTC) for month in (5, 6, 7))


@pytest.fixture(params=[RefundState, None], ids=["schema", "none"])
def ledger(store: Ledgers, request: pytest.FixtureRequest) -> Ledger:
    """A ledger with a schema, and one without."""
    return store.ledger("refund", schema=request.param)


def test_validity_is_recorded_as_it_was_said(ledger: Ledger) -> None:
    india = timezone(timedelta(hours=5, minutes=30))
    event = ledger.set_fact("amount", "5 INR", source="user", valid_from=MAY.astimezone(india), valid_to=JUNE).event
    assert isinstance(event, e.FactSet)
    assert (event.valid_from, event.valid_to) == (MAY, JUNE)
    *_, recorded = ledger.events()
    assert isinstance(recorded.event, e.FactSet)
    assert recorded.event.valid_from is not None
    assert (recorded.event.valid_from, recorded.event.valid_from.utcoffset()) == (MAY, timedelta(hours=5, minutes=30))


@pytest.mark.parametrize("standing", [None, "user"], ids=["new", "disputed"])
@pytest.mark.parametrize(("since", "until"), [(JUNE, MAY), (MAY, MAY)])
def test_what_would_end_before_it_begins_is_refused(
    ledger: Ledger, standing: e.Source | None, since: datetime, until: datetime
) -> None:
    if standing is not None:
        ledger.set_fact("amount", "5 INR", source=standing)
    before = ledger.version
    with pytest.raises(InvalidInput, match=r"'amount'.*valid_to") as caught:
        ledger.set_fact("amount", "6 INR", source="tool", valid_from=since, valid_to=until)
    assert (caught.value.path, ledger.version) == ("valid_to", before)


def test_not_even_as_an_event(store: Ledgers) -> None:
    with pytest.raises(InvalidInput, match="valid_to"):
        store.ledger("x").append(e.FactSet(field="a", value=JsonText("1"), source="user", valid_from=JUNE, valid_to=MAY))


@pytest.mark.parametrize("word", ["valid_from", "valid_to"])
@pytest.mark.parametrize("moment", [datetime(2031, 5, 1), 1936249200, "2031-05-01"])  # noqa: DTZ001 - it is what is refused
def test_a_time_without_a_zone_is_refused_by_its_name(ledger: Ledger, word: str, moment: Any) -> None:
    before = ledger.version
    with pytest.raises(InvalidInput, match=word) as caught:
        ledger.set_fact("amount", "5 INR", source="user", **{word: moment})
    assert (caught.value.path, ledger.version) == (word, before)


def test_the_same_value_for_another_time_is_a_supersession(store: Ledgers, ledger: Ledger) -> None:
    said: list[dict[str, Any]] = [
        {},
        {"valid_from": MAY},
        {"valid_from": MAY.astimezone(timezone(timedelta(hours=9)))},
        {"valid_from": MAY, "valid_to": JUNE},
        {"valid_from": MAY, "valid_to": JULY},
        {},
        {"valid_to": JULY},
    ]
    for times in said:
        ledger.set_fact("amount", "5 INR", source="user", **times)
    assert [name for name in types(ledger.events()) if name.startswith("fact.")] == [
        "fact.set",
        "fact.superseded",
        "fact.reaffirmed",  # the same instant elsewhere
        "fact.superseded",
        "fact.superseded",
        "fact.reaffirmed",  # nothing was said of when
        "fact.superseded",
    ]
    assert verify_store(store).ok


def test_a_new_value_does_not_inherit_when_the_old_one_held(ledger: Ledger) -> None:
    ledger.set_fact("amount", "5 INR", source="tool", valid_from=MAY, valid_to=JUNE)
    event = ledger.set_fact("amount", "6 INR", source="tool").event
    assert isinstance(event, e.FactSuperseded)
    assert (event.valid_from, event.valid_to) == (None, None)


def test_a_lesser_source_does_not_change_when_a_users_value_holds(ledger: Ledger) -> None:
    ledger.set_fact("amount", "5 INR", source="user", valid_from=MAY)
    assert ledger.set_fact("amount", "5 INR", source="tool", valid_from=JUNE).event.type == "contradiction.recorded"
