"""What a compacted middle names by id: results, evidence and contradictions of the turns that it tells of."""

from __future__ import annotations

import re

from ledger import Ledger, Ledgers
from ledger.json_text import JsonText
from ledger.parts import ToolCallPart
from projections.policy import Policy
from replay import view

PAGE = "The Pier plan costs 9.50 EUR a seat. It has room for forty cranes. "
POLICY = Policy(budget_tokens=1_500, tail_turns=2, state=None)


def read_page(case: Ledger, number: int) -> None:
    case.record_turn("assistant", [ToolCallPart(call_id=f"c{number}", tool="read", arguments=JsonText.of({"page": number}))])
    case.record_return(f"c{number}", PAGE * 12)


def talk(case: Ledger, number: int) -> None:
    for place in range(number):
        case.record_turn("user" if place % 2 else "assistant", f"Sentence {place} about berth B-{place:03}. " * 9)


def recorded(case: Ledger) -> tuple[str, str, str]:
    """A conversation that left the tail, with two pieces of evidence, and a contradiction between them."""
    case.record_turn("user", "What does the Pier plan cost?")
    read_page(case, 1)
    page = case.store_artifact(PAGE.encode(), media_type="text/plain")
    one = case.record_evidence("It costs 9.50 EUR.", quote="9.50 EUR a seat", artifact=page)
    other = case.record_evidence("It has forty cranes.", quote="forty cranes", artifact=page)
    dispute = case.record_contradiction("price of a seat", [one, other])
    talk(case, 60)
    return one, other, dispute


def middle_of(text: str) -> list[str]:
    return text.partition("are compacted; ")[2].partition("\n\n")[0].splitlines()


def test_evidence_and_contradictions_are_named_beside_results(store: Ledgers) -> None:
    one, other, dispute = recorded(store.ledger("case"))
    lines = middle_of(view(store, "case").window(POLICY).text)
    assert f"evidence recorded of them: {one}, {other}" in lines
    assert f"contradictions recorded of them: {dispute}" in lines


def test_what_is_said_to_be_fetched_can_be_fetched(store: Ledgers) -> None:
    recorded(store.ledger("case"))
    now = view(store, "case")
    (line,) = [line for line in middle_of(now.window(POLICY).text) if line.startswith("can be fetched by id: ")]
    ids = re.findall(r"\w+_\d+", line)
    assert ids
    assert all(now.fetch(found).text == PAGE * 12 for found in ids)


def test_a_resolution_changes_nothing_before_the_state(store: Ledgers) -> None:
    """What a provider has cached stays whole until the next compaction; what is open stands in the state."""
    case = store.ledger("case")
    _, _, dispute = recorded(case)
    before = view(store, "case").window(POLICY)
    case.resolve_contradiction(dispute, because="the page is of last year", source="user")
    after = view(store, "case").window(POLICY)
    assert f"contradictions recorded of them: {dispute}" in middle_of(before.text)
    assert after.request_bytes == before.request_bytes


def test_of_many_the_latest_are_named(store: Ledgers) -> None:
    case = store.ledger("case")
    one, other, _ = recorded(case)
    disputes = [case.record_contradiction(f"price {number}", [one, other]) for number in range(30)]
    talk(case, 60)
    lines = middle_of(view(store, "case").window(POLICY).text)
    assert f"contradictions recorded of them: {', '.join(disputes[-12:])}" in lines


def test_a_forgotten_contradiction_is_not_named(store: Ledgers) -> None:
    case = store.ledger("case")
    _, _, dispute = recorded(case)
    case.forget(ids=[dispute], reason="asked to")
    text = view(store, "case").window(POLICY).text
    assert dispute not in text
    assert "evidence recorded of them" in text
