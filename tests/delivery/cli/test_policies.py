"""Policies are shown as what can be read again, with the meaning of every key."""

from __future__ import annotations

from pathlib import Path

import pytest

from projections.policy import Policy
from projections.policy_text import policy_from_toml
from projections.presets import PRESETS
from tests.delivery.cli.conftest import Command


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_shown_as_what_gives_it_back(command: Command, tmp_path: Path, name: str) -> None:
    shown = command("policy", name).out
    assert policy_from_toml(shown) == PRESETS[name]
    assert shown.startswith(f"# {name}, digest {PRESETS[name].digest}\n")
    file = tmp_path / "kept.toml"
    file.write_text(shown, encoding="utf-8")
    assert command("policy", str(file), "--json").answer["digest"] == PRESETS[name].digest


def test_without_a_name_it_is_the_default(command: Command) -> None:
    answer = command("policy", "--json").answer
    assert answer == {"digest": Policy().digest, "policy": Policy().model_dump(mode="json")}


def test_no_store_is_needed(command: Command, store_path: Path) -> None:
    """And none is made."""
    assert command("policy", "coding").code == 0
    assert not store_path.exists()


def test_a_preset_wins_over_a_file_of_its_name(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that begins with ./ is a file."""
    monkeypatch.chdir(tmp_path)
    Path("coding").write_text("tail_turns = 99", encoding="utf-8")
    assert command("policy", "coding", "--json").answer["policy"]["tail_turns"] == PRESETS["coding"].tail_turns
    assert command("policy", "./coding", "--json").answer["policy"]["tail_turns"] == 99


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"tail_turns = = 3", "no TOML"),
        (b"[" * 100_000, "policy"),
        (b"# " + b"x" * 1_100_000, "larger than any policy"),
        (b"\xff\xfe", "UTF-8"),
        (b'preset = "codin"', "did you mean 'coding'?"),
    ],
)
def test_a_file_that_is_no_policy_is_one_line(command: Command, tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_bytes(content)
    outcome = command("policy", str(file))
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert str(file) in outcome.err
    assert said in outcome.err


def test_all_mistakes_in_a_file_are_told_a_line_each(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('tail_turns = -1\nencoding = "o300k"\n"two\\nlines" = 1\n', encoding="utf-8")
    for asked in (("policy", str(file)), ("window", "any", "--policy", str(file))):
        outcome = command(*asked)
        assert (outcome.code, outcome.out) == (2, "")
        begins = ("policy key tail_turns: Input", "policy key encoding: no token", "a policy has no key two lines: ")
        lines = outcome.err.splitlines()
        assert len(lines) == len(begins)
        assert all(line.startswith(f"context-ledger: {file}: {said}") for line, said in zip(lines, begins, strict=True))


def test_single_options_are_told_with_all_that_is_wrong(command: Command, voyage: str) -> None:
    outcome = command("window", voyage, "--encoding", "o300k", "--reserve", "9000")
    assert outcome.code == 2
    assert [line.split(": ")[1] for line in outcome.err.splitlines()] == ["policy key reserve_tokens", "policy key encoding"]
