"""What a window names by an id can be opened: evidence, contradictions and turns, and never once they are forgotten."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from delivery.agent_tools import FETCH_RESULT, answer_call
from ledger import JsonText, Ledger, Ledgers, connect
from ledger.events import Side
from ledger.parts import ImagePart, ReasoningPart, TextPart, ToolCallPart
from replay import view
from replay.fetching import FetchedResult
from replay.fetching_ids import HoldsNoContent, UnknownResult

PAGE = "Berth B-12 is nine fathoms deep.\nBerth B-14 is eleven."
READ_AT = datetime(2031, 5, 3, 9, tzinfo=UTC)


def recorded_page(case: Ledger) -> str:
    """A page with two quotes: artifact 1, ev_2, ev_3, con_4."""
    sha256 = case.store_artifact(
        PAGE.encode(), media_type="text/plain", name="depths", url="https://port.example/depths", retrieved_at=READ_AT
    )
    case.record_evidence("B-12 is deep enough", quote="B-12 is nine fathoms", artifact=sha256, requirement="depth")
    case.record_evidence("B-14 is deeper", quote="B-14 is twelve", artifact=sha256)
    case.record_contradiction("which berth is deepest", ["ev_2", "ev_3"])
    return sha256


def opened(store: Ledgers, wanted: str, **options: Any) -> dict[str, Any]:
    found = view(store, "case", **options).fetch(wanted)
    assert (found.id, found.forgotten, found.is_error, found.tool) == (wanted, None, False, None)
    known: dict[str, Any] = json.loads(found.text)
    return known


def test_evidence_comes_with_its_quote_and_its_page(store: Ledgers, case: Ledger) -> None:
    sha256 = recorded_page(case)
    page = {"sha256": sha256, "version": 1, "name": "depths", "media_type": "text/plain", "size_bytes": len(PAGE)}
    assert opened(store, "ev_2") == {
        "id": "ev_2",
        "claim": "B-12 is deep enough",
        "quote": "B-12 is nine fathoms",
        "match": "exact",
        "requirement": "depth",
        "url": "https://port.example/depths",
        "retrieved_at": "2031-05-03T09:00:00+00:00",
        "page": page,
    }
    assert opened(store, "ev_3")["match"] == "not_found"
    assert json.loads(view(store, "case").fetch("ev_2").to_json())["kind"] == "evidence"


def test_the_last_record_of_a_page_before_the_evidence_is_its_page(store: Ledgers, case: Ledger) -> None:
    sha256 = case.store_artifact(PAGE.encode(), url="https://port.example/old")
    case.store_artifact(PAGE.encode(), url="https://port.example/new")
    case.record_turn("user", "Which is deepest?")
    evidence = case.record_evidence("deep", quote="eleven", artifact=sha256)
    case.store_artifact(PAGE.encode(), url="https://port.example/later")
    assert opened(store, evidence)["url"] == "https://port.example/new"


def test_a_contradiction_comes_with_what_its_sides_claim(store: Ledgers, case: Ledger) -> None:
    recorded_page(case)
    known = opened(store, "con_4")
    assert (known["about"], known["status"], known["resolution"]) == ("which berth is deepest", "open", None)
    assert known["sides"] == [
        {"evidence": "ev_2", "claim": "B-12 is deep enough"},
        {"evidence": "ev_3", "claim": "B-14 is deeper"},
    ]
    case.resolve_contradiction("con_4", because="sounded again", source="user")
    known = opened(store, "con_4")
    assert known["status"] == "resolved"
    assert (known["resolution"]["version"], known["resolution"]["because"]) == (5, "sounded again")
    assert opened(store, "con_4", at=4)["status"] == "open"


def test_sides_that_are_recorded_claims_or_values_are_told_too(store: Ledgers, case: Ledger) -> None:
    case.set_fact("berth", "B-12", source="tool")
    sides = [Side(version=1), Side(value=JsonText.of("B-14"), source="user", turn=None)]
    contradiction = case.record_contradiction("the berth", sides)
    assert opened(store, contradiction)["sides"] == [
        {"version": 1, "claim": "berth: B-12"},
        {"value": "B-14", "source": "user"},
    ]


def test_an_entry_comes_with_what_became_of_it(store: Ledgers, case: Ledger) -> None:
    entry = case.add_entry("constraints", "No berth west of the lock", why="it silts up", source="user")
    case.record_turn("user", "Go on.")
    said = {"id": "en_1", "section": "constraints", "what": "No berth west of the lock", "why": "it silts up"}
    assert opened(store, entry) == {**said, "source": "user", "turn": None, "status": "holds"}
    case.close_entry(entry, because="it was dredged", source="user")
    known = opened(store, entry)
    assert (known["status"], known["closed"]) == ("closed", {"version": 3, "turn": None, "because": "it was dredged"})
    assert opened(store, entry, at=2)["status"] == "holds"
    case.forget(ids=["v_3"], reason="asked to", scrub=False)
    known = opened(store, entry)
    assert (known["status"], known["closed"]["because"]["forgotten"]["reason"]) == ("closed", "asked to")
    case.forget(ids=[entry], reason="asked to", scrub=False)
    assert view(store, "case").fetch(entry).text == "[forgotten]"


def test_a_turn_comes_with_its_calls_and_their_results(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "How deep is B-12?")
    sha256 = case.store_artifact(b"\x89PNG")
    call = ToolCallPart(call_id="c1", tool="sound", arguments=JsonText('{"berth": "B-12"}'))
    thought = ReasoningPart(provider="anthropic", raw=JsonText('{"thinking": "a private thought"}'))
    case.record_turn("assistant", [thought, TextPart(text="Let me see."), call, ImagePart(sha256=sha256)])
    assert '"result":null' in view(store, "case").fetch("turn_2").text
    case.record_return("c1", "nine fathoms")
    found = view(store, "case").fetch("turn_2")
    assert (found.kind, found.role, found.turn, found.version) == ("turn", "assistant", 2, 3)
    said, _, asked = found.text.partition("\n")
    assert said == "Let me see."
    assert json.loads(asked) == {"call": "c1", "tool": "sound", "arguments": {"berth": "B-12"}, "result": "r_4"}
    assert found.artifacts == {sha256: b"\x89PNG"}
    assert b"private" not in found.to_json()
    assert view(store, "case").fetch("turn_1").text == "How deep is B-12?"


def test_a_call_that_is_open_is_told_apart_from_one_whose_result_was_forgotten(store: Ledgers, case: Ledger) -> None:
    calls = [ToolCallPart(call_id=f"c{number}", tool="sound", arguments=JsonText("{}")) for number in (1, 2, 3)]
    case.record_turn("assistant", calls)
    case.record_return("c2", "nine fathoms")
    case.record_return("c1", "a secret depth")
    job = case.forget(ids=["r_3"], reason="asked to", scrub=False).job
    asked = [json.loads(line) for line in view(store, "case").fetch("turn_1").text.split("\n")]
    assert [call["result"] for call in asked] == ["r_3", "r_2", None]
    assert ["forgotten" in call for call in asked] == [True, False, False]
    assert (asked[0]["forgotten"]["job"], asked[0]["forgotten"]["reason"]) == (job, "asked to")
    assert view(store, "case").fetch(asked[0]["result"]).forgotten is not None
    before = json.loads(view(store, "case", at=2).fetch("turn_1").text.split("\n")[0])
    assert (before["result"], "forgotten" in before) == (None, False)


def summarised(case: Ledger) -> str:
    """A turn, and a summary of it: sum_2."""
    case.record_turn("user", "How deep is B-12?")
    return case.record_summary(
        "Asks for a depth.",
        first_turn=1,
        last_turn=1,
        through_version=1,
        inputs="0" * 64,
        summariser="me/1",
        model="small-1",
    )


def test_a_summary_comes_with_what_it_was_made_of(store: Ledgers, case: Ledger) -> None:
    summary = summarised(case)
    assert summary == "sum_2"
    assert opened(store, summary) == {
        "id": "sum_2",
        "type": "summary.recorded",
        "first_turn": 1,
        "last_turn": 1,
        "through_version": 1,
        "inputs": "0" * 64,
        "text": "Asks for a depth.",
        "summariser": "me/1",
        "model": "small-1",
    }
    assert view(store, "case").fetch(summary).kind == "summary"
    case.forget(turns=[1], reason="asked to", scrub=False)
    assert_only_a_mark(view(store, "case").fetch(summary))


def test_a_served_window_comes_as_what_was_recorded_of_it(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "How deep is B-12?")
    window = view(store, "case").window()
    served = case.record_window(window)
    known = opened(store, served)
    assert (known["id"], known["type"], known["of_version"]) == (served, "window.recorded", 1)
    assert (known["policy"], known["tokens"], known["form"]) == (window.policy.digest, window.tokens, "openai")
    assert isinstance(known["plan"], dict)
    assert view(store, "case").fetch(served).kind == "window"


def test_an_event_is_opened_by_its_version_as_what_it_is(store: Ledgers, case: Ledger) -> None:
    sha256 = recorded_page(case)
    case.record_turn("system", "Be brief.")
    case.record_turn("assistant", [ToolCallPart(call_id="c1", tool="sound", arguments=JsonText("{}"))])
    case.record_return("c1", "nine fathoms")
    case.set_fact("depth", "9", source="tool")
    seen = view(store, "case")
    found = {version: seen.fetch(f"v_{version}") for version in range(1, 9)}
    assert [(one.id, one.kind) for one in found.values()] == [
        ("v_1", "artifact"),
        ("ev_2", "evidence"),
        ("ev_3", "evidence"),
        ("con_4", "contradiction"),
        ("v_5", "system"),
        ("turn_1", "turn"),
        ("r_7", "result"),
        ("v_8", "event"),
    ]
    assert found[1].artifacts == {sha256: PAGE.encode()}
    assert json.loads(found[1].text)["url"] == "https://port.example/depths"
    assert (found[5].text, found[5].role, found[5].turn) == ("Be brief.", "system", None)
    assert found[7].text == "nine fathoms"
    fact = {"id": "v_8", "type": "fact.set", "field": "depth", "value": "9", "source": "tool"}
    assert json.loads(found[8].text) == fact
    hits = [hit.id for word in ("depths", "brief", "sound", "depth", "fathoms") for hit in seen.search(word).hits]
    assert len(hits) > 6
    for hit in hits:
        seen.fetch(hit)


@pytest.mark.parametrize("wanted", ["v_5", "v_2"])
def test_an_event_that_was_forgotten_is_marked_by_its_version(store: Ledgers, case: Ledger, wanted: str) -> None:
    recorded_page(case)
    case.record_turn("system", "Hello, deep one.")
    case.forget(ids=[wanted], reason="asked to", scrub=False)
    for seen in (view(store, "case"), view(store, "case", at=5)):
        assert_only_a_mark(seen.fetch(wanted))


def test_an_id_under_which_no_content_ever_is_says_so(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "Hello")
    case.place_hold(because="a lawsuit that no model should read of")
    case.lift_hold(because="settled")
    job = case.forget(turns=[1], reason="asked to", scrub=False).job
    assert job is not None
    seen = view(store, "case")
    for wanted, what in (("v_2", "a hold.placed"), ("v_4", "a content.forgotten"), (job, "the job of a forgetting")):
        with pytest.raises(HoldsNoContent, match=what) as caught:
            seen.fetch(wanted)
        assert caught.value.id == wanted
        answer = answer_call(seen, FETCH_RESULT, {"id": wanted})
        assert answer.is_error
        assert "lawsuit" not in answer.text


@pytest.mark.parametrize(
    ("wanted", "near", "said"),
    [
        ("ev_9", ["ev_3", "ev_2"], "evidence 'ev_9' is not recorded at version 6"),
        ("ev_4", ["ev_3"], "the nearest are ev_3, the last is ev_3"),
        ("con_2", ["con_4"], "the last is con_4"),
        ("turn_7", ["turn_2", "turn_1"], "the last is turn_2"),
        ("en_3", [], "no entry was added by version 6"),
        ("sum_4", [], "no summary was recorded by version 6"),
        ("win_6", [], "no window was recorded as served by version 6"),
        ("v_7", ["v_6", "v_5", "v_4"], "event 'v_7' is not recorded at version 6: .* the last is v_6"),
        ("turn_0", [], "'turn_0' is no id .*: no tool has returned anything"),
        ("2", [], "'2' is no id \\(a number behind r_, ev_, con_, en_, turn_, sum_, win_, v_\\)"),
    ],
)
def test_an_unknown_id_is_told_with_those_of_its_kind(
    store: Ledgers, case: Ledger, wanted: str, near: list[str], said: str
) -> None:
    recorded_page(case)
    case.record_turn("user", "Hello")
    case.record_turn("assistant", "Good day")
    with pytest.raises(UnknownResult, match=said) as caught:
        view(store, "case").fetch(wanted)
    assert caught.value.nearest == near


def test_a_view_of_the_past_does_not_know_what_came_later(store: Ledgers, case: Ledger) -> None:
    recorded_page(case)
    case.record_turn("user", "Hello")
    for wanted, version in (("ev_3", 3), ("con_4", 4), ("turn_1", 5)):
        assert view(store, "case", at=version).fetch(wanted).version == version
        with pytest.raises(UnknownResult):
            view(store, "case", at=version - 1).fetch(wanted)


SECRETS = (b"fathoms", b"deep", b"twelve", b"depths", b"Hello")


def assert_only_a_mark(found: FetchedResult) -> None:
    assert found.forgotten is not None
    assert (found.text, found.forgotten.reason) == ("[forgotten]", "asked to")
    assert not [secret for secret in SECRETS if secret in found.to_json()]


FORGETTINGS: dict[str, tuple[Callable[[Ledger, str], object], tuple[str, ...]]] = {
    "evidence": (lambda case, _: case.forget(ids=["ev_2"], reason="asked to", scrub=False), ("ev_2",)),
    "its page": (lambda case, page: case.forget(artifacts=[page], reason="asked to", scrub=False), ("ev_2", "ev_3")),
    "the contradiction": (lambda case, _: case.forget(ids=["con_4"], reason="asked to", scrub=False), ("con_4",)),
    "a turn": (lambda case, _: case.forget(turns=[1], reason="asked to", scrub=False), ("turn_1",)),
}


@pytest.mark.parametrize("name", FORGETTINGS)
def test_what_is_forgotten_is_marked_in_every_view(store: Ledgers, case: Ledger, name: str) -> None:
    page = recorded_page(case)
    case.record_turn("user", "Hello")
    kept, past = view(store, "case"), view(store, "case", at=5)
    kept.fetch("con_4")
    forget, gone = FORGETTINGS[name]
    forget(case, page)
    for seen in (kept, past, view(store, "case")):
        for wanted in gone:
            assert_only_a_mark(seen.fetch(wanted))
    answer = json.loads(answer_call(kept, FETCH_RESULT, {"id": gone[0]}).text)
    assert answer["forgotten"] is True
    assert "text" not in answer


def test_a_forgotten_claim_leaves_nothing_in_its_contradiction(store: Ledgers, case: Ledger) -> None:
    recorded_page(case)
    case.forget(ids=["ev_2"], reason="asked to", scrub=False)
    found = view(store, "case").fetch("con_4").to_json()
    assert b"B-12" not in found


def test_what_is_past_its_retention_reads_as_forgotten() -> None:
    now = [1_900_000_000_000_000]
    with connect(":memory:", clock=lambda: now[0]) as store:
        case = store.ledger("case")
        recorded_page(case)
        case.record_turn("user", "Hello")
        case.set_retention("30 days", event_type="evidence.recorded")
        case.set_retention("30 days", event_type="turn.recorded")
        now[0] += 31 * 86_400 * 1_000_000
        seen = view(store, "case")
        assert (seen.fetch("ev_2").text, seen.fetch("turn_1").text) == ("[forgotten]", "[forgotten]")
        assert b"B-12" not in seen.fetch("con_4").to_json()
        then = datetime.fromtimestamp(1_900_000_000, UTC) + timedelta(days=5)
        assert view(store, "case", judged_at=then).fetch("turn_1").text == "Hello"
        assert json.loads(view(store, "case", judged_at=then).fetch("ev_2").text)["page"]["version"] == 1


def test_a_model_opens_what_its_window_names(store: Ledgers, case: Ledger) -> None:
    recorded_page(case)
    case.record_turn("user", "Hello, which berth?")
    seen = view(store, "case")
    answer = json.loads(answer_call(seen, FETCH_RESULT, {"id": "turn_1", "start": 7, "length": 5}).text)
    assert answer == {
        "id": "turn_1",
        "kind": "turn",
        "turn": 1,
        "role": "user",
        "start": 7,
        "end": 12,
        "characters": 19,
        "text": "which",
    }
    for wanted, kind in (("ev_2", "evidence"), ("con_4", "contradiction")):
        answer = json.loads(answer_call(seen, FETCH_RESULT, {"id": wanted}).text)
        assert (answer["id"], answer["kind"]) == (wanted, kind)
        assert "B-12 is deep enough" in answer["text"]
    assert answer_call(seen, FETCH_RESULT, {"id": "ev_7"}).is_error
