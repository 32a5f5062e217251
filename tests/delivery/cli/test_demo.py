"""The demonstration, as a newcomer runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.delivery.cli.conftest import Command


def test_the_demo_shows_both_points_in_time(command: Command) -> None:
    """Window, state, history of the amount and handoff."""
    shown = command("demo").out
    for title in (
        "Window, as of turn 10",
        "State, as of turn 10",
        "Window, now",
        "State, now",
        "What 600 tokens would change of it",
        "History of the amount",
        "Handoff",
    ):
        assert f"=== {title}" in shown
    before, now = shown.split("=== Window, now")
    smaller = now.partition("=== What 600 tokens")[2].partition("=== History")[0]
    assert " turns changed their verdict" in smaller
    assert any(line.startswith("+[") and "the record has them" in line for line in smaller.splitlines())
    assert '{"amount":"4,180 INR","user":1}' in before
    assert '"amount":"4,050 INR"' not in before
    assert '{"amount":"4,050 INR","user":11}' in now
    assert "store credit" in now
    assert "price of the express edition is disputed" in now


def test_the_demo_forgets_a_turn_in_a_copy(command: Command) -> None:
    """The history still verifies, and a window from before says that it is forgotten; the recorded case stays."""
    shown = command("demo").out.partition("=== Forgetting ")[2].partition("=== Go on")[0]
    assert "1 event (1 turn.recorded) forgotten" in shown
    assert "verify: 39 events, 0 problems" in shown
    assert "## Turn 15, user\n\n[forgotten]\n" in shown
    assert command("forget", "--jobs", "--json").answer == []


def test_the_demo_for_programs_has_the_answers_of_the_commands(command: Command, store_path: Path, tmp_path: Path) -> None:
    """One document, in which each part is what the command of its name prints."""
    answer = command("demo", "--json").answer
    case = "refund-ORD-88213"
    policy = ("--tail", "4", "--budget", "1000")
    for name, at in (("before", ("--at", "turn:10")), ("now", ())):
        assert answer.pop(name) == {
            "window": command("window", case, *at, *policy, "--json").answer,
            "state": command("state", case, *at, "--json").answer,
        }
    assert answer == {
        "store": str(store_path),
        "ledger": case,
        "smaller": _against(command, case, tmp_path),
        "history": command("explain", case, "amount", "--json").answer,
        "handoff": command("handoff", case, "--json").answer,
    }


def _against(command: Command, case: str, folder: Path) -> Any:
    """What a policy in a file changes, against the policy of the demonstration in another."""
    for budget in (1_000, 600):
        (folder / f"{budget}.toml").write_text(f"tail_turns = 4\nbudget_tokens = {budget}\n", encoding="utf-8")
    files = ("--policy", str(folder / "1000.toml"), "--against", str(folder / "600.toml"))
    return command("window", case, *files, "--json").answer


def test_the_demo_says_how_to_go_on(tmp_path: Path) -> None:
    """Its last lines can be copied, also where the path has a space."""
    folder = tmp_path / "my stores"
    folder.mkdir()
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    arguments = ["context-ledger", "--store", str(folder / "demo.db"), "demo"]
    shown = subprocess.run(arguments, env={"PATH": path}, capture_output=True, check=True, encoding="utf-8").stdout
    _, _, script = shown.partition("=== Go on ")[2].partition("\n")
    done = subprocess.run(["bash", "-euc", script], cwd=tmp_path, env={"PATH": path}, capture_output=True, check=True)
    assert b"36 events, 0 problems" in done.stdout


def test_the_demo_twice_records_once(command: Command) -> None:
    """The second run finds the case recorded."""
    command("demo")
    version = command("ledgers", "--json").answer[0]["version"]
    command("demo")
    assert command("ledgers", "--json").answer[0]["version"] == version


def test_the_demo_keeps_to_a_store_of_its_own(tmp_path: Path) -> None:
    """Without --store it leaves the everyday store alone."""
    program = "from delivery.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program, "demo"], cwd=tmp_path, env={}, capture_output=True, check=True)
    assert b"Handoff" in done.stdout
    assert not (tmp_path / "context-ledger.db").exists()
    assert (tmp_path / "context-ledger-demo.db").exists()
