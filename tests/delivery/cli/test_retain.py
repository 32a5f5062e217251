"""Retention and legal holds from the command line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ledger import connect
from tests.delivery.cli.conftest import Command

DAY = timedelta(days=1)
NOW = datetime.now(UTC)


def record(store_path: Path, name: str, *, days_ago: int, labels: tuple[str, ...] = ()) -> None:
    """A ledger with one turn, recorded some days ago."""
    recorded = NOW - days_ago * DAY
    with connect(str(store_path), clock=lambda: int(recorded.timestamp() * 1_000_000)) as store:
        store.ledger(name).record_turn("user", f"what {name} said", labels=labels)


@pytest.fixture
def old(command: Command, store_path: Path) -> str:
    """A ledger from 40 days ago that is kept for 30."""
    record(store_path, "old", days_ago=40)
    assert command("retain", "old", "--set", "30 days").code == 0
    return "old"


def test_what_is_past_its_retention_is_planned_then_swept(command: Command, old: str, store_path: Path) -> None:
    record(store_path, "new", days_ago=2)
    command("retain", "new", "--set", "30 days")
    (planned,) = command("retain", "--dry-run", "--json").answer
    assert (planned["state"], planned["scope"], planned["ledgers"][0]["ledger"]) == ("planned", "retention", old)
    assert "1 event would be forgotten" in command("retain", "--dry-run").out
    assert b"what old said" in store_path.read_bytes()
    (done,) = command("retain", "--by", "nightly", "--json").answer
    assert (done["state"], done["reason"]) == ("complete", "past its retention (the ledger: 30 days)")
    assert command("forget", "--jobs", "--json").answer[0]["by"] == "nightly"
    assert b"what old said" not in store_path.read_bytes()
    assert "what new said" in command("show", "new").out
    again = command("retain")
    assert (again.code, again.out) == (0, "nothing is past its retention\n")
    assert command("retain", "--json").answer == []


def test_rules_are_set_for_a_kind_and_shown(command: Command, old: str) -> None:
    made = command("retain", old, "--set", "1 year after close", "--label", "payment", "--json").answer
    assert made == {
        "version": 3,
        "ledger": old,
        "scope": "label",
        "name": "payment",
        "keep_seconds": 31_536_000,
        "after_close": True,
        "rule": "label payment: 1 year after close",
    }
    command("retain", old, "--set", "60 days", "--section", "open")
    assert "type tool.returned: 1 week" in command("retain", old, "--set", "7 days", "--type", "tool.returned").out
    rules = command("retain", old, "--rules", "--json").answer
    assert {rule["scope"] for rule in rules} == {"ledger", "label", "section", "type"}
    assert "label payment: 1 year after close" in command("retain", "--rules").out
    command("retain", old, "--set", "forever")
    assert "ledger" not in {rule["scope"] for rule in command("retain", old, "--rules", "--json").answer}


def test_no_rules_are_told(command: Command, refund: str) -> None:
    assert command("retain", refund, "--rules").out.startswith("no rules")
    assert command("retain", refund).out == "nothing is past its retention\n"


def test_a_label_of_an_import_is_what_a_rule_is_for(command: Command, store_path: Path) -> None:
    file = store_path.with_name("talk.json")
    file.write_text('[{"role": "user", "content": "paid"}]', encoding="utf-8")
    command("import", str(file), "--ledger", "talk", "--label", "chat", "--label", "payment")
    command("retain", "talk", "--set", "0 days", "--label", "other")
    assert command("retain", "talk").out == "nothing is past its retention\n"
    command("retain", "talk", "--set", "0 days", "--label", "payment")
    assert command("retain", "talk", "--json").answer[0]["ledgers"][0]["counts"] == {"turn.recorded": 1}


def test_a_held_ledger_is_told_and_nothing_of_it_erased(command: Command, old: str, store_path: Path) -> None:
    assert command("hold", old, "--json").answer == {"ledger": old, "held": False, "because": None}
    held = command("hold", old, "--place", "case 77", "--by", "counsel", "--json").answer
    assert held == {"ledger": old, "held": True, "because": "case 77"}
    for arguments in (("retain",), ("retain", "--dry-run")):
        swept = command(*arguments)
        assert swept.code == 1
        assert "case 77" in swept.out
    forgotten = command("forget", old, "--all", "--reason", "asked")
    assert (forgotten.code, forgotten.out) == (1, "")
    assert "case 77" in forgotten.err
    assert b"what old said" in store_path.read_bytes()
    assert command("hold", old).out == f"{old} is under a legal hold: case 77\n"
    assert command("hold", old, "--lift", "settled").out == f"{old} is under no legal hold\n"
    assert command("retain").code == 0
    assert b"what old said" not in store_path.read_bytes()


def test_answers_are_judged_at_a_time(command: Command, old: str) -> None:
    """Past its retention content reads as forgotten, before anybody sweeps it."""
    before = (NOW - 15 * DAY).isoformat()
    for asked in ("show", "window"):
        assert "what old said" not in command(asked, old).out
        assert "what old said" in command(asked, old, "--judged-at", before).out
    assert "[forgotten] by job retention" in command("show", old).out
    assert "what old said" in command("state", old, "--judged-at", before).out
    assert "what old said" in command("handoff", old, "--judged-at", before).out
    assert command("show", old, "--judged-at", before, "--json").answer["basis"]["judged_at"].startswith(before[:19])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("retain", "--set", "30 days"), "--set is for one ledger"),
        (("retain", "old", "--set", "a while"), "30 days"),
        (("retain", "old", "--label", "payment"), "go with --set"),
        (("retain", "old", "--set", "1 day", "--label", "x", "--section", "open"), "one of label, section"),
        (("retain", "old", "--set", "1 day", "--section", "nonsense"), "nonsense"),
        (("retain", "old", "--set", "1 day", "--type", "nonsense"), "nonsense"),
        (("retain", "old", "--set", "1 day", "--dry-run"), "one at a time"),
        (("retain", "old", "--rules", "--dry-run"), "one at a time"),
        (("retain", "odl"), "nearest: old"),
        (("retain", "odl", "--set", "1 day"), "nearest: old"),
        (("hold", "odl", "--place", "x"), "nearest: old"),
        (("hold", "old", "--place", "x", "--lift", "y"), "one at a time"),
        (("hold", "old", "--lift", "y"), "no legal hold"),
        (("show", "old", "--judged-at", "yesterday"), "--judged-at 'yesterday'"),
        (("show", "old", "--judged-at", "2031-05-11T09:00:00"), "zone"),
    ],
)
@pytest.mark.usefixtures("old")
def test_a_mistake_is_one_line_and_changes_nothing(command: Command, arguments: tuple[str, ...], said: str) -> None:
    outcome = command(*arguments)
    assert outcome.code == 2, outcome.err
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1
    assert said in outcome.err
    assert [(row["ledger"], row["version"]) for row in command("ledgers", "--json").answer] == [("old", 2)]


@pytest.mark.parametrize("way", ["--place", "--lift"])
def test_a_hold_needs_a_reason(command: Command, old: str, way: str) -> None:
    if way == "--lift":
        command("hold", old, "--place", "case 77")
    outcome = command("hold", old, way, " ")
    assert (outcome.code, outcome.out) == (2, "")
    assert "because is empty" in outcome.err
    assert command("hold", old, "--json").answer["held"] is (way == "--lift")
