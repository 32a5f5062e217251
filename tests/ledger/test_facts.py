"""Which value of a field stands: decided against a model that was written without the ledger's own rules."""

from __future__ import annotations

import unicodedata
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ledger import JsonText, Ledger
from ledger import events as e
from ledger import requests as r
from ledger.decide import decide
from ledger.errors import AdmissionRefused, InvalidInput, LedgerError, SupersessionMismatch
from ledger.fields import canonical_field
from ledger.standing import Standing
from tests.ledger.any_events import SOURCES
from tests.ledger.record_rules import WEIGHT

FIELDS = ["amount", "day"]
VALUES = {"1": ["1", "1.0", "10e-1"], '"1"': ['"1"', '"\\u0031"'], "2": ["2"], "null": ["null"]}
"""Values, and spellings of each."""

meanings = st.sampled_from(list(VALUES))
sources = st.sampled_from(SOURCES)


class FactsModel(RuleBasedStateMachine):
    """Each field holds nothing or (value, weight); an open contradiction is (field, value claimed, weight of its best side)."""

    def __init__(self) -> None:
        super().__init__()
        self.standing = Standing()
        self.holds: dict[str, tuple[str, int]] = {}
        self.open: dict[str, tuple[str, str, int, int]] = {}

    def ask(self, request: r.Request) -> list[str]:
        before = self.standing.branch()
        events = decide(self.standing, request)
        assert self.standing == before  # to decide changes nothing
        for event in events:
            self.standing.apply(self.standing.version + 1, event)
        return [event.type for event in events]

    def settle(self, field: str, value: str, weight: int) -> list[str]:
        """The contradictions in which a value was claimed end when it comes to stand, if its source weighs enough."""
        settled = [name for name, (*claimed, least, _) in self.open.items() if claimed == [field, value] and weight >= least]
        for name in settled:
            del self.open[name]
        return ["contradiction.resolved"] * len(settled)

    def expected(self, field: str, value: str, source: e.Source, supersedes: str | None) -> list[str] | None:
        """What setting a fact leads to; None for a mismatch. Changes the model."""
        weight, spoken = WEIGHT[source], source in ("user", "interface")
        if field not in self.holds:
            if supersedes is not None:
                return None
            self.holds[field] = (value, weight)
            return ["fact.set"]
        held, held_weight = self.holds[field]
        if value == held:
            self.holds[field] = (held, max(weight, held_weight))
            return ["fact.reaffirmed"]
        if supersedes not in (None, held):
            return None
        replaces = (spoken and supersedes is not None) if held_weight == 2 else weight >= held_weight
        if replaces:
            self.holds[field] = (value, weight)
            return ["fact.superseded", *self.settle(field, value, weight)]
        if any([field, value] == claimed and (weight < 2 or by == 2) for *claimed, _, by in self.open.values()):
            return ["fact.reaffirmed"]
        self.open[f"con_{self.standing.version + 1}"] = (field, value, max(weight, held_weight), weight)
        return ["contradiction.recorded"]

    @rule(field=st.sampled_from(FIELDS), value=meanings, source=sources, supersedes=st.none() | meanings, data=st.data())
    def set_fact(self, field: str, value: str, source: e.Source, supersedes: str | None, data: st.DataObject) -> None:
        request = r.SetFact(
            field=data.draw(st.sampled_from([field, field.upper(), f" {field}"])),
            value=JsonText(data.draw(st.sampled_from(VALUES[value]))),
            source=source,
            supersedes=None if supersedes is None else JsonText(data.draw(st.sampled_from(VALUES[supersedes]))),
        )
        expected = self.expected(field, value, source, supersedes)
        if expected is None:
            with pytest.raises(SupersessionMismatch):
                self.ask(request)
        else:
            assert self.ask(request) == expected

    @rule(field=st.sampled_from(FIELDS), source=sources)
    def retract(self, field: str, source: e.Source) -> None:
        request = r.RetractFact(field=field, source=source)
        if field in self.holds and WEIGHT[source] >= self.holds[field][1]:
            assert self.ask(request) == ["fact.retracted"]
            del self.holds[field]
        else:
            with pytest.raises(AdmissionRefused):
                self.ask(request)

    @rule(place=st.integers(0, 3), source=sources, value=st.none() | meanings)
    def resolve(self, place: int, source: e.Source, value: str | None) -> None:
        names = list(self.open) or ["con_99"]
        name = names[place % len(names)]
        given_value = None if value is None else JsonText(VALUES[value][-1])
        request = r.ResolveContradiction(contradiction=name, because="x", source=source, value=given_value)
        field, _, least, _ = self.open.get(name, ("", "", 0, 0))
        if name not in self.open or WEIGHT[source] < max(least, self.holds.get(field, ("", 0))[1]):
            with pytest.raises(AdmissionRefused):
                self.ask(request)
            return
        del self.open[name]
        self.ask(request)
        if value is not None and self.holds.get(field, ("", 0))[0] != value:
            self.holds[field] = (value, WEIGHT[source])

    @invariant()
    def what_stands_is_what_the_model_holds(self) -> None:
        claims = {name: claim for name, claim in self.standing.facts.items() if claim is not None}
        assert claims.keys() == self.holds.keys()
        for name, claim in claims.items():
            value, weight = self.holds[name]
            assert str(claim.value) in VALUES[value]
            assert WEIGHT[claim.source] == weight

    @invariant()
    def what_is_disputed_stays_open_until_it_is_resolved(self) -> None:
        disputes = {name: dispute for name, dispute in self.standing.disputes.items() if dispute is not None}
        assert {name: dispute.field for name, dispute in disputes.items()} == {
            name: field for name, (field, *_) in self.open.items()
        }


FactsModel.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestFactsModel = FactsModel.TestCase


def types(handle: Ledger) -> list[str]:
    return [one.event.type for one in handle.events()]


def test_a_correction_keeps_both_values_and_their_link(handle: Ledger) -> None:
    for number in range(1, 10):
        handle.record_turn("user" if number % 2 else "assistant", f"turn {number}")
    first = handle.set_fact("delivery_day", "Tue", source="user", turn=1)
    second = handle.set_fact("delivery_day", "Fri", source="user", turn=9, supersedes="Tue")
    assert isinstance(second.event, e.FactSuperseded)
    assert (second.event.replaces, second.event.value, second.turn) == (first.version, '"Fri"', 9)
    assert types(handle)[-2:] == ["fact.set", "fact.superseded"]


def test_a_b_a_is_three_claims(handle: Ledger) -> None:
    claims = [
        handle.set_fact("limiter", "live", source="user"),
        handle.set_fact("limiter", "planned", source="user", supersedes="live"),
        handle.set_fact("limiter", "live", source="user", supersedes="planned"),
    ]
    assert [claim.event.type for claim in claims] == ["fact.set", "fact.superseded", "fact.superseded"]
    assert [claim.version for claim in claims] == [1, 2, 3]
    assert [getattr(claim.event, "replaces", None) for claim in claims] == [None, 1, 2]


@pytest.mark.parametrize("source", ["tool", "inferred", "user", "interface"])
def test_a_users_value_is_not_overwritten_by_a_claim_that_does_not_name_it(handle: Ledger, source: e.Source) -> None:
    handle.set_fact("amount", "4,180 INR", source="user")
    claim = handle.set_fact("amount", "4,050 INR", source=source)
    assert isinstance(claim.event, e.ContradictionRecorded)
    assert [side.value for side in claim.event.sides] == ['"4,180 INR"', '"4,050 INR"']
    assert handle.set_fact("amount", "4,050 INR", source=source).event.type == "fact.reaffirmed"
    assert handle.set_fact("amount", "4,180 INR", source=source).event.type == "fact.reaffirmed"
    with pytest.raises(SupersessionMismatch):
        handle.set_fact("amount", "4,200 INR", source=source, supersedes="4,050 INR")


@pytest.mark.parametrize("source", ["tool", "inferred"])
def test_a_lesser_source_that_names_the_users_value_is_recorded_as_a_claim(handle: Ledger, source: e.Source) -> None:
    handle.set_fact("amount", 1, source="interface")
    assert handle.set_fact("amount", 2, source=source, supersedes=1).event.type == "contradiction.recorded"


def test_a_mismatch_shows_both_values(handle: Ledger) -> None:
    handle.set_fact("amount", Decimal("4180.00"), source="user")
    with pytest.raises(SupersessionMismatch, match=r"4180\.00") as caught:
        handle.set_fact("amount", 4050, source="user", supersedes=4181)
    assert (caught.value.given, caught.value.standing) == (4181, Decimal("4180.00"))
    with pytest.raises(SupersessionMismatch) as caught:
        handle.set_fact("unheard of", 4050, source="user", supersedes=4181)
    assert caught.value.standing is None
    assert handle.set_fact("amount", 4050, source="user", supersedes=4180).event.type == "fact.superseded"


def test_unrelated_facts_never_retire_each_other(handle: Ledger) -> None:
    for number in range(30):
        handle.set_fact(f"field {number}", number, source="inferred")
    handle.set_fact("rate", 0.5, source="user")
    assert types(handle) == ["fact.set"] * 31
    with pytest.raises(AdmissionRefused):
        handle.append([e.FactSuperseded(field="rate", value=JsonText("1"), source="user", replaces=3)])


@pytest.mark.parametrize("value", [None, False, 0, "", [], {}])
def test_an_empty_value_is_a_value(handle: Ledger, value: Any) -> None:
    assert handle.set_fact("a", value, source="user").event.type == "fact.set"
    assert handle.set_fact("a", "x", source="user", supersedes=JsonText.of(value)).event.type == "fact.superseded"


@pytest.mark.parametrize(
    "spelling", ["Preferred_Language", "preferred language", "PREFERRED-LANGUAGE ", "\tpreferred--_language"]
)
def test_spellings_of_a_name_are_one_field_and_are_kept(handle: Ledger, spelling: str) -> None:
    recorded = handle.set_fact(spelling, "cy", source="user").event
    assert isinstance(recorded, e.FactSet)
    assert (recorded.field, recorded.spelling) == ("preferred_language", spelling)
    assert handle.set_fact("preferred_language", "cy", source="user").event.type == "fact.reaffirmed"
    with pytest.raises(InvalidInput, match="preferred_language"):
        handle.append([e.FactRetracted(field="Preferred Language", source="user", retracts=1)])
    sides = (e.Side(value=JsonText("1")), e.Side(value=JsonText("2")))
    with pytest.raises(InvalidInput, match="preferred_language"):
        handle.append([e.ContradictionRecorded(about="x", field="Preferred Language", sides=sides)])


@given(st.text())
def test_the_canonical_name_is_one_step_away(name: str) -> None:
    canonical = canonical_field(name)
    assert canonical_field(canonical) == canonical
    assert canonical_field(unicodedata.normalize("NFD", name)) == canonical
    assert canonical_field(f" {name}_") == canonical


@pytest.mark.parametrize("name", ["", " ", "-_-", "x" * 513, "ß" * 300, "\ud800", "a\ud800"])
def test_names_that_cannot_be_kept_are_refused(handle: Ledger, name: str) -> None:
    with pytest.raises(InvalidInput, match="field"):
        handle.set_fact(name, 1, source="user")
    with pytest.raises(LedgerError):
        handle.retract_fact(name, source="user")
    assert handle.version == 0


@pytest.mark.parametrize("text", ["1234567890123456.78", "0.10", "4050.10", "1E+30", "0.30000000000000004"])
def test_an_amount_keeps_every_digit(handle: Ledger, text: str) -> None:
    handle.set_fact("amount", Decimal(text), source="user")
    (recorded,) = handle.events()
    assert isinstance(recorded.event, e.FactSet)
    assert recorded.event.value == text
    assert str(recorded.event.value.value) == text
    assert handle.set_fact("amount", text, source="tool").event.type == "contradiction.recorded"  # the text is another value
