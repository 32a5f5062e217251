"""The lines of state blocks are counted when they are recorded: the state as of any version needs no tokenizer after that."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledgers, connect
from ledger.store import Store
from projections.policy import Policy
from projections.state_block import BlockOptions
from replay import view
from replay.freshening import freshen
from replay.kept.counted import Counted
from replay.standing.lines import KIND
from tests.contract.stores import CATALOGUE, OpenStore
from tests.index.telling import ENCODING, Clock
from tests.index.test_live import ABOUT_STATE, Stated

ROOT = Path(__file__).resolve().parents[2]
COLD = """
import hashlib, sys
from ledger import connect
from projections.state_block import BlockOptions
from replay import view
from replay.loading import load
from replay.standing.state import standing_state
from replay.kept.warm import shelf_of

options = BlockOptions.model_validate_json(sys.argv[2])
made = hashlib.sha256()
with connect(sys.argv[1]) as store:
    for version in map(int, sys.argv[3:]):
        loaded = load(store, store.head("case"), version, None)
        count = shelf_of(loaded).notes("o200k_base")
        seen = view(store, "case", at=version)
        block = standing_state(loaded, seen.basis(), count=count).shown(options)
        assert seen.state().shown(options) == block
        made.update(f"{block.tokens} {block.text}".encode())
print(made.hexdigest(), "tiktoken" in sys.modules)
"""
OPTIONS = (
    BlockOptions(),
    BlockOptions(form="compact", provenance=False, budget_tokens=120),
    BlockOptions(form="markdown", task=True, most_entries=2, most_characters=12),
    BlockOptions(form="markdown", provenance=False, budget_tokens=90),
)


@pytest.fixture(params=["sqlite-file", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """A store on a disk or a server."""
    made = CATALOGUE[request.param](tmp_path)
    yield made
    made.close()


def cold(address: str, options: BlockOptions, versions: list[int]) -> tuple[str, bool]:
    """The blocks as of some versions, as a digest, and whether the process that made them needed the tokenizer."""
    arguments = [sys.executable, "-c", COLD, address, options.model_dump_json(), *map(str, versions)]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=True, timeout=100)
    digest, needed = done.stdout.split()
    return digest, needed == "True"


def by_all(store: Ledgers, options: BlockOptions, versions: list[int]) -> str:
    """The same from folding all events."""
    made = hashlib.sha256()
    for version in versions:
        block = view(store, "case", at=version).state().shown(options)
        made.update(f"{block.tokens} {block.text}".encode())
    return made.hexdigest()


@pytest.mark.parametrize(("seed", "options"), list(enumerate(OPTIONS)))
def test_all_that_stood_at_any_version_was_counted(tmp_path: Path, seed: int, options: BlockOptions) -> None:
    """Made ready now and then, with schemas replaced, entries closed, contradictions, retractions, and something forgotten."""
    address = str(tmp_path / "store.db")
    with connect(address, clock=Clock()) as store:
        chance = random.Random(seed)
        history = Stated(store, chance)
        store.ledger("case").record_turn("user", "Move the piano.")
        for number in range(200):
            history.step(chance.choice(ABOUT_STATE), "case")
            if number == 150:
                history.forget(chance.choice(("facts", "ids")), "case")
            if number in (20, 21, 140, 170):
                freshen(store, "case", policy=Policy(state=options))
        freshen(store, "case", policy=Policy(state=options))
        versions = list(range(1, store.head("case").version + 1))
        expected = by_all(store, options, versions)
    assert cold(address, options, versions) == (expected, False)


def test_in_both_stores(opened: OpenStore) -> None:
    store = opened(Clock())
    case = store.ledger("case")
    case.record_turn("user", "Move the piano.")
    for number in range(60):
        case.set_fact(f"field {number % 7}", number, source="tool")
    freshen(store, "case")
    versions = [1, 20, 40, 61]
    assert cold(opened.address, BlockOptions(), versions) == (by_all(store, BlockOptions(), versions), False)
    case.set_fact("field 3", "another", source="user")
    assert cold(opened.address, BlockOptions(), [62])[1]
    freshen(store, "case")
    assert not cold(opened.address, BlockOptions(), [62])[1]
    store.ledger("case").forget(facts=["field_5"], reason="asked to")
    assert cold(opened.address, BlockOptions(), versions)[1], "with what is forgotten, what was counted goes"
    freshen(store, "case")
    assert not cold(opened.address, BlockOptions(), versions)[1]


class Reads:
    """A store that counts the events that are read with their content."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.rows = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def read(self, ledger: bytes, selection: Any) -> Iterator[Any]:
        """See ``Store``."""
        for row in self._store.read(ledger, selection):
            self.rows += 1
            yield row


def test_each_event_is_looked_at_once(tmp_path: Path) -> None:
    """It is remembered up to where it was done, for each kind of lines; a file that cannot be written changes nothing."""
    with connect(str(tmp_path / "store.db"), clock=Clock()) as store:
        case = store.ledger("case")
        case.record_turn("user", "Move the piano.")
        for number in range(300):
            case.set_fact(f"field {number % 7}", number, source="tool")
        freshen(store, "case")
        head = store.head("case")
        rows = store.store.derived_scan(KIND, "", ledger=head.ledger).rows
        assert [row.value for row in rows] == [b"301"]
        case.set_fact("field 3", "another", source="user")
        reads: Any = Reads(store.store)
        freshen(Ledgers(reads, store.clock), "case")
        assert reads.rows < 100
        freshen(store, "case", policy=Policy(state=BlockOptions(form="compact")))
        assert len(store.store.derived_scan(KIND, "", ledger=head.ledger).rows) == 2
        assert Counted(store.store, head.ledger, ENCODING).keep(), "nothing is new"
