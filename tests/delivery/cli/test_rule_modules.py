"""Rules that are functions of the user's, at the command line: a module that is named registers them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.delivery.cli.conftest import Command

RULES = """
from projections.verdicts.registered import register_rule


@register_rule("about cranes of {name}", 1)
def about_cranes(surroundings):
    return "drop" if surroundings.turn.role == "assistant" else None
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder in which the commands run."""
    path = list(sys.path)
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    yield place
    sys.path[:] = path


def written(folder: Path, name: str, *, version: int = 1) -> str:
    """A module of a rule, and the policy that names it."""
    (folder / f"{name}.py").write_text(RULES.format(name=name), encoding="utf-8")
    policy = folder / f"{name}.toml"
    rule = f'{{type = "function", name = "about cranes of {name}", version = {version}}}'
    policy.write_text(f"budget_tokens = 2_000\nrules = [{rule}]\n", encoding="utf-8")
    return str(policy)


def test_a_window_follows_rules_of_a_module_that_is_named(command: Command, voyage: str, folder: Path) -> None:
    policy = written(folder, "harbour_rules")
    outcome = command("window", voyage, "--policy", policy)
    assert (outcome.code, outcome.out) == (2, "")
    assert "the rule 'about cranes of harbour_rules' of version 1, but no function has this name" in outcome.err
    assert "import the module" in outcome.err
    assert "--rules MODULE" in outcome.err
    outcome = command("window", voyage, "--policy", policy, "--rules", "harbour_rules", "--turns", "--json")
    verdicts = {row["verdict"] for row in outcome.answer["receipt"]["turns"] if row["rule"] == "about cranes of harbour_rules"}
    assert verdicts == {"drop"}


def test_all_that_follow_a_policy_take_them(command: Command, voyage: str, folder: Path) -> None:
    policy = written(folder, "depot_rules")
    rules = ("--policy", policy, "--rules", "depot_rules")
    audited = command("audit", voyage, "--no-compare", *rules, "--json").answer
    assert {row["rule"] for row in audited["rules"]} >= {"about cranes of depot_rules"}
    assert command("compact", voyage, *rules, "--dry-run").code == 0
    assert command("window", voyage, *rules, "--record").code == 0
    outcome = command("verify", "--windows", "--rules", "depot_rules")
    assert outcome.out.endswith("1 served window, 1 the same byte for byte\n")
    shown = command("policy", policy, "--rules", "depot_rules")
    assert (shown.code, "about cranes of depot_rules" in shown.out) == (0, True)


def test_a_policy_whose_functions_are_not_there_is_told_of(command: Command, folder: Path) -> None:
    policy = written(folder, "pier_rules", version=2)
    assert command("policy", policy).code == 0
    outcome = command("policy", policy, "--rules", "pier_rules")
    assert outcome.code == 2
    assert "of version 2, but it is registered as version 1" in outcome.err


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("no_such_rules", None, "there is no module 'no_such_rules', neither here nor installed"),
        ("no_such_rules.inner", None, "there is no module 'no_such_rules', neither here nor installed"),
        ("rules.py", None, "give the name of a module, as import takes it (my_rules)"),
        ("../rules", None, "give the name of a module"),
        ("", None, "give the name of a module"),
        ("crooked_rules", "def (", "its import failed: SyntaxError"),
        (
            "needing_rules",
            "import no_such_library",
            "its import failed: ModuleNotFoundError: No module named 'no_such_library'",
        ),
        ("raising_rules", "raise RuntimeError('\\x1b[2J not\\ntoday')", "its import failed: RuntimeError: \\x1b[2J not today"),
    ],
)
def test_a_module_that_cannot_be_had_is_told_in_one_line(
    command: Command, folder: Path, name: str, content: str | None, said: str
) -> None:
    if content is not None:
        (folder / f"{name}.py").write_text(content, encoding="utf-8")
    outcome = command("policy", "--rules", name)
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert outcome.err.startswith(f"context-ledger: --rules {name!r}: ")
    assert said in outcome.err


def test_rules_of_windows_that_are_not_built_are_refused(command: Command, voyage: str) -> None:
    outcome = command("verify", "--rules", "json")
    assert outcome.code == 2
    assert "give --windows, too" in outcome.err
