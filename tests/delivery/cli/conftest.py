"""The command line as its users meet it: arguments in, output, errors and an exit code out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import ledger
from delivery.cli.application import run
from tests.postgres.server import Databases


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def answer(self) -> Any:
        """The JSON that it printed."""
        return json.loads(self.out)


Command = Callable[..., Outcome]


def at(address: str, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs commands on the store at an address."""

    def run_command(*arguments: str) -> Outcome:
        code = run(["--store", address, *arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run_command


@pytest.fixture
def database(postgres: Databases) -> Iterator[str]:
    """The address of an empty database."""
    with postgres.lent() as address:
        yield address


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    """Where the commands of a test keep their store."""
    return tmp_path / "store.db"


@pytest.fixture
def command(store_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs one command on the test's store."""
    return at(str(store_path), capsys)


@pytest.fixture
def refund(command: Command) -> str:
    """The name of the refund case's ledger, recorded into the test's store."""
    assert command("demo").code == 0
    return "refund-ORD-88213"


@pytest.fixture
def voyage(command: Command, store_path: Path) -> str:
    """The name of a long ledger, of which a small window compacts most."""
    command("init")
    with ledger.connect(str(store_path)) as store:
        case = store.ledger("voyage")
        case.record_turn("user", "Plan the crossing to Skagen. Never book the night boat FRY-031.")
        for number in range(2, 80):
            text = f"Sentence {number} about berth B-{number:03} and its cranes, of which two were mended in March."
            case.record_turn("user" if number % 2 else "assistant", text)
    return "voyage"
