"""Extractors of one's own may give anything: what is no candidate is counted, and what comes back within a turn is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from delivery.cli.application import run
from ledger import Ledgers, connect
from ledger.schema import StateModel, declared
from projections.extraction import Candidate
from replay import view
from replay.extraction import extract
from tests.extraction.saying import Says, claims, conversation, values

GOOD = Candidate("note", "please", "Tuesdays please", 1)
FORMS: dict[str, tuple[Any, ...]] = {
    "quote": (None, 7, b"please", ["Tuesdays please"]),
    "field": (None, 7, ("note",), {}),
    "turn": (None, True, "1", 1.0),
    "result": (7, []),
    "corrects": (None, "yes", 1),
    "value": (object(), {1}, b"x", 1j, float("inf"), {1: 2}, 10**6000),
}
ODD: list[Any] = [replace(GOOD, **{name: value}) for name, values in FORMS.items() for value in values]
ODD += [None, "note", ("note", "please", "please", 1), {"field": "note"}]
NOWHERE: list[dict[str, Any]] = [
    *({"quote": "\ud800"}, {"turn": 10**30}, {"turn": -1}, {"result": "\ud800\0"}, {"quote": "x" * 10**7}),
]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_what_is_no_candidate_is_refused_and_stops_nothing(store: Ledgers, odd: Any) -> None:
    ledger = conversation(store, "Tuesdays please")
    done = extract(store, "case", Says([odd, GOOD, odd]))
    assert (done.refused, values(store, ledger)) == (2, {"note": ("please", "user")})


@pytest.mark.parametrize("changed", NOWHERE, ids=range(len(NOWHERE)))
def test_what_stands_nowhere_stops_nothing(store: Ledgers, changed: dict[str, Any]) -> None:
    ledger = conversation(store, "Tuesdays please")
    extract(store, "case", Says([replace(GOOD, value="Tuesdays", **changed), GOOD]))
    assert values(store, ledger) == {"note": ("please", "user")}


def test_a_value_that_holds_itself_is_refused(store: Ledgers) -> None:
    ledger = conversation(store, "Tuesdays please")
    ring: list[Any] = []
    ring.append(ring)
    assert extract(store, "case", Says([replace(GOOD, value=ring), GOOD])).refused == 1
    assert values(store, ledger) == {"note": ("please", "user")}


BACK = "Invoices in USD. No, INR. No, USD."


def there_and_back(first: str, second: str, third: str, turn: int = 1) -> list[Candidate]:
    """A value, another one, and the first again, with these quotes."""
    said = (("USD", first, False), ("INR", second, True), ("USD", third, True))
    return [Candidate("invoice_currency", value, quote, turn, corrects=corrects) for value, quote, corrects in said]


@pytest.mark.parametrize("quotes", [("in USD", "No, INR", "No, USD"), ("USD", "INR", "USD")])
def test_a_value_that_comes_back_within_a_turn(store: Ledgers, quotes: tuple[str, str, str]) -> None:
    ledger = conversation(store, BACK)
    for name in ("says/1", "says/2"):
        extract(store, "case", Says(there_and_back(*quotes), name=name))
        assert claims(ledger) == ["fact.set", "fact.superseded", "fact.superseded"]
    history = view(store, "case").history("invoice_currency").values
    assert [(value.value, value.to_version) for value in history] == [
        ("USD", history[1].from_version),
        ("INR", history[2].from_version),
        ("USD", None),
    ]


def test_a_value_that_comes_back_within_a_turn_that_corrects_an_earlier_one(store: Ledgers) -> None:
    ledger = conversation(store, "Invoices in EUR.", "Noted.", "No, USD. No, INR. No, USD.")
    said = [Candidate("invoice_currency", "EUR", "EUR", 1)]
    said += [replace(one, corrects=True) for one in there_and_back("USD", "INR", "USD", turn=3)]
    for name in ("says/1", "says/2"):
        extract(store, "case", Says(said, name=name))
        assert claims(ledger) == ["fact.set", *["fact.superseded"] * 3]
    assert [one.value for one in view(store, "case").history("invoice_currency").values] == ["EUR", "USD", "INR", "USD"]


def test_a_run_that_broke_off_on_the_way_back_is_made_up_for(store: Ledgers) -> None:
    ledger = conversation(store, BACK)
    said = there_and_back("in USD", "No, INR", "No, USD")
    extract(store, "case", Says(said[:2], incomplete="cut off"))
    extract(store, "case", Says(said))
    extract(store, "case", Says([said[1], said[0], said[2]], name="says/2"))
    assert claims(ledger) == ["fact.set", "fact.superseded", "fact.superseded"]


class Booking(StateModel):
    """What is booked."""

    flight: str | None = declared(refers_to="flights", patterns=[r"LH\d+"])
    seats: int | None = declared(patterns=[r"(?P<value>\d+) seats"])


def test_a_reference_that_nobody_is_at_hand_to_check_is_rejected_alone(store: Ledgers) -> None:
    ledger = store.ledger("case")
    ledger.declare(Booking, references={"flights": lambda number: number == "LH454"})
    ledger.record_turn("user", "Book LH454, 2 seats")
    said = Says([Candidate("flight", "LH454", "LH454", 1), Candidate("seats", 2, "2 seats", 1)])
    done = extract(store, "case", said)
    assert (claims(ledger), done.refused) == (["fact.rejected", "fact.set"], 0)
    (rejected,) = view(store, "case").rejected()
    assert [(one.rule, one.why) for one in rejected.problems] == [
        ("reference", "nobody was at hand to ask flights whether it exists")
    ]
    assert (rejected.field, rejected.turn, rejected.source) == ("flight", 1, "user")
    said.name = "says/2"
    extract(store, "case", said)
    assert claims(ledger) == ["fact.rejected", "fact.set"]
    said.name = "says/3"
    extract(store, ledger, said)
    assert claims(ledger) == ["fact.rejected", "fact.set", "fact.set"]
    assert values(store, ledger) == {"flight": ("LH454", "user"), "seats": (2, "user")}


def test_the_command_line_has_nobody_to_ask_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    address = str(tmp_path / "store.db")
    with connect(address) as store:
        ledger = store.ledger("case")
        ledger.declare(Booking, references={"flights": bool})
        ledger.record_turn("user", "Book LH454, 2 seats")
    assert run(["--store", address, "extract", "case"]) == 0
    assert "1 fact.rejected, 1 fact.set" in capsys.readouterr().out
