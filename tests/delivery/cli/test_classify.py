"""Somebody says at the command line what becomes of a turn."""

from __future__ import annotations

import pytest

from tests.delivery.cli.conftest import Command


def test_a_classification_counts_from_its_version_on(command: Command, voyage: str) -> None:
    """It wins over the rules, and windows of earlier versions stay as they were."""
    done = command("classify", voyage, "8", "keep", "--because", "its crane", "--kind", "note", "--by", "u_7", "--json")
    assert done.answer == {"ledger": voyage, "version": 80, "turn": 8, "verdict": "keep", "kind": "note"}
    assert _row(command, voyage, 8) == ("keep", "classified by person")
    assert _row(command, voyage, 8, "--at", "79")[0] != "keep"
    command("classify", voyage, "8", "drop")
    assert _row(command, voyage, 8) == ("drop", "classified by person")
    assert command("verify", "--json").answer["ok"]


def _row(command: Command, name: str, turn: int, *options: str) -> tuple[str, str]:
    """Verdict and rule of a turn in a window that is too small for all of them."""
    rows = command("window", name, "--budget", "500", *options, "--json").answer["receipt"]["turns"]
    row = next(row for row in rows if row["turn"] == turn)
    return row["verdict"], row["rule"]


def test_people_are_told_what_was_recorded(command: Command, refund: str) -> None:
    assert command("classify", refund, "9", "drop").out == f"{refund} at version 37: drop turn 9\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("8", "kep"), "did you mean keep?"),
        (("8", "never"), "keep, compress, stub, drop"),
        (("88", "keep"), "turn 88 is not recorded"),
        (("0", "keep"), "TURN"),
        (("eight", "keep"), "TURN"),
        (("8", "keep", "--because", ""), "because is empty: say why, or leave it out"),
    ],
)
def test_a_mistake_records_nothing(command: Command, refund: str, arguments: tuple[str, ...], said: str) -> None:
    outcome = command("classify", refund, *arguments)
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert said in outcome.err
    assert command("ledgers", "--json").answer[0]["version"] == 36


def test_a_ledger_that_there_is_not_is_not_made(command: Command, refund: str) -> None:
    outcome = command("classify", f"{refund}x", "8", "keep")
    assert outcome.code == 2
    assert refund in outcome.err
    assert len(command("ledgers", "--json").answer) == 1
