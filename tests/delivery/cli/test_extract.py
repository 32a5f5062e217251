"""Extraction from the command line: by the declared patterns, or by a model that is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger import connect
from tests.delivery.cli.conftest import Command
from tests.delivery.extractors.model_server import ModelServer, candidates, failure

KEY = "sk-very-secret-0123456789"
SCHEMA = {"title": "Refund", "properties": {"order": {"type": "string", "x-ledger": {"patterns": [r"ORD-\d+"]}}}}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The only place of the key."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """An endpoint that runs until the test ends."""
    with ModelServer().running() as running:
        yield running


@pytest.fixture
def case(command: Command, store_path: Path) -> str:
    """A conversation with a schema."""
    path = store_path.with_name("refund.json")
    path.write_text(json.dumps(SCHEMA), encoding="utf-8")
    command("declare", "case", str(path))
    with connect(str(store_path)) as store:
        talk = store.ledger("case")
        talk.record_turn("user", "It is about ORD-88213.")
        talk.record_turn("assistant", "I see.")
    return "case"


def test_the_rules_find_what_the_user_said(command: Command, case: str) -> None:
    answer = command("extract", case, "--json").answer
    assert (answer["turns"], answer["refused"], answer["incomplete"]) == ([1, 2], 0, None)
    (found,) = answer["recorded"]
    assert found == {
        "version": found["version"],
        "event": "fact.set",
        "field": "order",
        "value": "ORD-88213",
        "source": "user",
        "turn": 1,
        "problems": [],
    }
    assert command("extract", case, "--rules").out == "case: all turns were read before\n"


def test_people_see_what_was_found(command: Command, case: str) -> None:
    lines = command("extract", case).out.splitlines()
    assert lines[0] == "case: turns 1–2 were read: 1 fact.set"
    assert lines[-1].split()[1:] == ["fact.set", "order", "ORD-88213", "user", "1"]


def test_a_model_is_asked_with_the_key_of_the_environment(command: Command, case: str, server: ModelServer) -> None:
    said = {"field": "order", "value": "ORD-88213", "quote": "ORD-88213", "turn": 1, "result": None, "corrects": False}
    server.answers(candidates(said, {**said, "quote": "ORD-9", "value": "ORD-9"}))
    outcome = command("extract", case, "--model", "tiny", "--base-url", server.url)
    assert outcome.code == 0
    assert "turns 1–2 were read: 1 fact.rejected, 1 fact.set" in outcome.out
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in outcome.out + outcome.err
    assert command("state", case, "--json").answer["sections"]["entities"]["order"]["source"] == "user"
    assert command("rejected", case, "--json").answer["rejected"][0]["value"] == "ORD-9"


def test_what_is_left_to_read_is_told_with_exit_code_1(command: Command, case: str, server: ModelServer) -> None:
    server.answers(candidates({"nonsense": 1}))
    outcome = command("extract", case, "--model", "tiny", "--base-url", server.url)
    assert outcome.code == 1
    assert "left to do: turns 1 to 2: 1 left out" in outcome.out
    again = command("extract", case, "--model", "tiny", "--base-url", server.url, "--json")
    assert again.answer["turns"] == [1, 2]
    assert again.answer["incomplete"]


def test_an_endpoint_that_refuses_is_no_mistake_of_the_callers(command: Command, case: str, server: ModelServer) -> None:
    server.answers(failure(401, f"wrong key {KEY}"))
    outcome = command("extract", case, "--model", "tiny", "--base-url", server.url)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.count("\n") == 1
    assert KEY not in outcome.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--rules", "--model", "m"), "--rules and --model"),
        (("--base-url", "http://127.0.0.1:9/v1"), "--model"),
        (("--model", "m", "--base-url", "nowhere"), "base_url"),
    ],
)
def test_what_cannot_be_asked_is_the_callers_mistake(
    command: Command, case: str, arguments: tuple[str, ...], said: str
) -> None:
    outcome = command("extract", case, *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert said in outcome.err


def test_without_a_key_no_model_is_asked(command: Command, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    outcome = command("extract", case, "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert (outcome.code, outcome.out) == (2, "")
    assert "OPENAI_API_KEY" in outcome.err
