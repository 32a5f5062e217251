"""One field of a long ledger: its history and its value as of a version, and which of many ledgers held a value.

A tenth of the events are facts, about 100 fields, but for one that is set ten times however long the ledger is. The floor is
raw ``sqlite3`` or ``psycopg`` on the same database, reading the same rows by their index and the same events by their versions:
no folding, no schema, no look at what was forgotten.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import ledger
from bench.field_floor import Floor, PostgresFloor, SqliteFloor
from bench.measuring import Times, Work, exponent, paired, print_rows
from bench.postgres_append import server
from ledger import JsonText, Ledgers
from ledger.events import Event, FactSet, FactSuperseded, TurnRecorded
from ledger.parts import TextPart
from replay import find_facts, view

SIZES: Final = tuple(int(size) for size in os.environ.get("BENCH_SIZES", "1000,3000,10000,30000,100000").split(","))
RUNS: Final = 30
FIELDS: Final = 100
UPDATES: Final = 10
OFTEN: Final = 1_000
MANY: Final = (300, 3_000)
_FACT_EVERY: Final = 10
_AT_ONCE: Final = 2_000
_RARE: Final = "rare"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a ledger, and the floor's answer to the same."""

    name: str
    ours: Callable[[Ledgers, int], Work]
    floor: Callable[[Floor, int], Work]


QUESTIONS: Final = (
    Question(
        f"history of a field with {UPDATES} values",
        lambda store, _: lambda: view(store, "case").history(_RARE).values,
        lambda floor, size: lambda: floor.history(_RARE, upto=size),
    ),
    Question(
        "value of a field as of half of the ledger",
        lambda store, size: lambda: view(store, "case", at=size // 2).value(_RARE),
        lambda floor, size: lambda: floor.value(_RARE, upto=size // 2),
    ),
    Question(
        "value now of a field that changes all the time",
        lambda store, _: lambda: view(store, "case").value("field_7"),
        lambda floor, size: lambda: floor.value("field_7", upto=size),
    ),
    Question(
        "which ledgers held a value",
        lambda store, _: lambda: find_facts(store, field=_RARE, value=3),
        lambda floor, _: lambda: floor.find(_RARE, 3),
    ),
)


def main() -> None:
    """Print medians, ratios and how both grow with the length of the ledger, for both stores."""
    with _sqlite() as (name, place, floor):
        _report(name, place, floor)
    with server() as databases:
        _report("PostgreSQL", lambda _: databases.new(), PostgresFloor)


@contextmanager
def _sqlite() -> Iterator[tuple[str, Callable[[int], str], Callable[[str, Ledgers], Floor]]]:
    with tempfile.TemporaryDirectory() as folder:
        yield "SQLite", lambda size: str(Path(folder) / f"{size}.db"), SqliteFloor


def _report(name: str, place: Callable[[int], str], floor: Callable[[str, Ledgers], Floor]) -> None:
    measured = [_measure(size, place(size), floor) for size in SIZES]
    for number, question in enumerate(QUESTIONS):
        _print(f"{name}: {question.name}", SIZES, [times[number] for times in measured])
    _often(name, place(0), floor)
    _many(name, place, floor)


def _print(
    title: str, sizes: Sequence[int], measured: Sequence[tuple[Times, Times]], *, what: str = "events in the ledger"
) -> None:
    rows = [
        (f"{size:,}", f"{ours.wall_ms:.3f}", f"{floor.wall_ms:.3f}", f"{ours.wall_ms / floor.wall_ms:.1f}")
        for size, (ours, floor) in zip(sizes, measured, strict=True)
    ]
    if len(sizes) > 1:
        slopes = [exponent(sizes, [times[place].wall_ms for times in measured]) for place in (0, 1)]
        rows.append(("growth (log-log exponent)", f"{slopes[0]:.3f}", f"{slopes[1]:.3f}", ""))
    print_rows(title, (what, "context-ledger, ms", "raw floor, ms", "ratio"), rows)


def _measure(size: int, place: str, make_floor: Callable[[str, Ledgers], Floor]) -> list[tuple[Times, Times]]:
    with ledger.connect(place) as store:
        _fill(store, _mixed(size))
        return _asked(store, size, make_floor(place, store), QUESTIONS)


def _asked(store: Ledgers, size: int, floor: Floor, questions: Sequence[Question]) -> list[tuple[Times, Times]]:
    find_facts(store, field=_RARE)
    try:
        return [paired(one.ours(store, size), one.floor(floor, size), runs=RUNS) for one in questions]
    finally:
        floor.close()


def _often(name: str, place: str, make_floor: Callable[[str, Ledgers], Floor]) -> None:
    """A field that is updated 1,000 times among 10,000 facts about 100 fields, and then its history."""
    question = Question(
        "",
        lambda store, _: lambda: view(store, "case").history("often").values,
        lambda floor, size: lambda: floor.history("often", upto=size),
    )
    with ledger.connect(place) as store:
        _fill(store, _facts(10_000))
        times = _asked(store, 10_000, make_floor(place, store), [question])
    _print(f"{name}: history of a field with {OFTEN:,} values among 10,000 facts", [10_000], times)


def _many(name: str, place: Callable[[int], str], make_floor: Callable[[str, Ledgers], Floor]) -> None:
    """Which of many ledgers held a value that three of them hold."""
    question = Question(
        "",
        lambda store, _: lambda: find_facts(store, field="customer", value="C-0"),
        lambda floor, _: lambda: floor.find("customer", "C-0"),
    )
    measured = []
    for size in MANY:
        address = place(-size)
        with ledger.connect(address) as store:
            for number in range(size):
                customer = JsonText.of(f"C-{number % (size // 3)}")
                store.ledger("case" if number == 0 else f"case {number}").append(
                    FactSet(field="customer", value=customer, source="tool")
                )
            find_facts(store, field="customer")
            measured += _asked(store, size, make_floor(address, store), [question])
    _print(f"{name}: which of many ledgers held a value, three of them", MANY, measured, what="ledgers")


def _fill(store: Ledgers, events: list[Event]) -> None:
    handle = store.ledger("case")
    for start in range(0, len(events), _AT_ONCE):
        handle.append(events[start : start + _AT_ONCE])


def _mixed(size: int) -> list[Event]:
    said = _Said()
    rare = {place * size // UPDATES for place in range(UPDATES)}
    for place in range(size):
        if place in rare:
            said.fact(_RARE, len(said.versions) and place * UPDATES // size)
        elif place % _FACT_EVERY == 5:
            said.fact(f"field_{place // _FACT_EVERY % FIELDS}", place)
        else:
            said.events.append(TurnRecorded(role="system", parts=(TextPart(text=f"the words of turn {place} " * 8),)))
    return said.events


def _facts(size: int) -> list[Event]:
    said = _Said()
    for place in range(size):
        said.fact("often" if place % (size // OFTEN) == 0 else f"field_{place % (FIELDS - 1)}", place)
    return said.events


class _Said:
    """Events in which each fact takes the place of the one before it."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.versions: dict[str, int] = {}

    def fact(self, field: str, value: int) -> None:
        """A field gets a value."""
        said: dict[str, Any] = {"field": field, "value": JsonText.of(value), "source": "tool"}
        before = self.versions.get(field)
        self.events.append(FactSet(**said) if before is None else FactSuperseded(replaces=before, **said))
        self.versions[field] = len(self.events)
