"""The declared state from the command line: declare, show, and what does not fit."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ledger.schema import schema_from
from tests.delivery.cli.conftest import Command

ORDER = {"type": "string", "x-ledger": {"patterns": [r"ORD-\d+"], "aliases": ["reference"]}}
AMOUNT = {"type": "string", "format": "money", "x-ledger": {"currencies": ["INR", "USD"], "least_source": "user"}}
CARD = {"type": "string", "pattern": r"\d{16}", "x-ledger": {"rendered": False}}
LIST = {"type": "array", "x-ledger": {"most_shown": 2}}
SCHEMA: dict[str, Any] = {
    "title": "Refund",
    "properties": {"order": ORDER, "amount": AMOUNT, "card": CARD, "constraints": LIST},
    "additionalProperties": True,
}


@pytest.fixture
def file(tmp_path: Path) -> str:
    """The path of a JSON Schema."""
    path = tmp_path / "refund.json"
    path.write_text(json.dumps(SCHEMA), encoding="utf-8")
    return str(path)


def test_a_schema_is_put_in_force_once(command: Command, refund: str, file: str) -> None:
    digest = schema_from(SCHEMA).digest
    for is_new in (True, False):
        answer = command("declare", refund, file, "--json").answer
        assert answer == {
            "ledger": refund,
            "version": 37,
            "schema": "Refund",
            "digest": digest,
            "recorded": is_new,
            "unfitting": {},
        }
    assert command("declare", refund, file).out.endswith("schema Refund (3 fields) was in force already\n")


def test_a_ledger_may_begin_with_its_schema(command: Command, file: str) -> None:
    """The store is made, too, as by an import."""
    assert command("declare", "new", file).out == "new at version 1: schema Refund (3 fields) is in force\n"
    assert command("set", "new", "amount", "4,180 INR").code == 0


def test_standing_values_that_do_not_fit_are_told(command: Command, refund: str, file: str) -> None:
    command("set", refund, "card", "none")
    outcome = command("declare", refund, file)
    assert outcome.code == 0
    assert 'card has a value that stands, and does not fit: "none" is not of the form \\d{16}' in outcome.out


def test_schema_shows_fields_formats_aliases_and_digest(command: Command, refund: str, file: str) -> None:
    command("declare", refund, file)
    shown = command("schema", refund).out
    assert f"digest {schema_from(SCHEMA).digest}" in shown
    rows = [line.split() for line in shown.splitlines()]
    assert ["order", "text", "reference", "inferred"] in rows
    assert ["amount", "money", "(currencies", "INR", "USD)", "user"] in rows
    assert ["card", "text", "(pattern", r"\d{16})", "inferred", "no"] in rows
    assert "list constraints: added to at least by inferred, at most 2 are shown" in shown
    answer = command("schema", refund, "--json").answer
    assert answer["schema"] == json.loads(schema_from(SCHEMA).declared)
    assert command("schema", refund, "--at", "36", "--json").answer["schema"] is None


def test_a_ledger_without_a_schema_says_so(command: Command, refund: str) -> None:
    assert "context-ledger declare" in command("schema", refund).out
    assert command("schema", refund, "--json").answer["digest"] is None
    assert command("rejected", refund).out.endswith("nothing was rejected\n")
    outcome = command("extract", refund)
    assert (outcome.code, outcome.out) == (2, "")
    assert "schema" in outcome.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "not JSON"),
        ("[]", "a schema is a JSON object"),
        ('{"title": "T"}', "properties"),
        ('{"title": "T", "properties": {"a": {"type": "string", "minLength": 2}}}', "minLength"),
        ('{"title": "T", "title": "U", "properties": {}}', "title"),
    ],
)
def test_a_wrong_schema_is_the_callers_and_the_line_names_file_and_place(
    command: Command, refund: str, tmp_path: Path, content: str, said: str
) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(content, encoding="utf-8")
    outcome = command("declare", refund, str(path))
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"context-ledger: {path}: ")
    assert said in outcome.err
    assert command("ledgers", "--json").answer[0]["version"] == 36


def test_a_missing_file_makes_no_ledger(command: Command, tmp_path: Path) -> None:
    assert command("declare", "new", str(tmp_path / "missing.json")).code == 2
    assert not (tmp_path / "store.db").exists()


def test_a_schema_from_standard_input(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(json.dumps(SCHEMA).encode())))
    assert command("declare", "new", "-").code == 0
