"""The audit at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ledger import connect
from replay.audit import audit
from tests.audit.talking import PAGE, look_up, say
from tests.delivery.cli.conftest import Command, at


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with two ledgers."""
    path = tmp_path / "store.db"
    with connect(str(path)) as store:
        for name, page in (("one", PAGE), ("two", f"{PAGE} And more.")):
            say(store.ledger(name), "Read the page on \x1b[2Jdepots.")
            look_up(store.ledger(name), "read_page", "Ghent", page)
            look_up(store.ledger(name), "read_page", "Ghent", page)
            say(store.ledger(name), "Never call the depot.", "It closes at 7:45, says ORD-00031.")
    return path


@pytest.fixture
def command(path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command on it."""
    return at(str(path), capsys)


def lines_of(out: str) -> dict[str, list[str]]:
    """The cells of each line, by the first."""
    rows = ([cell for cell in line.split("  ") if cell.strip()] for line in out.splitlines() if line.strip())
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows}


def test_for_programs_it_is_the_audit_itself(command: Command, path: Path) -> None:
    with connect(str(path)) as store:
        assert command("audit", "two", "one", "--json").out.strip().encode() == audit(store, ["two", "one"]).to_json()


def test_for_people_it_has_the_numbers_of_the_audit(command: Command, path: Path) -> None:
    with connect(str(path)) as store:
        found = audit(store, ["one"])
    rows = lines_of(command("audit", "one").out)
    for kind in found.kinds[:3]:
        assert rows[kind.kind] == [
            str(kind.turns), f"{kind.turn_share:.1%}", f"{kind.tokens:,}", f"{kind.share:.1%}",
        ]  # fmt: skip
    spent = found.spent_results
    assert rows["- spent: an assistant went on from them"] == ["2", f"{spent.tokens:,}", f"{spent.share:.1%}"]
    assert rows["repeats to the letter"][0] == "1"
    assert rows[found.biggest[0].result_id][:3] == ["2", "read_page", "Ghent"]
    assert rows["read_page Ghent"][:3] == ["turn 2", "3", "1"]
    assert found.everything is not None
    for sent in (found.everything, *found.policies):
        assert rows[sent.policy][:4] == [
            str(sent.decisions), str(sent.refused), f"{round(sent.tokens_per_decision):,}", f"{sent.prompt_tokens:,}",
        ]  # fmt: skip
    assert rows["research"][-2:] == [f"{found.policies[2].saved_share:.1%}", f"{found.policies[2].cacheable_share:.1%}"]


def test_nothing_of_a_transcript_steers_the_terminal(command: Command) -> None:
    assert "\x1b" not in command("audit", "--all").out


def test_all_are_all_ledgers(command: Command) -> None:
    answer = command("audit", "--all", "--no-compare", "--json").answer
    assert [ledger["ledger"] for ledger in answer["ledgers"]] == ["one", "two"]
    assert "policies" not in answer
    assert "2 ledgers" in command("audit", "--all", "--no-compare").out


def test_named_policies_are_compared_beside_sliding(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('preset = "coding"\notherwise = "drop"\n')
    answer = command("audit", "one", "--policy", str(file), "--policy", "research", "--json").answer
    assert [sent["policy"] for sent in answer["policies"]] == [str(file), "research", "sliding"]
    assert answer["judged_by"] == str(file)
    assert {row["rule"]: row["verdict"] for row in answer["rules"]}["otherwise"] == "drop"


def test_the_shares_of_the_json_add_up(command: Command) -> None:
    answer = command("audit", "--all", "--json").answer
    assert sum(kind["share"] for kind in answer["kinds"].values()) == pytest.approx(1)
    assert sum(kind["turns"] for kind in answer["kinds"].values()) == answer["turns"] == 10
    assert sum(row["turns"] for row in answer["kinds"]["compress"]["verdicts"]) == answer["kinds"]["compress"]["turns"]
    assert json.dumps(answer).count("ORD-00031") > 0


def test_it_draws_into_a_file(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "audit.svg"
    assert str(file) in command("audit", "one", "--no-compare", "--plot", str(file)).out
    assert file.read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no ledger is named"),
        (["one", "--all"], "leave one of them out"),
        (["one", "one"], "named twice"),
        (["three"], "three"),
        (["one", "--policy", "suport"], "support"),
        (["one", "--no-compare", "--policy", "support", "--policy", "coding"], "name one at most"),
        (["one", "--at", "turn:99"], "turn 99 is not recorded"),
        (["one", "--at", "soon"], "is no version (12), turn (turn:7) or time"),
        (["one", "--plot", "missing/audit.svg"], "--plot missing/audit.svg: there is no folder missing: make it first"),
        (["one", "--plot", "."], "--plot . is a folder: name a file in it"),
        (["one", "--plot", "audit.png"], "name a file that ends in .svg"),
    ],
)
def test_mistakes_are_named(command: Command, arguments: list[str], said: str) -> None:
    outcome = command("audit", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


def test_a_policy_judges_where_none_is_compared(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('otherwise = "drop"\nencoding = "cl100k_base"\n')
    answer = command("audit", "one", "--no-compare", "--policy", str(file), "--json").answer
    assert (answer["judged_by"], answer["encoding"], "policies" in answer) == (str(file), "cl100k_base", False)
    assert {row["rule"]: row["verdict"] for row in answer["rules"]}["otherwise"] == "drop"
    compared = command("audit", "one", "--policy", str(file), "--json").answer
    assert answer == {name: value for name, value in compared.items() if name not in ("everything", "policies")}


def test_it_is_as_of_a_version_a_turn_or_a_time(command: Command, path: Path) -> None:
    with connect(str(path)) as store:
        (version,) = [item.version for item in store.ledger("one").events() if item.turn == 4]
        before = audit(store, ["one"], at=version - 1)
        assert (before.turns, before.ledgers[0].version) == (3, version - 1)
    for moment in (str(version - 1), "turn:3"):
        assert command("audit", "one", "--at", moment, "--json").out.strip().encode() == before.to_json()
