"""An id alone, as a query, finds what it names first, and then what speaks of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from delivery.agent_tools import SEARCH_RECORD, answer_call
from ledger import JsonText, Ledger, Ledgers, connect
from ledger.events import Side
from ledger.parts import ToolCallPart
from replay import view
from replay.search import search


@pytest.fixture
def record(store: Ledgers, case: Ledger) -> Ledger:
    """Something under each kind of id, and turns that speak of some."""
    sha256 = case.store_artifact(b"Berth B-12 is nine fathoms deep.")
    case.record_evidence("B-12 is deep enough", quote="nine fathoms", artifact=sha256)
    case.record_contradiction("the deepest berth", ["ev_2", Side(value=JsonText.of("B-14"), source="user")])
    case.record_turn("user", "Compare ev_2 with con_3, and 2 with 3.")
    case.record_turn("assistant", [ToolCallPart(call_id="c1", tool="look", arguments=JsonText("{}"))])
    case.record_return("c1", "nothing of interest in r_6")
    case.add_entry("constraints", "No berth west of the lock", source="user")
    case.record_turn("user", "As in r_6, twice: r_6.")
    return case


@pytest.mark.parametrize(
    ("query", "named", "after"),
    [
        ("ev_2", ("evidence", 2), ["v_4"]),
        (" con_3 ", ("contradiction", 3), ["v_4"]),
        ("r_6", ("result", 6), ["v_8"]),
        ("en_7", ("entry", 7), []),
        ("v_4", ("turn", 4), []),
        ("turn_1", ("turn", 4), []),
        ("turn_2", ("call", 5), []),
    ],
)
def test_what_an_id_names_comes_first(
    store: Ledgers, record: Ledger, query: str, named: tuple[str, int], after: list[str]
) -> None:
    found = view(store, "case").search(query)
    first, *others = found.hits
    assert (first.kind, first.version, found.matched, found.more) == (*named, "all", False)
    assert [hit.id for hit in others] == after
    assert first.snippet
    assert all(hit.score < first.score for hit in others)
    (place, *_) = json.loads(answer_call(view(store, "case"), SEARCH_RECORD, {"query": query}).text)["places"]
    assert place["id"] == first.id


def test_paging_and_what_is_asked_besides_hold_for_what_is_named(store: Ledgers, record: Ledger) -> None:
    seen = view(store, "case")
    assert [hit.id for hit in seen.search("r_6", limit=1).hits] == ["r_6"]
    assert seen.search("r_6", limit=1).more
    assert [hit.id for hit in seen.search("r_6", limit=1, offset=1).hits] == ["v_8"]
    assert [hit.id for hit in seen.search("ev_2", kind="turn").hits] == ["v_4"]
    assert [hit.id for hit in seen.search("ev_2", role="user").hits] == ["v_4"]
    assert [hit.id for hit in seen.search("r_6", turns=(3, 3)).hits] == ["v_8"]
    assert [hit.id for hit in seen.search("r_6 interest").hits] == ["r_6"]


@pytest.mark.parametrize("query", ["ev_99", "ev_3", "ev_0", "con_2", "turn_9", "r_" + "9" * 30])
def test_an_id_that_names_nothing_is_a_word(store: Ledgers, record: Ledger, query: str) -> None:
    hits = view(store, "case").search(query).hits
    assert [hit for hit in hits if hit.kind in ("evidence", "contradiction")] == []


def test_a_view_of_the_past_and_what_is_forgotten_are_not_named(store: Ledgers, record: Ledger) -> None:
    seen = view(store, "case")
    assert view(store, "case", at=1).search("ev_2").hits == ()
    record.forget(ids=["ev_2"], reason="asked to", scrub=False)
    for one in (seen, view(store, "case"), view(store, "case", at=5)):
        assert [hit.kind for hit in one.search("ev_2").hits if hit.version < 4] == []


def test_what_is_past_its_retention_is_not_named() -> None:
    now: list[Any] = [1_900_000_000_000_000]
    with connect(":memory:", clock=lambda: now[0]) as store:
        case = store.ledger("case")
        case.record_turn("user", "the secret")
        case.set_retention("30 days", event_type="turn.recorded")
        assert [hit.id for hit in view(store, "case").search("turn_1").hits] == ["v_1"]
        now[0] += 31 * 86_400 * 1_000_000
        assert view(store, "case").search("turn_1").hits == ()


def test_in_all_ledgers_each_that_has_the_id_is_found(store: Ledgers, record: Ledger) -> None:
    store.ledger("other").record_turn("user", "Good morning")
    assert [(hit.ledger, hit.version) for hit in search(store, "turn_1").hits] == [("case", 4), ("other", 1)]
