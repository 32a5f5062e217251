"""What was recorded stays, in its order; what is passed on is complete."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger.errors import LedgerError
from ledger.parts import ToolCallPart
from projections.policy import Policy
from replay import Turn, view

ROOT = Path(__file__).resolve().parents[2]


def test_a_correction_keeps_both_values(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "Collect the bins on Mondays.")
    case.set_fact("collection day", "Monday", source="user", turn=1)
    case.record_turn("assistant", "Noted.")
    case.record_turn("user", "Thursdays, sorry.")
    case.set_fact("Collection-Day", "Thursday", source="user", turn=3, supersedes="Monday")
    seen = view(store, "case")
    assert seen.state().sections["entities"] == {"collection_day": {"value": '"Thursday"', "turn": 3, "source": "user"}}
    monday, thursday = seen.history("collection day").values
    assert (monday.value, monday.from_version, monday.to_version, monday.superseded_by) == ("Monday", 2, 5, 5)
    assert (thursday.value, thursday.turn, thursday.from_version, thursday.to_version) == ("Thursday", 3, 5, None)
    assert view(store, "case", at=4).state().entities["collection_day"].value == "Monday"


def test_a_contradiction_loses_neither_value(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "The rent is 940 EUR.")
    case.set_fact("rent", "940 EUR", source="user", turn=1)
    case.record_turn("assistant", "The contract says 990 EUR.")
    case.set_fact("rent", "990 EUR", source="tool", turn=2)
    history = view(store, "case").history("rent")
    assert [value.value for value in history.values] == ["940 EUR"]
    (dispute,) = history.contradictions
    assert [side.value.value for side in dispute.sides if side.value is not None] == ["940 EUR", "990 EUR"]
    case.resolve_contradiction(dispute.id, because="the user read it again", source="user", value="990 EUR")
    history = view(store, "case").history("rent")
    assert [value.value for value in history.values] == ["940 EUR", "990 EUR"]
    assert history.contradictions[0].resolution is not None
    assert view(store, "case").state().contradictions == ()
    assert len(view(store, "case", at=4).state().contradictions) == 1


def test_the_order_is_that_of_the_record_and_not_of_the_clock() -> None:
    with connect(":memory:", clock=lambda: 1_900_000_000_000_000) as store:
        case = store.ledger("case")
        for number in range(50):
            case.record_turn("user", f"question {number}")
            case.record_turn("assistant", f"answer {number}")
        turns = view(store, "case").transcript().transcript.turns
        assert [turn.text for turn in turns] == [f"{who} {n}" for n in range(50) for who in ("question", "answer")]
        pages = [list(case.events(after, after + 7)) for after in range(0, 100, 7)]
        assert [one.version for page in pages for one in page] == list(range(1, 101))


def test_a_clock_that_goes_back_changes_nothing(tmp_path: Path) -> None:
    times = iter([1_900_000_000_000_000, 1_800_000_000_000_000, 1_700_000_000_000_000])
    with connect(str(tmp_path / "store.db"), clock=times.__next__) as store:
        case = store.ledger("case")
        for text in ("one", "two", "three"):
            case.record_turn("user", text)
        recorded_at = [one.recorded_at for one in case.events()]
        assert recorded_at == sorted(recorded_at)
        assert view(store, "case", at=recorded_at[0]).version == 3


def test_answers_do_not_depend_on_when_they_are_asked(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    with connect(path, clock=lambda: 1_900_000_000_000_000) as store:
        case = store.ledger("case")
        case.record_turn("user", "Book the crossing.")
        case.set_fact("offer", {"price": "31.50", "expires_at": "2031-03-01T00:00:00Z"}, source="tool")
        now = view(store, "case").state().to_json()
    with connect(path, clock=lambda: 1_999_000_000_000_000) as store:
        assert view(store, "case").state().to_json() == now


def test_windows_leave_the_record_as_it_is(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    tight = Policy(tail_turns=2, budget_tokens=150)
    with connect(path) as store:
        case = store.ledger("case")
        for number in range(1, 61):
            case.record_turn("user" if number % 2 else "assistant", f"Remark {number} about the mooring lines.")
        whole = view(store, "case").transcript().to_json()
        before = view(store, "case", at=Turn(39)).window(tight).to_json()
        for _ in range(3):
            assert {row.verdict for row in view(store, "case").window(tight).receipt} == {"keep", "drop"}
        assert case.version == 60
    script = (
        "import sys, ledger; from replay import Turn, view; from projections.policy import Policy\n"
        f"store = ledger.connect({path!r}); tight = Policy(tail_turns=2, budget_tokens=150)\n"
        "sys.stdout.buffer.write(view(store, 'case').transcript().to_json() + b'\\n')\n"
        "sys.stdout.buffer.write(view(store, 'case', at=Turn(39)).window(tight).to_json())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env={**os.environ}, capture_output=True, check=True)
    assert done.stdout.split(b"\n") == [whole, before]


def test_another_policy_can_be_asked_of_the_past(store: Ledgers, case: Ledger) -> None:
    for number in range(1, 21):
        case.record_turn("user" if number % 2 else "assistant", f"Remark {number}.")
    kept = [
        sum(
            row.verdict == "keep"
            for row in view(store, "case", at=Turn(11)).window(Policy(tail_turns=k, compaction=None)).receipt
        )
        for k in (0, 1, 4, 9, 100)
    ]
    assert kept == [2, 3, 6, 11, 11]


def test_a_handoff_says_what_holds(store: Ledgers, case: Ledger) -> None:
    page = case.store_artifact(b"Mooring at berth 7 costs 31.50 EUR a night.", media_type="text/plain")
    case.record_turn("user", "Find out whether we may moor in Ghent.")
    case.add_entry("constraints", "Not more than 35 EUR a night.", source="user", turn=1)
    case.add_entry("constraints", "Shore power is needed.", source="user", turn=1)
    evidence = [
        case.record_evidence("The price fits.", quote=quote, artifact=page) for quote in ("31.50 EUR", "berth 7", "40 EUR")
    ]
    handoff = view(store, "case").handoff()
    assert handoff.brief["goal"] == "Find out whether we may moor in Ghent."
    assert [entry["what"] for entry in handoff.brief["constraints"]] == [
        "Not more than 35 EUR a night.",
        "Shore power is needed.",
    ]
    assert handoff.brief["evidence_ids"] == evidence
    events = {f"ev_{one.version}": one.event for one in case.events() if one.event.type == "evidence.recorded"}
    assert [getattr(events[name], "match", None) for name in evidence] == ["exact", "exact", "not_found"]
    assert store.store.blob(store.head("case").ledger, getattr(events[evidence[0]], "sha256", "")) is not None


def test_refusals_reach_every_later_handoff(store: Ledgers, case: Ledger) -> None:
    refused = {6: "a voucher", 9: "a phone call"}
    for number in range(1, 81):
        case.record_turn("assistant" if number % 2 else "user", f"Remark {number}.")
        if number in refused:
            case.add_entry("rejected", refused[number], why="the user said no", source="inferred", turn=number)
    for at, expected in ((Turn(5), []), (Turn(7), ["a voucher"]), (Turn(80), ["a voucher", "a phone call"])):
        brief = json.loads(view(store, "case", at=at).handoff().to_json())
        assert [entry["what"] for entry in brief["rejected"]] == expected
        assert brief["basis"]["version"] == view(store, "case", at=at).version


def test_what_is_unknown_is_absent_from_a_handoff(store: Ledgers, case: Ledger) -> None:
    case.record_turn("assistant", "Good morning.")
    brief = json.loads(view(store, "case").handoff().to_json())
    unknown = {"goal", "facts", "budget_remaining", "outcome"}
    assert unknown & set(brief) == set()
    assert None not in brief.values()


def test_a_handoff_grows_with_what_becomes_known(store: Ledgers, case: Ledger) -> None:
    case.open(task="Moor in Ghent")
    case.record_turn("user", "Hello.")
    question = case.add_entry("open", "Is berth 7 free?", source="user", turn=1)
    case.close_entry(question, source="interface", because="it is", turn=1)
    case.set_fact("budget remaining", JsonText.parse("31.50"), source="tool")
    case.record_outcome("completed", judge="user")
    brief = json.loads(view(store, "case").handoff().to_json(), parse_float=str)
    assert (brief["goal"], brief["budget_remaining"]) == ("Moor in Ghent", "31.50")
    assert brief["completed"] == [{"id": question, "what": "Is berth 7 free?", "because": "it is", "turn": 1}]
    assert brief["open_questions"] == []
    assert brief["outcome"] == {"status": "completed", "judge": "user"}


def test_one_call_cannot_stand_twice_in_a_turn(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "Hand this over.")
    call: Any = ToolCallPart(call_id="h1", tool="transfer", arguments=JsonText.of({}))
    with pytest.raises(LedgerError, match="twice in one turn"):
        case.record_turn("assistant", [call, call])
    assert case.version == 1


def test_integers_of_any_size_can_be_shown(store: Ledgers, case: Ledger) -> None:
    from ledger.parts import DocumentPart

    case.record_turn("user", ["Read it.", DocumentPart(url="https://papers.example/a.pdf", size_bytes=10**30)])
    assert str(10**30).encode() in view(store, "case").transcript().to_json()
