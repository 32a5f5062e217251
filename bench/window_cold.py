"""One window by a process that has just begun; as a program it prints its seconds and whether it loaded a tokenizer.

``python -m bench.window_cold ours|floor PLACE POLICY WHERE``: WHERE is a version, of the floor a turn. Imports are not timed.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Final

import ledger
from bench.measuring import Work
from bench.window_case import NAME
from bench.window_floor import floor_at, floor_window
from projections.presets import preset_named
from replay.view import view

_LATER: Final = {
    "sqlite": ("ledger.sqlite", "ledger.sqlite_deriving", "sqlite3"),
    "postgresql": ("ledger.postgres", "ledger.postgres_deriving", "psycopg"),
}
"""What a store imports when it is opened."""


@dataclass(frozen=True)
class Cold:
    """Seconds of wall clock and processor, and whether a tokenizer was loaded."""

    wall: float
    cpu: float
    tokenizer: bool


def cold(what: str, place: str, policy: str, where: int) -> Cold:
    """A window by a process of its own."""
    command = [sys.executable, "-m", "bench.window_cold", what, place, policy, str(where)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Cold(**json.loads(done.stdout))


def _ours(place: str, policy: str, version: int) -> None:
    with ledger.connect(place) as store:
        assert view(store, NAME, at=version).window(preset_named(policy)).request_bytes


def _floor(place: str, policy: str, turn: int) -> None:
    assert floor_window(floor_at(place), turn, preset_named(policy).budget_tokens)


def _timed(work: Work) -> Cold:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return Cold(time.perf_counter() - wall, time.process_time() - cpu, "tiktoken" in sys.modules)


def main() -> None:
    """Print the figures as JSON."""
    what, place, policy, where = sys.argv[1:]
    for module in _LATER["postgresql" if place.startswith("postgresql:") else "sqlite"]:
        importlib.import_module(module)
    work = _ours if what == "ours" else _floor
    print(json.dumps(vars(_timed(lambda: work(place, policy, int(where))))))


if __name__ == "__main__":
    main()
