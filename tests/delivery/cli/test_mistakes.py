"""Mistakes leave as one line on standard error: exit code 2 for the caller's, 1 for ours."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from delivery.cli.application import run
from tests.delivery.cli.conftest import Command


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--help"),
        (("nonsense",), "nonsense"),
        (("window",), "LEDGER"),
        (("show", "no-such-ledger"), "no-such-ledger"),
        (("state", "refund-ORD-88213", "--at", "999"), "36"),
        (("state", "refund-ORD-88213", "--at", "turn:99"), "14"),
        (("state", "refund-ORD-88213", "--at", "yesterday"), "--at"),
        (("state", "refund-ORD-88213", "--at", "2031-05-11T09:00:00"), "zone"),
        (("window", "refund-ORD-88213", "--budget", "0"), "--budget"),
        (("window", "refund-ORD-88213", "--render", "cobol", "--json"), "anthropic"),
        (("window", "refund-ORD-88213", "--render", "cobol"), "anthropic"),
        (("window", "refund-ORD-88213", "--budget", "0"), "1 (it is '0'). See context-ledger window --help."),
        (("window", "refund-ORD-88213", "--budget", "8k"), "(it is '8k'). See context-ledger window --help."),
        (("classify", "refund-ORD-88213", "eight", "keep"), "'TURN': Input should be a valid integer"),
        (("classify", "refund-ORD-88213", "eight", "keep"), "(it is 'eight')."),
        (("window",), "'LEDGER': Name of the ledger. See context-ledger window --help."),
        (("resolve", "refund-ORD-88213", "con_22"), "'--because': Why it is decided so."),
        (("resolve", "refund-ORD-88213", "con_1", "--because", "x"), "not known: name one that is open (con_22)"),
        (("--store", "", "ledgers"), "--store is empty"),
        (("window", "refund-ORD-88213", "--encoding", "claude-9"), "o200k_base"),
        (("import", "missing.json"), "missing.json"),
        (("import", "README.md", "--format", "cobol"), "openai"),
    ],
)
@pytest.mark.usefixtures("refund")
def test_a_mistake_is_one_line_and_exit_code_2(command: Command, arguments: tuple[str, ...], said: str) -> None:
    """The line names what was wrong or the way out."""
    outcome = command(*arguments)
    assert outcome.code == 2, outcome.err
    assert outcome.out == ""
    assert outcome.err.startswith("context-ledger: ")
    assert outcome.err.count("\n") == 1
    assert said in outcome.err


def test_a_mistyped_store_is_not_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Asking never makes a store."""
    place = tmp_path / "typo.db"
    assert run(["--store", str(place), "ledgers"]) == 2
    assert not place.exists()
    assert "typo.db" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["ledgers", "init", "demo"])
def test_a_store_in_a_missing_folder_is_the_callers_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """No folder is made, for it may be misspelt."""
    assert run(["--store", str(tmp_path / "typo" / "cases.db"), command]) == 2
    assert "typo" in capsys.readouterr().err
    assert not (tmp_path / "typo").exists()


@pytest.mark.parametrize("command", ["ledgers", "init"])
@pytest.mark.parametrize("kind", ["folder", "text", "database"])
def test_what_is_no_store_is_the_callers_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, kind: str
) -> None:
    """A folder, a file of something else, and somebody's own database, which are left as they are."""
    place = tmp_path / "other"
    if kind == "folder":
        place.mkdir()
    elif kind == "text":
        place.write_text("not a database, but long enough to be read as one " * 50)
    else:
        with closing(sqlite3.connect(place)) as connection:
            connection.execute("CREATE TABLE theirs (value)")
    before = place.read_bytes() if place.is_file() else None
    assert run(["--store", str(place), command]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert str(place) in captured.err
    assert before is None or place.read_bytes() == before


def test_verify_names_what_was_tampered_with(command: Command, refund: str, store_path: Path) -> None:
    """A changed payload, by somebody who dropped the triggers, is found; exit code 1."""
    assert command("verify", "--json").answer == {"ok": True, "events": 36, "problems": []}
    with closing(sqlite3.connect(store_path)) as connection, connection:
        connection.execute("DROP TRIGGER payloads_never_change")
        connection.execute("UPDATE payloads SET payload = replace(payload, '4,180', '9,180') WHERE position = 4")
    outcome = command("verify", "--json")
    assert outcome.code == 1
    assert not outcome.answer["ok"]
    assert outcome.answer["problems"][0]["version"] == 4
    assert outcome.answer["problems"][0]["ledger"] == refund


def test_a_field_of_a_ledger_without_facts_says_where_facts_come_from(command: Command, tmp_path: Path) -> None:
    """An import records what was said, not what holds."""
    file = tmp_path / "talk.json"
    file.write_text('[{"role": "user", "content": "The amount is 4,180 INR."}]', encoding="utf-8")
    command("import", str(file), "--ledger", "talk")
    outcome = command("explain", "talk", "amount")
    assert (outcome.code, outcome.out) == (2, "")
    assert "set_fact" in outcome.err
