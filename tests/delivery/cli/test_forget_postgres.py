"""The commands that forget, on PostgreSQL."""

from __future__ import annotations

import pytest

from ledger import connect
from tests.delivery.cli.conftest import at

CARD = "4111 1111 1111 1111"


def test_planned_forgotten_and_verified(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Turn, subject and whole ledger, each by its selector."""
    command = at(database, capsys)
    with connect(database) as store:
        for name in ("one", "two"):
            store.ledger(name).record_turn("user", f"My card is {CARD}.", subjects=["customer:c_1"])
            store.ledger(name).record_turn("assistant", f"I noted {CARD}.")
    (planned,) = command("forget", "one", "--turns", "1", "--dry-run", "--json").answer["ledgers"]
    assert planned["mentions"] == [{"version": 2, "type": "turn.recorded", "turn": 2, "strings": [CARD]}]
    done = command("forget", "one", "--turns", "2", "--reason", "asked", "--json")
    assert (done.code, done.answer["state"]) == (0, "complete"), done.answer["problems"]
    found = command("forget", "--subject", "customer:c_1", "--reason", "asked", "--json").answer["ledgers"]
    assert [(ledger["ledger"], ledger["counts"]) for ledger in found] == [
        ("one", {"turn.recorded": 1}),
        ("two", {"turn.recorded": 1}),
    ]
    assert command("forget", "two", "--all", "--reason", "asked").code == 0
    assert CARD not in command("show", "two").out + command("show", "one").out
    assert command("verify", "--json").answer == {"ok": True, "events": 8, "problems": [], "forgotten": 4}
    assert [job["state"] for job in command("forget", "--jobs", "--json").answer] == ["complete"] * 3


def test_kept_held_and_swept(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A hold is stronger than retention."""
    command = at(database, capsys)
    with connect(database) as store:
        store.ledger("old").record_turn("user", "said long ago", labels=["chat"])
    assert command("retain", "old", "--set", "0 days", "--label", "chat").code == 0
    assert command("hold", "old", "--place", "case 77").code == 0
    assert command("retain").code == 1
    assert command("hold", "old", "--lift", "settled").code == 0
    (swept,) = command("retain", "--json").answer
    assert swept["ledgers"][0]["counts"] == {"turn.recorded": 1}
    assert "[forgotten]" in command("show", "old").out
