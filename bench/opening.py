"""Opening a long ledger: its state, the last 60 turns and what they cost, from kept blocks, without any, and once more.

Each run opens the store anew, so that nothing is in memory. The floor is raw ``sqlite3``, opened anew, too: with blocks it
reads the same rows by their keys and versions, without them all events; it decodes nothing. Once more is in the process that
has just read it, with nothing recorded since, and with one turn; the floor then looks for the last event and for new ones.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

import ledger
from bench.measuring import Times, exponent, paired, print_rows
from bench.workload import mixed_turns
from ledger import JsonText, Ledgers
from ledger.deriving import Scan
from ledger.events import Event, FactSet
from projections.basis import Basis
from projections.state import State
from projections.told import Told
from replay.loading import load
from replay.standing import live_events
from replay.standing.state import standing_state
from replay.turns import cards, index
from replay.turns.ledger_turns import bring_up_to_date, turns_of

SIZES: Final = tuple(int(size) for size in os.environ.get("BENCH_SIZES", "1000,10000,50000").split(","))
RUNS: Final = 15
TURNS: Final = 60
FIELDS: Final = 50
ENCODING: Final = "o200k_base"
_AT_ONCE: Final = 2_000
_WARM_RUNS: Final = 60
_BASIS: Final = Basis("case", 0, None, None, "", 0)


def main() -> None:
    """Print medians, ratios and how both grow with the ledger."""
    measured = [_measure(size) for size in SIZES]
    for place, name in enumerate(("from blocks", "without blocks", "once more", "once more, after one turn")):
        times = [found[place] for found in measured]
        rows = [
            (f"{size:,}", f"{ours.wall_ms:.2f}", f"{floor.wall_ms:.3f}", f"{ours.wall_ms / floor.wall_ms:.1f}")
            for size, (ours, floor) in zip(SIZES, times, strict=True)
        ]
        if len(SIZES) > 1:
            slopes = [exponent(SIZES, [found[side].wall_ms for found in times]) for side in (0, 1)]
            rows.append(("growth (log-log exponent)", f"{slopes[0]:.2f}", f"{slopes[1]:.2f}", ""))
        print_rows(f"Opening {name}, SQLite", ("events", "context-ledger, ms", "raw floor, ms", "ratio"), rows)


def _measure(size: int) -> list[tuple[Times, Times]]:
    with tempfile.TemporaryDirectory() as folder:
        place = str(Path(folder) / "bench.db")
        with ledger.connect(place) as store:
            _fill(store, size)
            bring_up_to_date(store, "case", encoding=ENCODING)
            versions = _versions(store)
        with ledger.connect(place) as store:
            warm = _warm(store, place)
        return [
            paired(lambda: _opened(place), lambda: _floor_blocks(place, versions), runs=RUNS),
            paired(lambda: _opened_without(place), lambda: _floor_all(place), runs=min(RUNS, 5)),
            *warm,
        ]


def _warm(store: Ledgers, place: str) -> list[tuple[Times, Times]]:
    raw = sqlite3.connect(place, isolation_level=None)
    (found,) = raw.execute("SELECT ledger FROM ledgers").fetchone()
    _read(store)
    still = paired(lambda: _read(store), lambda: _floor_new(raw, found, 0), runs=_WARM_RUNS)
    results = Times([], []), Times([], [])
    works: tuple[Callable[[], object], ...] = (partial(_read, store), partial(_floor_new, raw, found, 1))
    for number in range(_WARM_RUNS):
        for work, times in zip(works, results, strict=True):
            store.ledger("case").record_turn("user", f"One more thing, number {number}: has the parcel left?")
            cpu, wall = time.process_time(), time.perf_counter()
            work()
            times.wall.append(time.perf_counter() - wall)
            times.cpu.append(time.process_time() - cpu)
    raw.close()
    return [still, results]


def _floor_new(raw: sqlite3.Connection, ledger_id: bytes, number: int) -> list[Any]:
    head = raw.execute("SELECT max(version) FROM events WHERE ledger = ?", (ledger_id,)).fetchone()
    rows = raw.execute(
        "SELECT e.*, p.* FROM events e JOIN payloads p ON p.position = e.position WHERE e.ledger = ? AND e.version > ?",
        (ledger_id, head[0] - number),
    ).fetchall()
    return [head, rows]


def _opened(place: str) -> tuple[State, list[Told]]:
    with ledger.connect(place) as store:
        return _read(store)


def _opened_without(place: str) -> tuple[State, list[Told]]:
    with ledger.connect(place) as store:
        bare: Any = _Bare(store.store)
        return _read(Ledgers(bare, store.clock))


def _read(store: Ledgers) -> tuple[State, list[Told]]:
    loaded = load(store, store.head("case"), None, None)
    turns = turns_of(loaded, ENCODING)
    told = [*turns.at([1]).values(), *turns.between(turns.last - TURNS + 1, turns.last)]
    assert turns.system == ()
    turns.amended(turns.last)
    return standing_state(loaded, _BASIS, count=len), told


class _Bare:
    """A store in which nothing derived is found or kept."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def derived_get(self, *given: object) -> None:
        """Nothing is found."""

    def derived_scan(self, *given: object, **named: object) -> Scan:
        """Nothing is found."""
        return Scan([], frozenset())

    def derived_put_many(self, *given: object, **named: object) -> bool:
        """Nothing is kept."""
        return False


def _versions(store: Ledgers) -> list[int]:
    """The versions of the events that an answer rests on."""
    state, told = _read(store)
    turns = [one.turn for one in told]
    returns = [found.version for turn in turns for found in turn.returns]
    return sorted({*(turn.version for turn in turns), *returns, *(fact.version for fact in state.entities.values())})


def _floor_blocks(place: str, versions: list[int]) -> list[Any]:
    raw = sqlite3.connect(place, isolation_level=None)
    (found,) = raw.execute("SELECT ledger FROM ledgers").fetchone()
    kept = raw.execute(
        "SELECT value FROM derived WHERE ledger = ? AND kind IN (?, ?, ?) ORDER BY key DESC LIMIT 8",
        (found, index.KIND, cards.KIND, live_events.KIND),
    ).fetchall()
    rows = raw.execute(
        "SELECT e.*, p.* FROM events e JOIN payloads p ON p.position = e.position "
        "WHERE e.ledger = ? AND e.version IN (SELECT value FROM json_each(?)) ORDER BY e.version",
        (found, json.dumps(versions)),
    ).fetchall()
    raw.close()
    return [kept, rows]


def _floor_all(place: str) -> int:
    raw = sqlite3.connect(place, isolation_level=None)
    number = 0
    for _ in raw.execute("SELECT e.*, p.* FROM events e JOIN payloads p ON p.position = e.position ORDER BY e.version"):
        number += 1
    raw.close()
    return number


def _fill(store: Ledgers, size: int) -> None:
    handle, events = store.ledger("case"), _events(size)
    while batch := list(islice(events, _AT_ONCE)):
        handle.append(batch)


def _events(size: int) -> Iterator[Event]:
    """Turns and what their tools returned, with facts about 50 fields spread over the first half."""
    number, facts = 0, 0
    for events in mixed_turns(size):
        for event in events:
            if number == size:
                return
            yield event
            number += 1
        if facts < FIELDS and number >= facts * size // (2 * FIELDS) and number < size:
            yield FactSet(field=f"field_{facts}", value=JsonText.of(facts), source="tool")
            number, facts = number + 1, facts + 1
