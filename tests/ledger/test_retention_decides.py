"""What is past its retention is no ground for a decision: nothing new is judged against it, and nothing repeats it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ledger import Ledger, Ledgers, connect
from ledger.errors import AdmissionRefused, SupersessionMismatch
from ledger.record import instant
from ledger.verify import verify_store
from replay import view

DAY = 86_400_000_000


class Calendar:
    """A clock that a test moves on."""

    def __init__(self) -> None:
        self.now = 1_800_000_000_000_000

    def __call__(self) -> int:
        """Microseconds since 1970."""
        return self.now

    def wait(self, days: int) -> None:
        """Let time pass."""
        self.now += days * DAY


@pytest.fixture
def calendar() -> Calendar:
    """Stands still by itself."""
    return Calendar()


@pytest.fixture
def store(calendar: Calendar) -> Iterator[Ledgers]:
    """A store with that clock."""
    with connect(":memory:", clock=calendar) as made:
        yield made


@pytest.fixture
def case(store: Ledgers, calendar: Calendar) -> Ledger:
    """A ledger that keeps content for 30 days, with a number that is 40 days old."""
    made = store.ledger("case")
    made.set_retention("30 days")
    made.record_turn("user", "My number is DE00OLD.")
    made.set_fact("iban", "DE00OLD", turn=1, source="user")
    made.add_entry("open", "Is DE00OLD right?", source="user", turn=1)
    calendar.wait(40)
    return made


@pytest.mark.parametrize("warm", [True, False])
def test_what_is_stated_anew_stands(store: Ledgers, case: Ledger, *, warm: bool) -> None:
    handle = case if warm else store.ledger("case")
    handle.record_turn("user", "My number is DE99NEW.")
    assert handle.set_fact("iban", "DE99NEW", turn=2, source="user").event.type == "fact.set"
    assert b"DE00OLD" not in view(store, "case").state().to_json()
    assert view(store, "case").state().entities["iban"].value == "DE99NEW"
    assert verify_store(store).problems == ()
    (report,) = store.retain()
    assert report.state == "complete"
    assert view(store, "case").state().entities["iban"].value == "DE99NEW"
    assert handle.set_fact("iban", "DE99NEW", turn=2, source="user").event.type == "fact.reaffirmed"
    assert verify_store(store).problems == ()


def test_no_error_tells_it(case: Ledger) -> None:
    case.record_turn("user", "And now?")
    with pytest.raises(SupersessionMismatch) as caught:
        case.set_fact("iban", "N", turn=2, source="user", supersedes="guess")
    assert "DE00OLD" not in f"{caught.value} {caught.value.details}"


def test_turns_and_entries_past_it_are_not_to_be_had(case: Ledger) -> None:
    with pytest.raises(AdmissionRefused, match="was forgotten"):
        case.set_fact("iban", "DE00OLD", turn=1, source="user")
    with pytest.raises(AdmissionRefused, match="was forgotten"):
        case.close_entry("en_4", because="yes", source="user")


def test_a_hold_does_not_make_a_field_unusable(store: Ledgers, case: Ledger) -> None:
    case.place_hold(because="a lawsuit")
    assert [report.state for report in store.retain()] == ["incomplete"]
    case.record_turn("user", "My number is DE99NEW.")
    assert case.set_fact("iban", "DE99NEW", turn=2, source="user").event.type == "fact.set"
    assert verify_store(store).problems == ()


def test_a_handle_that_lives_on_notices_that_time_passes(store: Ledgers, case: Ledger, calendar: Calendar) -> None:
    case.record_turn("user", "My number is DE77.")
    case.set_fact("iban", "DE77", turn=2, source="user")
    calendar.wait(29)
    case.record_turn("user", "My number is DE88.")
    assert case.set_fact("iban", "DE88", turn=3, source="user").event.type == "contradiction.recorded"
    calendar.wait(2)
    case.record_turn("user", "My number is DE88.")
    assert case.set_fact("iban", "DE88", turn=4, source="user").event.type == "fact.set"
    assert verify_store(store).problems == ()


def test_a_basis_names_the_rules_that_were_in_force(store: Ledgers, calendar: Calendar) -> None:
    case = store.ledger("other")
    case.record_turn("user", "Hello.")
    case.set_retention("1 year", label="payment")
    later = instant(calendar.now + 40 * DAY)
    before = view(store, "other", at=1, judged_at=later)
    told = before.transcript().to_json()
    case.set_retention("30 days")
    after = view(store, "other", at=1, judged_at=later)
    assert after.transcript().to_json() != told
    assert (before.basis().rules, after.basis().rules) == (3, 3)  # a view that is kept sees the new rule, too
    assert b'"rules":2' in told
