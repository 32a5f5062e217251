"""What users asked to have forgotten stays pending until it was answered, and a forgetting says which requests it answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ledger import Ledger, Ledgers, connect
from ledger import events as e
from ledger import requests as r
from ledger.errors import InvalidInput
from ledger.writer import Command, Writer
from replay import view
from tests.ledger.remains import REASON, envelopes

MAIL, PHONE = "Please delete my e-mail address.", "Please delete my phone number."


@pytest.fixture
def ledgers() -> Iterator[Ledgers]:
    """A new store."""
    with connect(":memory:") as opened:
        yield opened


@pytest.fixture
def case(ledgers: Ledgers) -> Ledger:
    """A ledger in which turn 3 asks for something."""
    handle = ledgers.ledger("case")
    handle.record_turn("user", "I live in Ghent.", subjects=["customer:ada"])
    handle.record_turn("assistant", "Nice.")
    handle.record_turn("user", MAIL)
    return handle


def pending(ledgers: Ledgers, name: str = "case") -> list[int]:
    return [request.turn for request in view(ledgers, name).forget_requests()]


def said(case: Ledger) -> list[tuple[int, ...] | None]:
    """What each forgetting of the record says that it answers."""
    return [item.event.answers for item in case.events() if isinstance(item.event, e.ContentForgotten)]


def test_the_only_request_is_answered_by_name(ledgers: Ledgers, case: Ledger) -> None:
    for dry_run in (True, False):
        (found,) = case.forget(turns=[1], reason=REASON, dry_run=dry_run).ledgers
        assert (found.answers, found.pending) == ((3,), ())
    assert (said(case), pending(ledgers)) == ([(3,)], [])


def test_of_several_requests_none_is_answered_unasked(ledgers: Ledgers, case: Ledger) -> None:
    case.record_turn("user", PHONE)
    for dry_run in (True, False):
        (found,) = case.forget(turns=[1], reason=REASON, dry_run=dry_run).ledgers
        assert (found.answers, found.pending) == ((), (3, 4))
    assert (said(case), pending(ledgers)) == ([()], [3, 4])


@pytest.mark.parametrize(("answers", "left"), [([], [3, 4]), ([3], [4]), ([4, 3], []), ([1], [3, 4])], ids=str)
def test_the_requests_that_are_named_are_answered(ledgers: Ledgers, case: Ledger, answers: list[int], left: list[int]) -> None:
    case.record_turn("user", PHONE)
    for dry_run in (True, False):
        (found,) = case.forget(ids=["v_2"], reason=REASON, answers=answers, dry_run=dry_run).ledgers
        assert (found.answers, found.pending) == (tuple(answers), tuple(left))
    assert (said(case), pending(ledgers)) == ([tuple(answers)], left)


def test_a_request_ends_with_its_own_turn(ledgers: Ledgers, case: Ledger) -> None:
    case.record_turn("user", PHONE)
    (found,) = case.forget(turns=[3], reason=REASON).ledgers
    assert (found.answers, found.pending) == ((), (4,))
    assert pending(ledgers) == [4]


def test_what_is_forgotten_for_another_cause_answers_nothing(ledgers: Ledgers, case: Ledger) -> None:
    for dry_run in (True, False):
        (found,) = ledgers.forget(subject="customer:ada", reason=REASON, dry_run=dry_run).ledgers
        assert (found.answers, found.pending) == ((), (3,))
    case.record_turn("user", "old", labels=["old"])
    case.set_retention("0 seconds", label="old")
    for dry_run in (True, False):
        ((found,),) = [done.ledgers for done in ledgers.retain(dry_run=dry_run)]
        assert (found.answers, found.pending) == ((), (3,))
    assert (said(case), pending(ledgers)) == ([(), ()], [3])


def test_a_subject_can_answer_what_is_named(ledgers: Ledgers, case: Ledger) -> None:
    ledgers.ledger("other").record_turn("user", "hello", subjects=["customer:ada"])
    found = {one.ledger: one for one in ledgers.forget(subject="customer:ada", reason=REASON, answers=[3]).ledgers}
    assert {name: one.answers for name, one in found.items()} == {"case": (3,), "other": ()}
    assert pending(ledgers) == []


def test_requests_of_other_ledgers_stay(ledgers: Ledgers, case: Ledger) -> None:
    ledgers.ledger("other").record_turn("user", PHONE)
    case.forget(turns=[1], reason=REASON)
    assert pending(ledgers, "other") == [1]


def test_an_event_that_names_none_answers_none(ledgers: Ledgers, case: Ledger) -> None:
    """As those that were recorded before forgettings named their answers."""
    gone = (e.Erasure(version=1, role="user"),)
    event = e.ContentForgotten(job="f_1", scope="turns", reason=REASON, erased=gone, through_turn=3)
    Writer(ledgers.store, case.name, ledgers.clock).execute(r.AppendEvents(events=(event,)), Command())
    assert (said(case), pending(ledgers)) == ([None], [3])


@pytest.mark.parametrize("answers", [[2], [4], [3, 99]], ids=str)
@pytest.mark.parametrize("wish", [{"turns": [1]}, {"subject": "customer:ada"}], ids=str)
def test_what_is_no_user_turn_is_no_answer(ledgers: Ledgers, case: Ledger, wish: dict[str, Any], answers: list[int]) -> None:
    before, selector = envelopes(ledgers), wish if "subject" in wish else {"ledger": "case", **wish}
    for dry_run in (True, False):
        with pytest.raises(InvalidInput, match="no user turn") as refused:
            ledgers.forget(**selector, reason=REASON, answers=answers, dry_run=dry_run)
        assert refused.value.path == f"answers[{len(answers) - 1}]"
    assert (envelopes(ledgers), ledgers.forgettings(), pending(ledgers)) == (before, [], [3])
