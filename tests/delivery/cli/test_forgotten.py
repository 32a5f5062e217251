"""What the asking commands answer where content was forgotten: the place, and by which job, when and why."""

from __future__ import annotations

import re

import pytest

from tests.delivery.cli.conftest import Command

MARK = r"\[forgotten\] by job f_[0-9a-f]{12} at 20\d\d-\d\d-\d\dT[0-9:.]+Z: withdrawn"


@pytest.fixture
def withdrawn(command: Command, refund: str) -> str:
    """The refund case without the amount and without turn 7, in which two pages were read."""
    assert command("forget", refund, "--facts", "amount", "--reason", "withdrawn").code == 0
    assert command("forget", refund, "--turns", "7", "--reason", "withdrawn").code == 0
    return refund


def test_show_marks_a_turn_and_what_its_calls_returned(command: Command, withdrawn: str) -> None:
    for at in ((), ("--at", "20")):
        lines = command("show", withdrawn, *at).out.splitlines()
        assert re.fullmatch(f"  {MARK}", lines[lines.index("turn 7, assistant") + 1])
    (turn,) = [turn for turn in command("show", withdrawn, "--json").answer["turns"] if turn["turn"] == 7]
    assert [part["type"] for part in turn["parts"]] == ["forgotten"]


def test_show_marks_a_return_that_was_forgotten_alone(command: Command, refund: str) -> None:
    command("forget", refund, "--ids", "r_6", "--reason", "withdrawn")
    lines = command("show", refund).out.splitlines()
    assert re.fullmatch(f"    {MARK}", lines[lines.index("  search_orders returned (r_6):") + 1])


def test_show_marks_a_system_text(command: Command, refund: str) -> None:
    command("forget", refund, "--ids", "v_1", "--reason", "withdrawn")
    lines = command("show", refund).out.splitlines()
    assert re.fullmatch(f"  {MARK}", lines[lines.index("system") + 1])


def test_state_and_handoff_tell_what_is_no_part_of_the_transcript(command: Command, withdrawn: str) -> None:
    state = command("state", withdrawn).out
    assert re.search(rf"^fact\.set at version 4, turn 1: {MARK}$", state, re.MULTILINE)
    assert re.search(rf"^evidence\.recorded at version 19, turn 7: {MARK}$", state, re.MULTILINE)
    brief = command("handoff", withdrawn).out
    assert re.search(rf"^  evidence\.recorded: {MARK} \(ev_19, turn 7\)$", brief, re.MULTILINE)


def test_a_forgotten_task_is_told(command: Command, refund: str) -> None:
    command("forget", refund, "--turns", "1", "--reason", "withdrawn")
    assert re.search(rf"^task: {MARK}$", command("state", refund).out, re.MULTILINE)
    assert re.search(rf"^goal\n  {MARK}$", command("handoff", refund).out, re.MULTILINE)


def test_explain_shows_where_a_forgotten_value_held(command: Command, withdrawn: str) -> None:
    lines = command("explain", withdrawn, "amount").out.splitlines()
    assert any(re.match(r"\[forgotten\] +\[forgotten\] +1 +4–28 ", line) for line in lines)
    assert any(re.fullmatch(rf"version 4, turn 1, \S+Z: {MARK}", line) for line in lines)
    assert [step["kind"] for step in command("explain", withdrawn, "amount", "--json").answer["steps"]] == ["forgotten"] * 2
    answer = command("explain", withdrawn, "amount", "--json").answer
    assert [set(value["value"]["forgotten"]) for value in answer["values"]] == [{"job", "reason", "at"}] * 2


def test_a_window_of_an_earlier_version_says_it_is_forgotten(command: Command, withdrawn: str) -> None:
    shown = command("window", withdrawn, "--at", "turn:8").out
    assert "## Turn 7, assistant\n\n[forgotten]\n" in shown
    assert "4,180 INR including delivery" not in shown


def test_verify_counts_what_was_forgotten(command: Command, withdrawn: str) -> None:
    assert command("verify").out == "38 events, 10 of them forgotten, 0 problems\n"
    assert command("verify", withdrawn, "--json").answer == {"ok": True, "events": 38, "problems": [], "forgotten": 10}
