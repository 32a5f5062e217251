"""``context-ledger compact``: what it says, on which stream, and with which exit code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger import connect
from tests.delivery.cli.conftest import Command, at
from tests.delivery.extractors.model_server import ModelServer, completion, failure
from tests.summaries.talks import talk

KEY = "sk-very-secret-0123456789"
POLICY = "budget_tokens = 3000\ntail_turns = 4\n"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The only place of the key."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """An endpoint that runs until the test ends."""
    with ModelServer().running() as running:
        running.answers(completion("They talked."))
        yield running


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs commands on a store with two ledgers."""
    place = str(tmp_path / "store.db")
    with connect(place) as store:
        talk(store.ledger("flour"), turns=41)
        talk(store.ledger("salt"), turns=41)
    (tmp_path / "small.toml").write_text(POLICY, encoding="utf-8")
    return at(place, capsys)


@pytest.fixture
def policy(tmp_path: Path) -> tuple[str, str]:
    """The option that names a policy under which both ledgers are compacted."""
    return "--policy", str(tmp_path / "small.toml")


def test_progress_is_told_while_segments_are_made(command: Command, server: ModelServer, policy: tuple[str, str]) -> None:
    outcome = command("compact", "flour", *policy, "--model", "tiny", "--base-url", server.url)
    assert outcome.code == 0
    lines = outcome.err.splitlines()
    of = len(server.requests)
    assert of > 2
    assert lines[0].startswith(f"flour: 1 of {of}: turns 1-8, ")
    assert [line.partition(" turns ")[0] for line in lines] == [f"flour: {number} of {of}:" for number in range(1, of + 1)]
    assert outcome.out.splitlines()[0] == f"flour: {of} recorded"
    assert KEY not in outcome.out + outcome.err
    again = command("compact", "flour", *policy, "--model", "tiny", "--base-url", server.url)
    assert (again.code, again.out, again.err, len(server.requests)) == (0, "flour: nothing to do\n", "", of)


def test_what_it_prints_makes_windows_take_them(
    command: Command, server: ModelServer, policy: tuple[str, str], tmp_path: Path
) -> None:
    told = command("compact", "flour", *policy, "--model", "tiny", "--base-url", server.url).out
    shown = told[told.index("[[compaction.by]]") :]
    taking = tmp_path / "taking.toml"
    taking.write_text(f"{POLICY}\n{shown}", encoding="utf-8")
    found = command("compact", "flour", "--policy", str(taking), "--dry-run", "--json").answer
    assert found == [{"ledger": "flour", "missing": []}]
    before = command("compact", "flour", "--policy", str(taking), "--model", "tiny", "--base-url", server.url)
    assert "windows take" not in before.out
    refused = command("compact", "flour", "--policy", str(taking), "--extractive")
    assert refused.code == 2
    assert "compaction.by" in refused.err


def test_a_dry_run_only_tells(command: Command, server: ModelServer, policy: tuple[str, str]) -> None:
    found = command("compact", "flour", "salt", *policy, "--dry-run", "--json").answer
    assert [row["ledger"] for row in found] == ["flour", "salt"]
    assert set(found[0]["missing"][0]) == {"first", "last", "turns", "tokens"}
    told = command("compact", "flour", *policy, "--dry-run", "--model", "tiny", "--base-url", server.url).out
    assert told.splitlines()[0].startswith(f"flour: {len(found[0]['missing'])} segments without a summary, ")
    assert server.requests == []
    assert command("compact", "flour", *policy, "--dry-run", "--json").answer == found[:1]


def test_extracts_need_no_model_and_all_complete_segments_can_be_asked_for(command: Command) -> None:
    (row,) = command("compact", "flour", "--complete", "--extractive", "--json").answer
    assert (row["ledger"], row["summariser"], row["model"], row["unfinished"]) == ("flour", "extractive/1", None, 0)
    assert [(one["first"], one["last"]) for one in row["segments"]] == [(1, 8), (9, 16), (17, 24), (25, 32), (33, 40)]
    assert {one["outcome"] for one in row["segments"]} == {"recorded"}
    assert all(one["id"].startswith("sum_") for one in row["segments"])


def test_what_is_left_is_told_with_exit_code_1(command: Command, server: ModelServer, policy: tuple[str, str]) -> None:
    server.plays(lambda request, _: failure(413, "too large") if request.lines[0]["turn"] == 9 else completion("See LF-1."))
    outcome = command("compact", "flour", *policy, "--model", "tiny", "--base-url", server.url)
    assert outcome.code == 1
    assert "turns 9-16" in outcome.err.splitlines()[1]
    assert "most_characters" in outcome.err.splitlines()[1]
    assert "1 failed" in outcome.out.splitlines()[0]
    assert "  turns 1-8: stands in none of them: LF-1" in outcome.out.splitlines()


def test_a_closed_ledger_keeps_no_other_from_being_done(command: Command, tmp_path: Path, policy: tuple[str, str]) -> None:
    with connect(str(tmp_path / "store.db")) as store:
        store.ledger("flour").close()
    outcome = command("compact", "flour", "salt", *policy, "--extractive", "--json")
    assert outcome.code == 1
    closed, done = outcome.answer
    assert "was closed" in closed["why"]
    assert (done["unfinished"], bool(done["segments"])) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["flour"], "--extractive"),
        (["flour", "--extractive", "--model", "tiny"], "leave one out"),
        (["flour", "--base-url", "http://127.0.0.1:1/v1"], "--model"),
        (["flour", "--most-characters", "5", "--model", "tiny"], "at least"),
        (["flour", "--extractive", "--policy", "codign"], "coding"),
        (["flour", "floor", "--extractive"], "flour"),
        ([], "LEDGER"),
    ],
)
def test_mistakes_name_the_way_out(command: Command, arguments: list[str], said: str) -> None:
    outcome = command("compact", *arguments)
    assert outcome.code == 2
    assert said in outcome.err
    assert outcome.err.count("\n") == 1
