"""Followers of a SQLite file while many processes write: nothing is missed, doubled or out of order."""

from __future__ import annotations

import random
import threading
from pathlib import Path

from ledger.connect import connect
from ledger.following import follow
from ledger.store import Stored
from tests.following.racing import BIG, WRITERS, faults, processes, write

RACE_SECONDS = 3.0


class Follower(threading.Thread):
    """Follows from where it stands; with a ``chance`` it stops after an event and is resumed."""

    def __init__(self, address: str, chance: float) -> None:
        super().__init__()
        self.delivered: list[Stored] = []
        self.finished = threading.Event()
        self._address = address
        self._chance = chance
        self.start()

    def run(self) -> None:
        luck = random.Random(7)
        with connect(self._address) as ledgers:
            while not self.finished.is_set():
                for event in follow(ledgers.store, after=self._reached(), stop=self.finished, idle_seconds=0.05):
                    self.delivered.append(event)
                    if luck.random() < self._chance:
                        break
            self.delivered.extend(follow(ledgers.store, after=self._reached(), idle_seconds=0))

    def _reached(self) -> int:
        return self.delivered[-1].envelope.position if self.delivered else 0


def test_sixteen_processes_race_past_two_followers(tmp_path: Path) -> None:
    """Batches of 3,000 events race single ones, on shared ledgers and on own ones."""
    address = str(tmp_path / "record.db")
    connect(address).close()
    steady, resumed = Follower(address, 0), Follower(address, 0.001)
    try:
        with processes() as pool:
            results = pool.starmap(write, [(address, seed, RACE_SECONDS) for seed in range(WRITERS)])
    finally:
        for follower in (steady, resumed):
            follower.finished.set()
            follower.join()
    with connect(address) as ledgers:
        stored = [(event.envelope.ledger, event.envelope.version) for event in follow(ledgers.store, idle_seconds=0)]
    acknowledged = [size for result in results for _, size in result]
    assert {1, BIG} <= set(acknowledged), "single events and large batches were written"
    assert len(stored) == sum(acknowledged)
    assert faults(steady.delivered, stored) == []
    assert faults(resumed.delivered, stored) == []
