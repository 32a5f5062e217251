"""What --help shows can be copied: the examples follow from the demonstration and none of them is wrapped."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from delivery.cli.application import app, run

NAMES = [str(command.name) for command in app.registered_commands]
SCREEN_COLUMNS = 80


def help_of(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What ``--help`` of a command prints."""
    assert run([name, "--help"]) == 0
    return capsys.readouterr().out


def examples_in(shown: str) -> list[str]:
    """The lines under the heading of the examples, which end the help."""
    _, _, after = shown.partition("\n  Examples")
    return [line.strip() for line in after.splitlines()[1:] if line.strip()]


def surroundings() -> dict[str, str]:
    """No settings of ours, and the programs of this Python first."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CONTEXT_LEDGER_")}
    return {**kept, "PATH": os.pathsep.join((str(Path(sys.executable).parent), kept["PATH"]))}


@pytest.mark.parametrize("name", NAMES)
def test_the_help_of_a_command_fits_and_has_examples_of_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = help_of(name, capsys)
    assert any(f" {name}" in example for example in examples_in(shown))
    assert max(map(len, shown.splitlines())) < SCREEN_COLUMNS


@pytest.mark.parametrize("name", NAMES)
def test_the_help_says_what_an_option_takes_in_words_of_its_own(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Not the name of a type in Python; a policy is a file or a preset wherever one is taken."""
    shown = help_of(name, capsys)
    assert re.findall(r"^  --\S+ <.*", shown, re.MULTILINE) == []
    assert re.findall(r"^  --(?:policy|against) (?!FILE\|PRESET ).*", shown, re.MULTILINE) == []


def test_every_example_runs_after_the_demonstration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command's examples in a shell of their own, as somebody copies them."""
    scripts = {name: "\n".join(examples_in(help_of(name, capsys))) for name in NAMES}
    for name in ("demo", *(name for name in NAMES if name != "demo")):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", scripts[name]],
            cwd=tmp_path,
            env=surroundings(),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, f"{scripts[name]}\n{done.stderr}"
        assert done.stdout
        assert done.stderr == ""


def test_the_first_help_says_where_to_begin(capsys: pytest.CaptureFixture[str]) -> None:
    """Every command with a whole sentence, and the demonstration before them."""
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    assert examples_in(shown)[0] == "context-ledger demo"
    assert "..." not in shown.partition("Commands:")[2]


def test_what_may_be_left_out_stands_in_one_pair_of_brackets(capsys: pytest.CaptureFixture[str]) -> None:
    shown = help_of("verify", capsys)
    assert "[LEDGER]" in shown
    assert "[[" not in shown


@pytest.mark.parametrize("name", NAMES)
def test_the_documentation_names_every_command_and_every_option_of_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    written = (Path(__file__).parents[3] / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert re.search(rf"`{name}\b", written)
    options = re.findall(r"^  (--[a-z-]+)", help_of(name, capsys), re.MULTILINE)
    assert [option for option in options if option not in written and option != "--help"] == []


def test_the_documentation_names_no_option_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    written = (Path(__file__).parents[3] / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert run(["--help"]) == 0
    helps = "\n".join([capsys.readouterr().out, *(help_of(name, capsys) for name in NAMES)])
    assert [found for found in re.findall(r"--[a-z][a-z-]+", written) if found not in helps] == []


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"context-ledger {importlib.metadata.version('context-ledger')}\n"
