"""Several writers on one store, their commands interleaved by a seed; what must hold is checked after every step.

A failure names its seed, and the same seed takes the same steps again.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger import events as e
from ledger.clock import system_clock
from ledger.errors import AdmissionRefused, IdempotencyConflict, LedgerError, StoreError, VersionConflict
from ledger.parts import ToolCallPart
from ledger.record import Envelope
from ledger.store import Batch, Store
from tests.ledger.any_events import SOURCES
from tests.ledger.record_rules import check

NAMES = ("case", "other")
WRITERS = 5
STEPS = 120

Step = tuple[str, dict[str, Any]]
"""A method of the ledger and its arguments."""


class Unreliable:
    """A store that now and then loses the answer of an append that was committed, or fails before it."""

    def __init__(self, store: Store, chance: random.Random) -> None:
        self.store, self.chance = store, chance

    def append(self, batch: Batch) -> list[Envelope]:
        fate = self.chance.random()
        if fate < 0.04:
            raise StoreError("the connection was lost before the commit")
        envelopes = self.store.append(batch)
        if fate > 0.96:
            raise StoreError("the connection was lost after the commit")
        return envelopes

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


@dataclass
class Simulation:
    """The writers, and what has been promised to them so far."""

    path: str
    chance: random.Random
    handles: list[dict[str, Ledger]] = field(default_factory=list)
    stores: list[Ledgers] = field(default_factory=list)
    answers: dict[tuple[str, str], tuple[Step, object]] = field(default_factory=dict)
    asked: dict[tuple[str, str], Step] = field(default_factory=dict)
    feed: list[tuple[int, bytes, int, bytes]] = field(default_factory=list)
    outcomes: dict[str, int] = field(default_factory=dict)

    def open_writer(self) -> dict[str, Ledger]:
        """A writer with connections of its own and a clock that may be wrong by hours."""
        wrong_by = self.chance.randrange(-(10**10), 10**10)
        opened = connect(self.path)
        self.stores.append(opened)
        unreliable = Ledgers(Unreliable(opened.store, self.chance), lambda: system_clock() + wrong_by)
        return {name: unreliable.ledger(name) for name in NAMES}

    def take_step(self) -> None:
        """One writer asks for one thing; sometimes it is restarted first, sometimes it repeats what it asked before."""
        place = self.chance.randrange(WRITERS)
        if self.chance.random() < 0.05:
            self.handles[place] = self.open_writer()
        name = self.chance.choice(NAMES)
        handle = self.handles[place][name]
        key = f"key {self.chance.randrange(40)}" if self.chance.random() < 0.5 else None
        step = random_step(self.chance)
        if key is not None and (name, key) in self.asked and self.chance.random() < 0.7:
            step = self.asked[name, key]
        self.ask(handle, step, key)

    def ask(self, handle: Ledger, step: Step, key: str | None) -> None:
        method, arguments = step
        before = handle.version
        try:
            answer = getattr(handle, method)(**arguments, idempotency_key=key)
        except LedgerError as error:
            self.count(type(error).__name__)
            self.refused(handle, before, error, step, key)
            return
        self.count(method)
        if key is None:
            assert handle.version > before
            return
        known = self.answers.setdefault((handle.name, key), (step, answer))
        assert known == (step, answer), "a repeated key returns the first answer, and only to the first request"
        self.asked[handle.name, key] = step

    def refused(self, handle: Ledger, before: int, error: LedgerError, step: Step, key: str | None) -> None:
        """Nothing was written, unless the answer was lost; a key that was answered never turns into another error."""
        if "after the commit" in str(error):
            assert handle.version > before
            if key is not None:
                self.asked.setdefault((handle.name, key), step)
            return
        assert handle.version == before
        assert isinstance(error, AdmissionRefused | IdempotencyConflict | VersionConflict | StoreError)
        if key is not None and (handle.name, key) in self.answers and not isinstance(error, StoreError):
            assert self.answers[handle.name, key][0] != step
            assert isinstance(error, IdempotencyConflict)

    def count(self, outcome: str) -> None:
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    def check_everything(self) -> None:
        """The feed only grows at its end, and each ledger obeys the rules of a record."""
        store = self.chance.choice(self.stores)
        rows = [row.envelope for row in store.store.feed(after=0, limit=10_000)]
        feed = [(row.position, row.ledger, row.version, row.commitment) for row in rows]
        assert feed[: len(self.feed)] == self.feed
        assert [position for position, *_ in feed] == sorted({position for position, *_ in feed})
        commands = [(row.ledger, row.command, row.ordinal) for row in rows]
        assert len(set(commands)) == len(commands)
        self.feed = feed
        for name in NAMES:
            check(store.ledger(name).events())


def random_step(chance: random.Random) -> Step:
    turn = chance.choice((None, 1, 2, 3))
    source: e.Source = chance.choice(SOURCES)
    value, other = chance.choice((1, "Tue", 4050)), chance.choice((None, None, 1, "Tue", 4050))
    calls = [ToolCallPart(call_id=f"c{number}", tool="look", arguments=JsonText("{}")) for number in range(2)]
    entry = e.EntryAdded(section="open", what="which?", source=source)
    steps: list[Step] = [
        ("record_turn", {"role": "user", "content": "hello"}),
        ("record_turn", {"role": "assistant", "content": calls[: chance.randrange(3)]}),
        ("record_return", {"call_id": f"c{chance.randrange(2)}", "content": {"n": 1}}),
        ("set_fact", {"name": chance.choice(("day", "Day ")), "value": value, "source": source, "turn": turn}),
        ("set_fact", {"name": "day", "value": value, "source": source, "supersedes": other}),
        ("retract_fact", {"name": "day", "source": source}),
        ("add_entry", {"section": "open", "what": "which?", "source": source, "turn": turn}),
        ("close_entry", {"entry": f"en_{chance.randrange(60)}", "because": "answered", "source": "interface"}),
        ("resolve_contradiction", {"contradiction": f"con_{chance.randrange(60)}", "because": "x", "source": source}),
        ("store_artifact", {"content": b"page %d" % chance.randrange(3)}),
        ("append", {"events": [entry, entry]}),
        ("append", {"events": [entry], "expected_version": chance.randrange(60)}),
        ("record_outcome", {"status": "partial", "judge": "reviewer"}),
    ]
    return chance.choice(steps)


def run(path: Path, seed: int, steps: int) -> Simulation:
    simulation = Simulation(str(path), random.Random(seed))
    try:
        simulation.handles = [simulation.open_writer() for _ in range(WRITERS)]
        for _ in range(steps):
            simulation.take_step()
            simulation.check_everything()
    finally:
        for opened in simulation.stores:
            opened.close()
    return simulation


@pytest.mark.parametrize("seed", range(6))
def test_writers_interleaved_by_a_seed(tmp_path: Path, seed: int) -> None:
    simulation = run(tmp_path / "record.db", seed, STEPS)
    assert len(simulation.feed) > STEPS // 3
    assert {"IdempotencyConflict", "AdmissionRefused", "StoreError", "record_turn", "set_fact"} <= simulation.outcomes.keys()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 130))
def test_writers_for_longer(tmp_path: Path, seed: int) -> None:
    run(tmp_path / "record.db", seed, 500)
