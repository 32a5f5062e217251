"""Forgotten content reads as forgotten in every answer: never as nothing, and never so that something older holds again."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger.erased import Forgotten
from ledger.errors import CorruptRecord
from ledger.events import Side, ToolReturned
from ledger.parts import DocumentPart, ImagePart, TextPart, ToolCallPart
from projections.policy import Policy
from projections.state_block import BlockOptions
from replay import Turn, view
from replay.listing import listing

BOTH = pytest.mark.parametrize("form", ["openai", "anthropic"])
PNG = b"\x89PNG\r\n\x1a\n0123456789"


def call(name: str, tool: str = "stock") -> ToolCallPart:
    return ToolCallPart(call_id=name, tool=tool, arguments=JsonText.of({}))


def parsed(answer: bytes) -> Any:
    return json.loads(answer)


def mark(store: Ledgers) -> dict[str, str]:
    """The mark of the one forgetting, as answers show it."""
    (forgetting,) = view(store, "case").forgotten().forgettings
    return {"job": forgetting.job, "reason": forgetting.reason, "at": forgetting.at}


def test_a_forgotten_turn_keeps_its_number_and_role(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "My berth is 7.")
    case.record_turn("assistant", "Noted.")
    case.forget(turns=[1], reason="asked to")
    seen = view(store, "case")
    first, second = seen.transcript().turns
    assert (first.number, first.role, first.text, first.is_blank) == (1, "user", "[forgotten]", False)
    assert isinstance(first.forgotten, Forgotten)
    assert second.text == "Noted."
    shown = parsed(seen.transcript().to_json())["turns"][0]["parts"]
    assert shown == [{"type": "forgotten", **mark(store)}]


def test_the_past_is_forgotten_too(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "My berth is 7.")
    case.record_turn("assistant", "Noted.")
    before = view(store, "case", at=1)
    assert before.basis().erasures == 0
    case.forget(turns=[1], reason="asked to")
    for seen in (before, view(store, "case", at=1), view(store, "case", at=Turn(1))):
        assert seen.version == 1
        assert [turn.text for turn in seen.transcript().turns] == ["[forgotten]"]
        assert seen.basis().erasures == 1
        assert [found.count for found in seen.forgotten().forgettings] == [1]


def test_a_forgotten_return_answers_its_call(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "Look it up.")
    case.record_turn("assistant", [call("a"), call("b")])
    case.record_return("b", "berth 9")
    case.record_return("a", "berth 7")
    case.append([ToolReturned(call_id="z", parts=(TextPart(text="stray"),), orphan=True, turn=2)])
    case.forget(ids=["r_3", "r_5"], reason="asked to")
    turn = view(store, "case").transcript().turns[1]
    assert [(found.call_id, found.text, found.orphan) for found in turn.returns] == [
        ("b", "[forgotten]", False),
        ("a", "berth 7", False),
    ]
    assert [place.id for place in view(store, "case").forgotten().places] == ["r_3", "r_5"]


@BOTH
def test_a_forgotten_return_has_its_place_in_a_window(store: Ledgers, case: Ledger, form: str) -> None:
    case.record_turn("user", "Look it up.")
    case.record_turn("assistant", [call("a")])
    case.record_return("a", "berth 7")
    case.forget(ids=["r_3"], reason="asked to")
    made = view(store, "case").window(render=form)
    assert json.dumps(made.request).count("[forgotten]") == 1
    assert "interrupted" not in json.dumps(made.request)
    assert [row.verdict for row in made.receipt] == ["keep", "keep"]


def test_forgotten_system_text_is_left_out_and_listed(store: Ledgers, case: Ledger) -> None:
    case.record_turn("system", "Ms Okafor is deaf.")
    case.record_turn("system", "Be brief.")
    case.record_turn("user", "Hello.")
    case.forget(ids=["v_1"], reason="asked to")
    seen = view(store, "case")
    assert [text.text for text in seen.transcript().system] == ["Be brief."]
    assert [(place.version, place.type) for place in seen.forgotten().places] == [(1, "turn.recorded")]


def test_the_first_user_turn_stays_the_task(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "Find my brother.")
    case.record_turn("assistant", "Where?")
    case.record_turn("user", "In Ghent.")
    case.forget(turns=[1], reason="asked to")
    state = view(store, "case").state()
    assert (state.task, state.task_turn) == ("[forgotten]", 1)
    assert parsed(state.to_json())["task"] == {"forgotten": mark(store)}
    assert parsed(view(store, "case").handoff().to_json())["goal"] == {"forgotten": mark(store)}
    made = view(store, "case").window(Policy(tail_turns=0))
    assert made.request["messages"][0]["content"].startswith("[forgotten]")


def test_a_task_of_a_forgotten_opening_is_no_turns_text(store: Ledgers) -> None:
    case = store.ledger("case", task="Find my brother.")
    case.record_turn("user", "Hello.")
    case.forget(ids=["v_1"], reason="asked to")
    state = view(store, "case").state()
    assert (state.task, state.task_turn) == ("[forgotten]", None)
    assert parsed(state.to_json())["task"] == {"forgotten": mark(store)}
    assert '{"task":"[forgotten]"}' in state.shown(BlockOptions(task=True)).text


def test_an_older_value_does_not_come_back(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "I live in Ghent.")
    case.set_fact("home", "Ghent", source="user", turn=1)
    case.record_turn("user", "I moved to Bruges.")
    case.set_fact("home", "Bruges", source="user", turn=2, supersedes="Ghent")
    case.forget(turns=[2], reason="asked to")
    seen = view(store, "case")
    assert seen.state().entities == {}
    ghent, bruges = seen.history("home").values
    assert (ghent.value, ghent.from_version, ghent.to_version, ghent.superseded_by) == ("Ghent", 2, 4, 4)
    assert (bruges.from_version, bruges.to_version, str(bruges.value)) == (4, None, "[forgotten]")
    shown = parsed(seen.history("home").to_json())["values"]
    assert (shown[0]["because"], shown[1]["value"]) == ({"forgotten": mark(store)}, {"forgotten": mark(store)})
    assert seen.fields() == ("home",)
    assert [row["version"] for row in parsed(seen.state().to_json())["forgotten"]] == [4]


def test_a_forgotten_value_has_its_place_in_history(store: Ledgers, case: Ledger) -> None:
    for value, before in (("Ghent", None), ("Bruges", "Ghent"), ("Ostend", "Bruges")):
        case.set_fact("Home Town", value, source="user", supersedes=before)
    case.forget(ids=["v_1"], reason="asked to")
    case.forget(ids=["v_2"], reason="asked to")
    seen = view(store, "case")
    assert [(str(value.value), value.from_version, value.to_version) for value in seen.history("home-town").values] == [
        ("[forgotten]", 1, 2),
        ("[forgotten]", 2, 3),
        ("Ostend", 3, None),
    ]
    assert seen.state().entities["home_town"].value == "Ostend"
    assert seen.history("another").values == ()


def test_a_field_that_was_forgotten_by_its_name_can_be_set_anew(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "I live in Ghent.")
    case.set_fact("home", "Ghent", source="user", turn=1)
    case.forget(facts=["home"], reason="asked to")
    assert view(store, "case").fields() == ()
    case.record_turn("user", "I live in Bruges now.")
    case.set_fact("home", "Bruges", source="user", turn=2)
    seen = view(store, "case")
    assert [(str(value.value), value.from_version, value.to_version) for value in seen.history("home").values] == [
        ("[forgotten]", 2, 5),
        ("Bruges", 5, None),
    ]
    assert view(store, "case", at=3).history("home").values[0].to_version is None


def test_a_forgotten_retraction_still_ends_the_value(store: Ledgers, case: Ledger) -> None:
    case.set_fact("home", "Ghent", source="user")
    case.retract_fact("home", source="user", because="she moved in with Ivo")
    case.forget(ids=["v_2"], reason="asked to")
    seen = view(store, "case")
    assert seen.state().entities == {}
    (ghent,) = seen.history("home").values
    assert (ghent.to_version, ghent.superseded_by, str(ghent.because)) == (2, None, "[forgotten]")


def test_lists_keep_what_was_closed_closed(store: Ledgers, case: Ledger) -> None:
    kept = case.add_entry("open", "Is berth 7 free?", source="user")
    lost = case.add_entry("open", "Is Ivo ill?", source="user")
    case.close_entry(kept, source="interface", because="Ivo is ill")
    case.close_entry(lost, source="interface", because="he is")
    case.forget(ids=[lost], reason="asked to")
    case.forget(ids=["v_3"], reason="asked to")
    seen = view(store, "case")
    assert seen.state().entries["open"] == ()
    brief = parsed(seen.handoff().to_json())
    (closed,) = brief["completed"]
    assert (closed["id"], list(closed["because"])) == (kept, ["forgotten"])
    assert {place.id for place in seen.forgotten().places} == {lost, None}


def test_contradictions_keep_what_was_resolved_resolved(store: Ledgers, case: Ledger) -> None:
    sides = [Side(value=JsonText.of(value), source="tool") for value in ("a", "b")]
    kept, lost = (case.record_contradiction(about, sides) for about in ("the rent", "Ivo's illness"))
    case.resolve_contradiction(kept, because="Ivo said so", source="user")
    case.forget(ids=[lost], reason="asked to")
    case.forget(ids=["v_3"], reason="asked to")
    assert view(store, "case").state().contradictions == ()
    assert [found.id for found in view(store, "case", at=2).state().contradictions] == [kept]


def test_a_forgotten_resolution_says_so(store: Ledgers, case: Ledger) -> None:
    case.set_fact("rent", "940 EUR", source="user")
    dispute = case.set_fact("rent", "990 EUR", source="tool").version
    case.resolve_contradiction(f"con_{dispute}", because="Ivo said so", source="user")
    case.forget(ids=["v_3"], reason="asked to")
    history = view(store, "case").history("rent")
    (found,) = parsed(history.to_json())["contradictions"]
    assert found["open"] is False
    assert found["resolution"]["because"] == {"forgotten": mark(store)}


def test_evidence_outcome_and_closing(store: Ledgers, case: Ledger) -> None:
    page = case.store_artifact(b"Berth 7 costs 31 EUR. Ivo has berth 9.", media_type="text/plain")
    kept = case.record_evidence("The price.", quote="31 EUR", artifact=page)
    lost = case.record_evidence("Ivo's berth.", quote="Ivo has berth 9", artifact=page)
    case.close("Ivo came")
    case.record_outcome("completed", judge="Ivo")
    for name in (lost, "v_4", "v_5"):
        case.forget(ids=[name], reason="asked to")
    brief = parsed(view(store, "case").handoff().to_json())
    assert brief["evidence_ids"] == [kept]
    assert list(brief["outcome"]) == ["forgotten"]


def test_answers_of_a_ledger_without_forgetting_do_not_speak_of_it(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "Hello.")
    seen = view(store, "case")
    answers = (seen.transcript(), seen.state(), seen.handoff(), seen.window(), seen.history("home"))
    assert all(b"forg" not in answer.to_json() and b"judged" not in answer.to_json() for answer in answers)


def test_who_forgot_and_why(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "My berth is 7.")
    case.set_fact("berth", 7, source="user", turn=1)
    case.forget(turns=[1], reason="asked to", actor="clerk-4")
    answer = parsed(view(store, "case").forgotten().to_json())
    assert answer["basis"]["erasures"] == 1
    assert [(row["version"], row["type"], row["turn"]) for row in answer["places"]] == [
        (1, "turn.recorded", 1),
        (2, "fact.set", 1),
    ]
    (forgetting,) = answer["forgettings"]
    assert (forgetting["who"], forgetting["scope"], forgetting["reason"], forgetting["count"]) == (
        "clerk-4",
        "turns",
        "asked to",
        2,
    )


def rows(store: Ledgers, policy: Policy) -> list[tuple[int, str, str]]:
    return [(row.turn, row.verdict, row.rule) for row in view(store, "case").window(policy).receipt]


def test_the_receipt_says_never(store: Ledgers, case: Ledger) -> None:
    for number in range(1, 9):
        case.record_turn("user" if number % 2 else "assistant", f"Remark {number}.")
    case.forget(turns=[1, 3, 7], reason="asked to")
    assert rows(store, Policy(tail_turns=1, compaction=None)) == [
        (1, "never", "forgotten"),
        (2, "drop", "outside the tail"),
        (3, "never", "forgotten"),
        *((number, "drop", "outside the tail") for number in (4, 5, 6)),
        (7, "never", "forgotten"),
        (8, "keep", "current"),
    ]
    made = view(store, "case").window(Policy(tail_turns=1, compaction=None))
    assert [row.tokens > 0 for row in made.receipt] == [True, False, False, False, False, False, True, True]
    assert rows(store, Policy(tail_turns=1)) == [
        (1, "never", "forgotten"),
        (2, "keep", "not compacted yet"),
        (3, "never", "forgotten"),
        *((number, "keep", "not compacted yet") for number in (4, 5, 6)),
        (7, "never", "forgotten"),
        (8, "keep", "current"),
    ]


@BOTH
def test_a_picture_and_a_document_that_were_forgotten_read_so(store: Ledgers, case: Ledger, form: str) -> None:
    picture = case.store_artifact(PNG, media_type="image/png")
    notes = case.store_artifact(b"Ivo has berth 9.", media_type="text/plain")
    kept = case.store_artifact(PNG + b"1", media_type="image/png")
    parts = [
        DocumentPart(sha256=notes, media_type="text/plain"),
        *(ImagePart(sha256=one, media_type="image/png") for one in (picture, kept)),
    ]
    case.record_turn("user", ["What is this?", *parts])
    case.forget(artifacts=[picture], reason="asked to")
    case.forget(artifacts=[notes], reason="asked to")
    for at in (4, None):
        seen = view(store, "case", at=at)
        made = seen.window(render=form)
        assert json.dumps(made.request).count("[forgotten]") == 2
        assert b"Ivo" not in made.request_bytes
        assert all(sha256.encode() not in made.request_bytes + seen.transcript().to_json() for sha256 in (picture, notes))
        assert [row.verdict for row in made.receipt] == ["keep"]
        assert seen.transcript().turns[0].forgotten is None
        assert len(made.request_bytes) > 100


def test_an_artifact_that_was_stored_again_is_shown_from_then_on(store: Ledgers, case: Ledger) -> None:
    picture = case.store_artifact(PNG, media_type="image/png")
    case.record_turn("user", ["What is this?", ImagePart(sha256=picture, media_type="image/png")])
    case.forget(artifacts=[picture], reason="asked to")
    assert case.store_artifact(PNG, media_type="image/png") == picture
    shown = [[part.type for part in view(store, "case", at=at).transcript().turns[0].parts] for at in (2, 3, 4)]
    assert shown == [["text", "forgotten"], ["text", "forgotten"], ["text", "image"]]
    assert "image_url" in json.dumps(view(store, "case").window().request)


def test_bytes_that_are_missing_were_not_forgotten(tmp_path: Any) -> None:
    import sqlite3

    path = tmp_path / "store.db"
    with connect(str(path)) as store:
        case = store.ledger("case")
        picture = case.store_artifact(PNG, media_type="image/png")
        case.record_turn("user", ["What is this?", ImagePart(sha256=picture, media_type="image/png")])
        seen = view(store, "case")
        assert seen.window().tokens > 0
        damaging = sqlite3.connect(path)
        damaging.execute("DELETE FROM blobs")
        damaging.commit()
        damaging.close()
        with pytest.raises(CorruptRecord, match="were not forgotten"):
            seen.window(Policy(tail_turns=3))  # the one above is remembered


def test_a_wish_is_pending_until_it_is_answered(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "My berth is 7.")
    case.record_turn("user", "Please forget my name. " + "It is long. " * 40)
    case.record_turn("user", "Do not keep my phone number.")
    case.record_turn("user", "Vergiss meine Adresse.")
    case.record_turn("assistant", "Please forget my address, said the user.")
    seen = view(store, "case")
    asked = seen.forget_requests()
    assert [(request.turn, request.version, request.rule, request.language) for request in asked] == [
        (2, 2, "mine", "en"),
        (3, 3, "not kept", "en"),
        (4, 4, "mine", "de"),
    ]
    assert (len(asked[0].text), asked[0].text[-1]) == (280, "…")
    assert [row.turn for row in seen.window().receipt if row.asks_to_forget] == [2, 3, 4]
    shown = parsed(seen.window().to_json())["receipt"]["turns"]
    assert [row.get("asks_to_forget") for row in shown] == [None, True, True, True, None]
    case.decline_forgetting(3, because="the law asks for it")
    case.forget(turns=[1], reason="asked to", answers=[2])
    case.forget(turns=[4], reason="asked to", answers=[])  # a turn that is forgotten asks for nothing any more
    assert view(store, "case").forget_requests() == ()
    assert seen.version == 5
    assert [request.turn for request in seen.forget_requests()] == [2, 3]


def test_a_forgotten_ledger_is_listed_by_what_is_left(store: Ledgers) -> None:
    for name in ("case of Ivo", "another"):
        store.ledger(name).record_turn("user", "Hello.")
    store.forget(ledger="case of Ivo", reason="asked to")
    listed = listing(store)
    assert [(one.turns, "Ivo" in one.ledger) for one in listed] == [(1, False), (1, False)]
    assert view(store, listed[0].ledger).transcript().turns[0].text == "[forgotten]"


def test_the_same_basis_gives_the_same_bytes() -> None:
    with connect(":memory:", clock=count(1_900_000_000_000_000, 1_000_000).__next__) as store:
        case = store.ledger("case")
        case.record_turn("user", "My berth is 7.")
        case.record_turn("user", "And 8.")
        case.forget(turns=[1], reason="asked to")
        once, again = view(store, "case"), view(store, "case")
        assert once.window().to_json() == again.window().to_json()
        assert once.state().to_json() == again.state().to_json()
