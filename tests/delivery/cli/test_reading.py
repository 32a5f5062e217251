"""What the asking commands answer, for programs and for people."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ledger
from replay import view
from tests.delivery.cli.conftest import Command


def test_ledgers_lists_version_turns_and_opening(command: Command, refund: str) -> None:
    """One object a ledger."""
    (row,) = command("ledgers", "--json").answer
    assert row["ledger"] == refund
    assert (row["version"], row["turns"]) == (36, 14)
    assert row["opened_at"].endswith("Z")
    assert set(row) == {"ledger", "version", "turns", "opened_at"}


def test_show_has_every_turn_with_parts_and_returns(command: Command, refund: str) -> None:
    """A turn has its number, version, role, parts and what its calls returned."""
    answer = command("show", refund, "--json").answer
    turns = answer["turns"]
    assert [turn["turn"] for turn in turns] == list(range(1, 15))
    assert turns[0]["role"] == "user"
    assert turns[0]["parts"][0]["text"].startswith("I was charged twice")
    assert turns[1]["parts"] == [
        {"type": "tool_call", "call_id": "call_1", "tool": "search_orders", "arguments": {"order_id": "ORD-88213"}}
    ]
    assert [found["call_id"] for found in turns[6]["returns"]] == ["call_2", "call_3"]
    assert answer["basis"]["version"] == 36


def test_state_has_the_sections_and_the_block(command: Command, refund: str) -> None:
    """Entities by name, lists with ids, and the block's text."""
    answer = command("state", refund, "--json").answer
    assert answer["task"].startswith("I was charged twice")
    assert answer["sections"]["entities"]["amount"] == {"value": "4,050 INR", "turn": 11, "source": "user"}
    (rejected,) = answer["sections"]["rejected"]
    assert (rejected["what"], rejected["turn"], rejected["source"]) == ("store credit", 6, "user")
    assert rejected["id"].startswith("en_")
    assert answer["block"].startswith("<state>\n")
    assert set(answer["sections"]) == {"entities", "constraints", "decisions", "rejected", "open"}


def test_state_as_of_a_turn_is_what_it_was(command: Command, refund: str) -> None:
    """A version, a turn and a time name the same moment."""
    by_turn = command("state", refund, "--at", "turn:10", "--json").answer
    assert by_turn["sections"]["entities"]["amount"]["value"] == "4,180 INR"
    version, time = by_turn["basis"]["version"], by_turn["basis"]["recorded_at"]
    assert command("state", refund, "--at", str(version), "--json").answer == by_turn
    assert command("state", refund, "--at", time, "--json").answer["basis"]["version"] >= version


def test_handoff_has_what_is_known_and_nothing_else(command: Command, refund: str) -> None:
    """Nobody recorded a budget, so there is none."""
    answer = command("handoff", refund, "--json").answer
    assert answer["goal"].startswith("I was charged twice")
    assert [entry["what"] for entry in answer["rejected"]] == ["store credit"]
    assert answer["completed"][0]["because"] == "4,050 INR, by the statement"
    assert len(answer["evidence_ids"]) == 2
    assert answer["contradictions"][0]["turns"] == [7]
    assert "budget_remaining" not in answer


def test_a_handoff_reads_like_notes(command: Command, refund: str) -> None:
    """What it is, why, and where it comes from."""
    lines = command("handoff", refund).out.splitlines()
    assert "  amount: 4,050 INR (turn 11, user)" in lines
    assert any(re.fullmatch(r"  store credit – because the user wants .* \(en_\d+, turn 6, user\)", line) for line in lines)
    assert not any("basis" in line for line in lines)


def test_a_dispute_within_one_turn_reads_so(command: Command, store_path: Path) -> None:
    """Two values of one source, named by one turn."""
    with ledger.connect(str(store_path)) as store:
        case = store.ledger("case")
        turn = case.record_turn("user", "4,180 INR, or 4,050 INR")
        case.set_fact("amount", "4,180 INR", turn=turn, source="user")
        case.set_fact("amount", "4,050 INR", turn=turn, source="user")
    assert any(line.endswith(" in turn 1: open") for line in command("explain", "case", "amount").out.splitlines())


def test_a_return_names_its_tool(command: Command, refund: str) -> None:
    """Which call it answers is not left to be guessed from ids that the text does not show."""
    assert "  search_orders returned (r_6):" in command("show", refund, "--at", "turn:4").out.splitlines()


def test_a_store_without_ledgers_says_so(command: Command) -> None:
    """An empty table says nothing."""
    command("init")
    assert command("ledgers").out.startswith("no ledgers yet")
    assert command("ledgers", "--json").answer == []


@pytest.mark.parametrize("asked", ["show", "state", "window", "handoff"])
def test_people_get_text(command: Command, refund: str, asked: str) -> None:
    """Without --json there is no JSON document but a text with the basis first."""
    outcome = command(asked, refund)
    assert outcome.code == 0
    assert outcome.out.startswith(f"{refund} at version 36")


def test_a_transcript_cannot_steer_the_terminal(command: Command, store_path: Path) -> None:
    """Escape sequences and hidden characters are shown, not sent."""
    with ledger.connect(str(store_path)) as store:
        store.ledger("hostile").record_turn("user", "\x1b]0;owned\x07 \x1b[2J\u202egnp.exe\udcb2")
    for asked in ("show", "state", "window"):
        shown = command(asked, "hostile").out
        assert "\x1b" not in shown
        assert "\u202e" not in shown
    assert "\\x1b[2J" in command("show", "hostile").out


def test_the_json_of_a_view_is_what_python_gives(command: Command, refund: str, store_path: Path) -> None:
    """The command line adds nothing and takes nothing away."""
    with ledger.connect(str(store_path)) as store:
        asked = view(store, refund, at=20)
        assert command("window", refund, "--at", "20", "--json").out.encode() == asked.window().to_json() + b"\n"
        assert command("handoff", refund, "--at", "20", "--json").out.encode() == asked.handoff().to_json() + b"\n"


def test_another_process_prints_the_same_bytes(command: Command, refund: str, store_path: Path) -> None:
    """Under another hash seed, too."""
    ours = command("window", refund, "--at", "turn:7", "--json").out
    program = "from delivery.cli import main; main()"
    arguments = ["--store", str(store_path), "window", refund, "--at", "turn:7", "--json"]
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        )
        assert done.stdout.decode() == ours
    assert json.loads(ours)["basis"]["ledger"] == refund


def test_json_is_one_line_for_every_reader(command: Command, store_path: Path) -> None:
    """Characters that some take for the end of a line are escaped; their value stays."""
    said = "first\u2028second\x85third\u2029"
    with ledger.connect(str(store_path)) as store:
        store.ledger("lines").record_turn("user", said)
    shown = command("show", "lines", "--json")
    assert len(shown.out.splitlines()) == 1
    assert shown.answer["turns"][0]["parts"][0]["text"] == said
