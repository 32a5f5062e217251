"""What holds and what changed: forms of the block, what gave way, what held in the world, the difference of two states."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ledger import connect
from tests.delivery.cli.conftest import Command


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ((), '{"amount":"4,050 INR","user":11}'),
        (("--form", "compact"), 'amount: "4,050 INR" (user 11)'),
        (("--form", "compact", "--no-provenance"), 'amount: "4,050 INR"'),
        (("--form", "lines", "--no-provenance"), '{"amount":"4,050 INR"}'),
    ],
)
def test_the_block_has_the_form_that_is_asked_for(command: Command, refund: str, options: tuple[str, ...], line: str) -> None:
    assert line in command("state", refund, *options).out.splitlines()
    answer = command("state", refund, *options, "--json").answer
    assert line in answer["block"].splitlines()
    assert answer["tokens"] > 0
    assert answer["gave_way"] == []


def test_markdown_is_a_list(command: Command, refund: str) -> None:
    assert "- amount: " in command("state", refund, "--form", "markdown").out


def test_a_form_that_there_is_not_is_the_callers_mistake(command: Command, refund: str) -> None:
    outcome = command("state", refund, "--form", "cobol")
    assert (outcome.code, outcome.out) == (2, "")
    assert "markdown" in outcome.err


def test_what_gave_way_is_told(command: Command, store_path: Path) -> None:
    """By name: nobody has to guess whether something is missing because it does not hold."""
    command("init")
    with connect(str(store_path)) as store:
        case = store.ledger("case")
        ids = [case.add_entry("rejected", f"option {number}", source="user") for number in range(7)]
        for number in range(60):
            case.set_fact(f"field {number}", "x" * 20, source="inferred")
    shown = command("state", "case").out
    assert f"not shown, over its cap: rejected {ids[0]}, {ids[1]}\n" in shown
    assert "not shown, over the tokens of the block: entities field_0, field_1, " in shown
    gave_way = command("state", "case", "--json").answer["gave_way"]
    assert {"section": "rejected", "name": ids[0], "part": "line", "rule": "cap"} in gave_way


def test_the_task_is_told_before_the_block(command: Command, refund: str) -> None:
    assert "\ntask (turn 1): I was charged twice for order ORD-88213" in command("state", refund).out


def test_the_state_of_the_world_at_a_time(command: Command, store_path: Path) -> None:
    """What is recorded now may hold from next year on."""
    command("init")
    with connect(str(store_path)) as store:
        case = store.ledger("case")
        case.set_fact("price", 10, source="user", valid_to=datetime(2031, 1, 1, tzinfo=UTC))
    raised = command("set", "case", "price", "12", "--json-value", "--was", "10", "--valid-from", "2031-01-01T00:00:00Z")
    assert raised.code == 0
    for time, price in (("2030-12-31T23:00:00Z", 10), ("2031-01-01T00:00:00Z", 12)):
        answer = command("state", "case", "--valid-at", time, "--json").answer
        assert answer["sections"]["entities"]["price"]["value"] == price
        assert datetime.fromisoformat(answer["valid_at"]) == datetime.fromisoformat(time)
    assert "what held in the world at 2031-01-01T00:00:00+00:00" in command("state", "case", "--valid-at", time).out


@pytest.mark.parametrize("time", ["2031-01-01", "soon"])
def test_a_time_without_a_zone_is_refused(command: Command, refund: str, time: str) -> None:
    outcome = command("state", refund, "--valid-at", time)
    assert outcome.code == 2
    assert "--valid-at" in outcome.err


def test_diff_says_what_came_what_went_and_what_changed(command: Command, refund: str) -> None:
    lines = command("diff", refund, "--from", "turn:10", "--to", "turn:12").out.splitlines()
    assert lines[0].startswith(f"{refund} from version ")
    assert "~ amount: 4,180 INR (user, turn 1) -> 4,050 INR (user, turn 11)" in lines
    assert "+ refund: rf_2048 (tool, turn 12)" in lines
    assert any(line.startswith("- open: what was the card charged? (en_") for line in lines)
    answer = command("diff", refund, "--from", "turn:10", "--json").answer
    assert [change["field"] for change in answer["facts"]] == ["amount", "refund"]


def test_diff_of_a_state_with_itself_is_nothing(command: Command, refund: str) -> None:
    assert command("diff", refund, "--from", "36").out.endswith("nothing changed\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [((), "--from"), (("--from", "x"), "--from 'x'"), (("--from", "1", "--to", "x"), "--to 'x'"), (("--from", "99"), "36")],
)
def test_diff_names_the_moment_that_is_wrong(command: Command, refund: str, arguments: tuple[str, ...], said: str) -> None:
    outcome = command("diff", refund, *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
