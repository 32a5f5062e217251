"""What goes with what is forgotten, and what stays beside it."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger import events as e
from ledger.erased import Erased
from ledger.parts import DocumentPart, ImagePart, ToolCallPart
from ledger.verify import verify_store
from tests.ledger.remains import REASON, counted, envelopes, gone, swept

PAGE = b"a page that says 29 EUR a month"
PICTURE = b"a picture"
CALLS = [ToolCallPart(call_id=call, tool="look", arguments=JsonText("{}")) for call in ("c1", "c2")]


@pytest.fixture
def ledgers() -> Iterator[Ledgers]:
    """A new store."""
    with connect(":memory:") as opened:
        yield opened


def talk(ledgers: Ledgers, name: str = "case") -> Ledger:
    """24 events, of every kind that others can rest on."""
    handle = ledgers.ledger(name, task="refund")
    handle.record_turn("system", "Be brief.")
    handle.record_turn("user", "ORD-88213 was charged twice, no credit please")  # turn 1, version 3
    handle.set_fact("order", "ORD-88213", source="user", turn=1)
    assert handle.add_entry("constraints", "no credit", source="user", turn=1) == "en_5"
    handle.record_turn("assistant", CALLS)  # turn 2, version 6
    assert [handle.record_return("c1", {"charges": 2}), handle.record_return("c2", "two")] == [7, 8]
    handle.set_fact("amount", 4050, source="tool", turn=2)
    handle.set_fact("day", "Tue", source="inferred", turn=2)
    assert handle.set_fact("order", "ORD-88213", source="tool").event.type == "fact.reaffirmed"
    handle.record_turn("user", "It was 4180")  # turn 3, version 12
    assert handle.set_fact("amount", 4180, source="user", turn=3).event.type == "fact.superseded"
    assert handle.set_fact("amount", 4050, source="tool").event.type == "contradiction.recorded"
    handle.close_entry("en_5", source="interface", because="credit is fine", turn=3)
    page = handle.store_artifact(PAGE)
    assert [handle.record_evidence(claim, quote=claim, artifact=page) for claim in ("29", "EUR")] == ["ev_17", "ev_18"]
    assert handle.record_contradiction("price", ["ev_17", "ev_18"]) == "con_19"
    handle.resolve_contradiction("con_19", because="it is EUR", source="user", turn=3)
    handle.record_turn("user", [ImagePart(url=f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}")])  # 21 and 22
    picture = ledgers.store.holdings(ledgers.head(name).ledger).blobs
    handle.record_turn("user", [ImagePart(sha256=next(one for one in picture if one != page))])  # turn 5, version 23
    assert handle.record_outcome("partial", judge="reviewer").version == 24
    return handle


def artifact(ledgers: Ledgers, content: bytes, name: str = "case") -> str:
    head = ledgers.head(name)
    return next(one for one in ledgers.store.holdings(head.ledger).blobs if ledgers.store.blob(head.ledger, one) == content)


CASES: list[tuple[dict[str, Any], set[int]]] = [
    ({"turns": [1]}, {3, 4, 5, 11, 15}),
    ({"turns": [2]}, {6, 7, 8, 9, 10}),
    ({"turns": [3]}, {12, 13, 14, 15, 20}),
    ({"turns": [4]}, {22}),
    ({"turns": [4, 5]}, {21, 22, 23}),
    ({"turns": [1, 2]}, {3, 4, 5, 6, 7, 8, 9, 10, 11, 15}),
    ({"facts": ["order"]}, {4, 11}),
    ({"facts": [" Order"]}, {4, 11}),
    ({"facts": ["amount"]}, {9, 13, 14}),
    ({"facts": ["amount", "day"]}, {9, 10, 13, 14}),
    ({"ids": ["r_7"]}, {7, 9}),
    ({"ids": ["r_7", "r_8", "r_7"]}, {7, 8, 9}),
    ({"ids": ["en_5"]}, {5, 15}),
    ({"ids": ["v_15"]}, {15}),
    ({"ids": ["ev_17"]}, {17, 19, 20}),
    ({"ids": ["con_19"]}, {19, 20}),
    ({"ids": ["v_20"]}, {20}),
    ({"ids": ["v_9"]}, {9}),
    ({"ids": ["v_13"]}, {13, 14}),
    ({"ids": ["v_1"]}, {1}),
    ({"ids": ["v_2"]}, {2}),
    ({"ids": ["v_3"]}, {3, 4, 5, 11, 15}),
    ({"ids": ["v_24"]}, {24}),
    ({"artifacts": [PAGE]}, {16, 17, 18, 19, 20}),
    ({"artifacts": [PICTURE]}, {21}),
    ({"everything": True}, set(range(1, 25))),
]


@pytest.mark.parametrize(("wish", "going"), CASES, ids=lambda value: str(value)[:40])
def test_exactly_this_goes(ledgers: Ledgers, wish: dict[str, Any], going: set[int]) -> None:
    handle, _ = talk(ledgers), talk(ledgers, "other")
    if "artifacts" in wish:
        wish = {"artifacts": [artifact(ledgers, content) for content in wish["artifacts"]]}
    other, before = counted(ledgers, "other"), envelopes(ledgers)
    living = {item.version: item for item in handle.events() if item.version not in going}

    planned = handle.forget(**wish, reason=REASON, dry_run=True)
    assert (envelopes(ledgers), gone(ledgers)) == (before, set())
    done = handle.forget(**wish, reason=REASON)

    assert gone(ledgers) == swept(ledgers) == going
    assert {item.version: item for item in handle.events(upto=24) if item.version not in going} == living
    assert envelopes(ledgers)[: len(before)] == before
    assert counted(ledgers, "other") == other
    assert [(item.version, item.because) for item in planned.ledgers[0].items] == [
        (item.version, item.because) for item in done.ledgers[0].items
    ]
    assert {item.version for item in done.ledgers[0].items} == going
    assert (planned.state, planned.job, done.state, done.count) == ("planned", None, "complete", len(going))
    assert verify_store(ledgers).problems == ()


def test_what_is_left_of_each_event(ledgers: Ledgers) -> None:
    """Enough to keep the rest together: roles, the calls that were answered, what was ended, which fields are the same."""
    handle = talk(ledgers)
    picture = artifact(ledgers, PICTURE)
    handle.forget(everything=True, reason=REASON)
    left = {item.version: item.event for item in handle.events() if isinstance(item.event, Erased)}
    assert [left[version].role for version in (2, 3, 6, 12)] == ["system", "user", "assistant", "user"]
    assert {version: one.answers for version, one in left.items() if one.answers is not None} == {7: 0, 8: 1}
    assert {version: one.ends for version, one in left.items() if one.ends is not None} == {13: 9, 15: 5, 20: 19}
    assert left[4].named == left[11].named
    assert left[9].named == left[13].named != left[4].named
    assert [version for version, one in left.items() if one.named is not None] == [4, 9, 10, 11, 13, 16, 21]
    assert {version: one.turn for version, one in left.items()}[9] == 2
    assert "order" not in repr(left)
    assert picture not in repr(left)


def test_one_forgetting_tells_its_reason_job_and_time_on_every_place(ledgers: Ledgers) -> None:
    handle = talk(ledgers)
    job = handle.forget(turns=[1], reason=REASON, actor="support:4").job
    (fence,) = handle.events(after=24)
    assert isinstance(fence.event, e.ContentForgotten)
    assert (fence.event.job, fence.event.scope, fence.event.reason, fence.envelope.actor) == (job, "turns", REASON, "support:4")
    assert (fence.event.through_turn, fence.event.fields, fence.event.answers) == (5, (), ())
    marks = {item.event.forgotten for item in handle.events() if isinstance(item.event, Erased)}
    assert [(mark.job, mark.reason) for mark in marks] == [(job, REASON)]
    assert {mark.at for mark in marks} == {fence.recorded_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")}


def test_an_artifact_that_something_else_shows_stays_and_is_told_of(ledgers: Ledgers) -> None:
    handle = talk(ledgers)
    picture = artifact(ledgers, PICTURE)
    first = handle.forget(turns=[4], reason=REASON)
    assert (first.ledgers[0].artifact_count, first.ledgers[0].shared) == (0, (picture,))
    assert handle.artifact(picture) == PICTURE
    second = handle.forget(turns=[5], reason=REASON)
    assert (second.ledgers[0].artifact_count, second.ledgers[0].shared) == (1, ())
    assert str(handle.artifact(picture)) == "[forgotten]"


def test_an_artifact_of_a_turn_stays_where_another_turn_shows_it(ledgers: Ledgers) -> None:
    """It was stored as part of turn 1, but it is what turn 2 shows, too."""
    handle = ledgers.ledger("case")
    handle.record_turn("user", "here is my invoice")
    kept = handle.store_artifact(PAGE, turn=1)
    own = handle.store_artifact(PICTURE, turn=1)
    handle.record_turn("user", [DocumentPart(sha256=kept)])
    done = handle.forget(turns=[1], reason=REASON)
    assert (gone(ledgers), done.ledgers[0].artifact_count, done.ledgers[0].shared) == ({1, 3}, 1, (kept,))
    assert (handle.artifact(kept), str(handle.artifact(own)), verify_store(ledgers).problems) == (PAGE, "[forgotten]", ())
    handle.forget(turns=[2], reason=REASON)
    assert gone(ledgers) == {1, 2, 3, 4}


def test_an_artifact_that_was_stored_twice_goes_with_the_last_storing(ledgers: Ledgers) -> None:
    handle = ledgers.ledger("case")
    handle.record_turn("user", "one")
    page = handle.store_artifact(PAGE, turn=1)
    handle.record_turn("user", "two")
    handle.store_artifact(PAGE, turn=2)
    first = handle.forget(turns=[1], reason=REASON)
    assert (first.ledgers[0].artifact_count, first.ledgers[0].shared, handle.artifact(page)) == (0, (page,), PAGE)
    assert verify_store(ledgers).problems == ()
    second = handle.forget(turns=[2], reason=REASON)
    assert (second.ledgers[0].artifact_count, gone(ledgers)) == (1, {1, 2, 3, 4})
    assert ledgers.store.blob(ledgers.head("case").ledger, page) is None


def test_what_a_tool_returned_takes_the_claim_that_it_is_a_side_of(ledgers: Ledgers) -> None:
    handle = ledgers.ledger("case")
    handle.record_turn("user", "on Tuesday")
    handle.set_fact("day", "Tue", source="user", turn=1)
    handle.record_turn("assistant", CALLS)
    handle.record_return("c1", "it says Wednesday")
    assert handle.set_fact("day", "Wed", source="tool", turn=2).event.type == "contradiction.recorded"
    handle.set_fact("week", 12, source="inferred", turn=2)
    handle.forget(ids=["r_4"], reason=REASON)
    assert gone(ledgers) == {4, 5}


@pytest.mark.parametrize("turn", [None, 3])
def test_what_repeats_a_disputed_value_goes_with_the_dispute(ledgers: Ledgers, turn: int | None) -> None:
    """It does not say again what stands, so it does not go with that."""
    handle = ledgers.ledger("case")
    handle.record_turn("user", "on Tuesday")
    handle.set_fact("day", "Tue", source="user", turn=1)
    handle.record_turn("assistant", "Wednesday?")
    handle.set_fact("day", "Wed", source="inferred", turn=2)
    handle.record_turn("assistant", "I think it is Wednesday")
    assert handle.set_fact("day", "Wed", source="inferred", turn=turn).event.type == "fact.reaffirmed"
    handle.set_fact("day", "Tue", source="tool", turn=turn)
    handle.forget(turns=[2], reason=REASON)
    assert gone(ledgers) == {3, 4, 6}
    assert verify_store(ledgers).problems == ()


@pytest.mark.parametrize(("value", "going"), [("Wed", {5, 6}), ("Thu", {5})])
def test_a_settlement_goes_with_the_claim_whose_value_it_repeats(ledgers: Ledgers, value: str, going: set[int]) -> None:
    """Whether the claim settled the dispute (5, 6), or left it open."""
    handle = ledgers.ledger("case")
    handle.record_turn("user", "on Tuesday")
    handle.set_fact("day", "Tue", source="user")
    assert handle.set_fact("day", "Wed", source="tool").event.type == "contradiction.recorded"
    handle.record_turn("user", "no, sorry")
    assert handle.set_fact("day", value, source="user", supersedes="Tue").version == 5
    handle.forget(ids=["v_5"], reason=REASON)
    assert gone(ledgers) == going
    assert verify_store(ledgers).problems == ()


def test_a_resolution_goes_with_the_value_that_it_chose(ledgers: Ledgers) -> None:
    handle = ledgers.ledger("case")
    handle.set_fact("day", "Tue", source="user")
    handle.set_fact("day", "Wed", source="tool")
    handle.resolve_contradiction("con_2", because="asked again", source="user", value="Wed")
    assert [item.event.type for item in handle.events(2)] == ["contradiction.resolved", "fact.superseded"]
    handle.forget(ids=["v_4"], reason=REASON)
    assert gone(ledgers) == {3, 4}
    assert verify_store(ledgers).problems == ()


def test_a_resolution_that_keeps_what_stands_goes_with_it(ledgers: Ledgers) -> None:
    handle = ledgers.ledger("case")
    handle.set_fact("day", "Tue", source="user")
    handle.record_contradiction("day", [e.Side(value=JsonText('"Tue"')), e.Side(value=JsonText('"Wed"'))])
    handle.append(e.ContradictionRecorded(about="day", field="day", sides=(e.Side(value=JsonText("1")), e.Side(version=2))))
    handle.resolve_contradiction("con_3", because="asked again", source="user", value="Tue")
    handle.forget(ids=["v_1"], reason=REASON)
    assert gone(ledgers) == {1, 4}
