"""The wheel, alone with its core dependencies: what a user has who asked for no extra."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tidy.tree import ROOMS, ROOT

pytestmark = pytest.mark.slow

IMPORT_EVERYTHING = f"""
import importlib, pkgutil

for room in {ROOMS!r}:
    package = importlib.import_module(room)
    assert "site-packages" in package.__file__, package.__file__
    for module in pkgutil.walk_packages(package.__path__, room + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
            print(module.name)
"""


def run(*command: str | Path, folder: Path) -> str:
    """The standard output of a command that must succeed, run outside the checkout without its settings."""
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CONTEXT_"))}
    done = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env=surroundings,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a new virtual environment that holds the wheel and the core."""
    folder = tmp_path_factory.mktemp("bare")
    pip = ("-m", "pip", "--disable-pip-version-check", "--quiet")
    run(sys.executable, *pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT, folder=folder)
    run(sys.executable, "-m", "venv", folder / "environment", folder=folder)
    programs = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")
    (wheel,) = folder.glob("context_ledger-*.whl")
    run(programs / "python", *pip, "install", wheel, folder=folder)
    return programs


def test_every_module_is_there_and_imports(installed: Path, tmp_path: Path) -> None:
    names = set(run(installed / "python", "-c", IMPORT_EVERYTHING, folder=tmp_path).split())
    here = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        if path.stem not in {"__init__", "__main__"}
    }
    assert here <= names


def test_no_extra_is_installed(installed: Path, tmp_path: Path) -> None:
    others = ("anthropic", "mcp", "openai", "pytest")
    program = f"from importlib.util import find_spec; print(*filter(find_spec, {others}))"
    assert run(installed / "python", "-c", program, folder=tmp_path).split() == []


def test_ranks_and_licences_are_in_the_wheel(installed: Path, tmp_path: Path) -> None:
    program = "from replay.tokens import *; print([counter(encoding)('hello world') for encoding in ENCODINGS])"
    assert run(installed / "python", "-c", program, folder=tmp_path) == "[2, 2]\n"
    program = "from importlib.metadata import files; print(*(file.name for file in files('context-ledger')))"
    assert {"LICENSE", "LICENSE-tiktoken"} <= set(run(installed / "python", "-c", program, folder=tmp_path).split())


def test_the_command_explains_itself(installed: Path, tmp_path: Path) -> None:
    assert "Usage" in run(installed / "context-ledger", "--help", folder=tmp_path)
