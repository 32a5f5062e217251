"""What processes do to a store while something is forgotten in another one, and what must be true of it afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ledger import Ledgers
from ledger import events as e
from ledger.clock import system_clock
from ledger.erased import Erased
from ledger.erasing import Sweep, Swept
from ledger.errors import AdmissionRefused, SubjectForgotten
from ledger.parts import TextPart
from ledger.record import Recorded
from ledger.store import Store
from ledger.verify import verify_store
from tests.forgetting.shelves import Shelf

SUBJECT = "customer Szabina"
KIND = "window"
PAUSE_SECONDS = 0.005
"""Between the writes of one process: SQLite is not fair to those who wait, and a test has not the time for it."""


@dataclass(frozen=True)
class Success:
    """An append about the subject that returned: whether it began after the forgetting had returned, or may be one that was
    allowed again.
    """

    ledger: str
    version: int
    began_late: bool
    allowed: bool


def write_about(shelf: Shelf, name: str, returned: Any, allowed: Any, stop: Any) -> tuple[list[Success], int]:
    """Append about the subject until told to stop; every success, and how often it was refused."""
    done: list[Success] = []
    refused = 0
    with shelf() as ledgers:
        handle = ledgers.ledger(name)
        while not stop.is_set():
            late = returned.is_set()
            try:
                entry = handle.add_entry("open", f"secret {name} {len(done)}", source="user", subjects=[SUBJECT])
            except SubjectForgotten:
                refused += 1
            else:
                done.append(Success(name, int(entry.removeprefix("en_")), late, allowed.is_set()))
            time.sleep(PAUSE_SECONDS)
    return done, refused


def faults_about(ledgers: Ledgers, successes: Sequence[Success]) -> list[str]:
    """Appends that should have been refused, or that were not erased."""
    found = [f"{one} began after the forgetting" for one in successes if one.began_late and not one.allowed]
    for one in successes:
        (item,) = ledgers.ledger(one.ledger).events(after=one.version - 1, upto=one.version)
        if not isinstance(item.event, Erased) and not one.allowed:
            found.append(f"{one} is still there")
    return found


def converse(shelf: Shelf, name: str, who: int, stop: Any) -> int:
    """Turns with a fact from each; a fact whose turn was forgotten meanwhile is refused. How many turns."""
    with shelf() as ledgers:
        handle, number = ledgers.ledger(name), 0
        while not stop.is_set():
            turn = handle.record_turn("user", f"secret {who}/{number}.")
            try:
                handle.set_fact(f"{who} {number % 7}", f"secret value {who}/{number}.", source="user", turn=turn)
            except AdmissionRefused as error:
                if "was forgotten" not in str(error):
                    raise
            number += 1
            time.sleep(PAUSE_SECONDS)
    return number


def append_batches(shelf: Shelf, name: str, size: int, stop: Any) -> int:
    """Many turns at a time, as an import does."""
    with shelf() as ledgers:
        handle, turn = ledgers.ledger(name), 0
        while not stop.is_set():
            handle.append([said(turn + 1 + place) for place in range(size)])
            turn += size
            time.sleep(PAUSE_SECONDS)
    return turn


def said(turn: int) -> e.TurnRecorded:
    """What the user said in a turn."""
    return e.TurnRecorded(role="user", parts=(TextPart(text=f"secret turn {turn}."),), turn=turn)


def derive(shelf: Shelf, name: str, key: str, stop: Any) -> int:
    """Derive something of all that a ledger says, over and over; how often it was kept."""
    kept = 0
    with shelf() as ledgers:
        while not stop.is_set():
            head = ledgers.head(name)
            value = repr(list(ledgers.ledger(name).events())).encode()
            kept += ledgers.store.derived_put(head.ledger, KIND, key, value, erasures=head.erasures)
            time.sleep(PAUSE_SECONDS)
    return kept


def wait_until(condition: Callable[[], bool], *, seconds: float = 30.0) -> None:
    """Wait for what other processes do."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not come about"
        time.sleep(0.005)


def faults_of(ledgers: Ledgers, name: str) -> list[str]:
    """What is wrong with a ledger: gaps, problems, events that two jobs claim, jobs that are not finished."""
    items = list(ledgers.ledger(name).events())
    found = [f"{problem.version}: {problem.problem}" for problem in verify_store(ledgers).problems]
    if [item.version for item in items] != list(range(1, len(items) + 1)):
        found.append("versions have gaps")
    marked = [version for item in items for version in erased_by(item)]
    found += [f"{version} is marked twice" for version in set(marked) if marked.count(version) > 1]
    found += [f"{job.job} is not finished" for job in ledgers.forgettings() if not job.finished]
    return found


def erased_by(item: Recorded) -> list[int]:
    """The versions that an event says were erased."""
    return [erasure.version for erasure in item.event.erased] if isinstance(item.event, e.ContentForgotten) else []


def living(items: Sequence[Recorded], turns: set[int]) -> list[Recorded]:
    """What is left of some turns."""
    return [item for item in items if item.turn in turns and not isinstance(item.event, Erased | e.Governing)]


class NeverFences:
    """Planted: the fence of a subject is not raised."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def fence(self, subject: bytes, job: str) -> None:
        """Do nothing."""


class SweepsNothing(NeverFences):
    """Planted: the sweep leaves the payloads."""

    def sweep(self, sweep: Sweep) -> Swept:
        """Delete what is derived only."""
        return self._store.sweep(replace(sweep, versions=()))


class LeavesDerived(NeverFences):
    """Planted: the sweep leaves what is derived."""

    def sweep(self, sweep: Sweep) -> Swept:
        """Put back what was there."""
        kept = {key: self._store.derived_get(sweep.ledger, KIND, key) for key in ("early", "late", "0", "1")}
        swept = self._store.sweep(sweep)
        for key, value in kept.items():
            if value is not None:
                put_whatever_was_forgotten(self._store, sweep.ledger, key, value)
        return swept


def put_whatever_was_forgotten(store: Store, ledger: bytes, key: str, value: bytes) -> bool:
    """Planted: what is derived is kept, whatever was forgotten since it was made."""
    (head,) = [head for head in store.heads() if head.ledger == ledger]
    return store.derived_put(ledger, KIND, key, value, erasures=head.erasures)


def broken(ledgers: Ledgers, bug: Callable[[Store], Any] | None) -> Ledgers:
    """The same store with a planted bug, if one is given."""
    return ledgers if bug is None else Ledgers(bug(ledgers.store), system_clock)
