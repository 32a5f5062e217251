"""Reasons stay in the record for ever: what cannot be one, or repeats what is to be forgotten, is refused by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ledger import Ledger, Ledgers, connect
from ledger import events as e
from ledger.errors import InvalidInput
from ledger.reasons import MAX_REASON_CHARACTERS
from tests.ledger.remains import REASON, envelopes

CARD = "4929 1188 2231"


@pytest.fixture
def ledgers() -> Iterator[Ledgers]:
    """A store with a ledger in which turn 2 asks for something, a fact without a turn, and a ledger that was forgotten."""
    with connect(":memory:") as opened:
        case = opened.ledger("case")
        case.record_turn("user", f"I am ada@example.org, card {CARD}, order ORD-88213.", subjects=["customer:ada"])
        case.record_turn("user", "Please forget my address.")
        case.set_fact("town", "Ghent", source="user")
        opened.ledger("old").record_turn("user", "hello")
        opened.forget(ledger="old", reason=REASON)
        yield opened


@pytest.fixture
def case(ledgers: Ledgers) -> Ledger:
    """The ledger."""
    return ledgers.ledger("case")


GIVE: dict[str, tuple[str, Callable[[Ledgers, Any], object]]] = {
    "forget": ("reason", lambda ledgers, text: ledgers.forget(ledger="case", turns=[1], reason=text)),
    "dry run": ("reason", lambda ledgers, text: ledgers.forget(ledger="case", turns=[1], reason=text, dry_run=True)),
    "place": ("because", lambda ledgers, text: ledgers.ledger("case").place_hold(because=text)),
    "lift": ("because", lambda ledgers, text: ledgers.ledger("case").lift_hold(because=text)),
    "decline": ("because", lambda ledgers, text: ledgers.ledger("case").decline_forgetting(2, because=text)),
    "reauthorise": ("because", lambda ledgers, text: ledgers.reauthorise(ledger="old", because=text)),
}


@pytest.mark.parametrize("way", GIVE)
@pytest.mark.parametrize("text", ["", " \n\t", None, 5, "a\0b", "\ud83d", "x" * (MAX_REASON_CHARACTERS + 1)], ids=range(7))
def test_what_can_be_no_reason_is_refused(ledgers: Ledgers, way: str, text: Any) -> None:
    if way == "lift":
        ledgers.ledger("case").place_hold(because="case 17")
    before = envelopes(ledgers)
    with pytest.raises(InvalidInput) as refused:
        GIVE[way][1](ledgers, text)
    assert refused.value.path == GIVE[way][0]
    assert envelopes(ledgers) == before


@pytest.mark.parametrize("way", GIVE)
def test_a_long_reason_is_kept(ledgers: Ledgers, way: str) -> None:
    if way == "lift":
        ledgers.ledger("case").place_hold(because="case 17")
    before = len(envelopes(ledgers))
    GIVE[way][1](ledgers, "x" * MAX_REASON_CHARACTERS)
    assert len(envelopes(ledgers)) == before + (way != "dry run")


@pytest.mark.parametrize("name", ["reason", "actor"])
@pytest.mark.parametrize(
    "text",
    [
        "ada@example.org",
        "asked by Ada@Example.org.",
        "mailto:ada@example.org",
        f"about {CARD}",
        "about 492911882231",
        "4929-1188-2231 was stolen",
        "order ord-88213",
    ],
)
@pytest.mark.parametrize("wish", [{"turns": [1]}, {"everything": True}, {"subject": "customer:ada"}], ids=str)
@pytest.mark.parametrize("dry_run", [True, False])
def test_what_is_kept_does_not_repeat_what_goes(
    ledgers: Ledgers, case: Ledger, name: str, text: str, wish: dict[str, Any], *, dry_run: bool
) -> None:
    before, forget = envelopes(ledgers), ledgers.forget if "subject" in wish else case.forget
    with pytest.raises(InvalidInput, match=f"{name} repeats") as refused:
        forget(**{**wish, "reason": REASON, name: text}, dry_run=dry_run)
    assert refused.value.path == name
    assert text not in str(refused.value)
    assert (envelopes(ledgers), len(ledgers.forgettings())) == (before, 1)


@pytest.mark.parametrize("text", ["Ghent", "ORD-88214", "4929", "ada", "case 2031-17", "ORD-882135", "1188 2231 4929"])
def test_another_reason_is_taken(case: Ledger, text: str) -> None:
    assert case.forget(turns=[1], reason=text, actor=text).state == "complete"


def test_what_stays_may_be_named(case: Ledger) -> None:
    assert case.forget(turns=[2], reason="see ORD-88213").state == "complete"
    assert case.forget(facts=["town"], reason="Ghent is wrong").state == "complete"


@pytest.mark.parametrize("turn", [0, -1, 1, 3, 10**12, None, "2", True], ids=repr)
def test_what_is_not_pending_cannot_be_declined(ledgers: Ledgers, case: Ledger, turn: Any) -> None:
    before = envelopes(ledgers)
    with pytest.raises(InvalidInput, match=r"asks for nothing that is still to be answered \(pending: 2\)") as refused:
        case.decline_forgetting(turn, because="no")
    assert refused.value.path == "turn"
    assert envelopes(ledgers) == before


def test_a_request_is_declined_once(ledgers: Ledgers, case: Ledger) -> None:
    first = case.decline_forgetting(2, because="on an order", idempotency_key="k")
    with pytest.raises(InvalidInput, match="pending: none"):
        case.decline_forgetting(2, because="on an order")
    assert isinstance(first.event, e.ForgettingDeclined)
    assert case.decline_forgetting(2, because="on an order", idempotency_key="k").version == first.version == case.version
