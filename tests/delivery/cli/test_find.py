"""Which ledgers ever held a value, from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger import connect
from tests.delivery.cli.conftest import Command

SCHEMA = {"title": "Case", "properties": {"amount": {"type": "string", "format": "money"}}}


@pytest.fixture
def cases(command: Command, store_path: Path) -> None:
    """Three cases about one amount, in which it stands, stood, and was only disputed."""
    assert command("init").code == 0
    with connect(str(store_path)) as store:
        first = store.ledger("first", schema=SCHEMA)
        first.record_turn("user", "4,180 INR")
        first.set_fact("amount", "4,180 INR", source="user", turn=1)
        second = store.ledger("second", schema=SCHEMA)
        second.set_fact("amount", "INR 4180.00", source="tool")
        second.set_fact("amount", "4,050 INR", source="tool")
        third = store.ledger("third")
        third.set_fact("amount", 4180, source="user")
        third.set_fact("amount", "4,180 INR", source="tool")


@pytest.mark.usefixtures("cases")
def test_every_ledger_that_held_a_value_is_found_in_any_spelling(command: Command) -> None:
    assert command("find", "Amount", "4180 INR", "--json").answer == [
        {
            "ledger": "first",
            "field": "amount",
            "value": "4,180 INR",
            "version": 3,
            "turn": 1,
            "source": "user",
            "stands": True,
        },
        {
            "ledger": "second",
            "field": "amount",
            "value": "INR 4180.00",
            "version": 2,
            "turn": None,
            "source": "tool",
            "stands": False,
        },
    ]


@pytest.mark.usefixtures("cases")
def test_people_see_a_line_a_claim(command: Command) -> None:
    rows = [line.split() for line in command("find", "amount").out.splitlines()[2:]]
    assert rows == [
        ["first", "amount", "4,180", "INR", "3", "1", "user", "yes"],
        ["second", "amount", "INR", "4180.00", "2", "tool", "no"],
        ["second", "amount", "4,050", "INR", "3", "tool", "yes"],
        ["third", "amount", "4180", "1", "user", "yes"],
    ]


@pytest.mark.usefixtures("cases")
def test_a_value_may_be_json(command: Command) -> None:
    assert [fact["ledger"] for fact in command("find", "amount", "4180", "--json-value", "--json").answer] == ["third"]
    assert command("find", "amount", "{", "--json-value").code == 2


@pytest.mark.usefixtures("cases")
def test_what_nobody_held_is_not_found(command: Command) -> None:
    """A forgotten value is none that anybody held."""
    assert command("find", "amount", "1 INR").out == "no ledger ever held it\n"
    assert command("forget", "first", "--facts", "amount", "--reason", "asked").code == 0
    assert [fact["ledger"] for fact in command("find", "amount", "4180 INR", "--json").answer] == ["second"]


def test_no_found_text_reaches_the_terminal_as_it_is(command: Command, store_path: Path) -> None:
    command("init")
    with connect(str(store_path)) as store:
        store.ledger("case").set_fact("field", "\x1b[2J\u202e\nforged", source="tool")
    shown = command("find", "field").out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert len(shown.splitlines()) == 3
