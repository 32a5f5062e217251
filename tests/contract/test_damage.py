"""Nothing vanishes: an event whose payload is gone or was changed is an error wherever it is read."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from ledger import Ledgers
from ledger.errors import CorruptRecord
from ledger.following import follow
from ledger.reading import FeedReader, Reader
from ledger.recorder import LedgerRecorder
from ledger.rows import PAGE_BYTES
from ledger.sqlite import SqliteStore
from ledger.store import Selection, Store
from ledger.verify import verify_store
from replay import view
from tests.contract.batches import LEDGER, batch, draft
from tests.contract.stores import OpenStore

LOST = "missing"
CHANGED = "commitment"


def damage(store: Store, sqlite: str, postgres: str) -> None:
    """Do to a store what somebody with all rights on its database can."""
    if isinstance(store, SqliteStore):
        with store._connections.writing() as connection:
            for statement in sqlite.split("; "):
                connection.execute(statement)
    else:
        store._connections.run(lambda connection, _: connection.execute(postgres))  # type: ignore[attr-defined]


def lose(store: Store, version: int) -> None:
    damage(
        store,
        f"DELETE FROM payloads WHERE position = (SELECT position FROM events WHERE version = {version})",
        f"DELETE FROM context_ledger.payloads WHERE version = {version}",
    )


def change(store: Store, version: int) -> None:
    damage(
        store,
        "DROP TRIGGER payloads_never_change; UPDATE payloads SET payload = CAST(replace(payload, 'INR 4', 'INR 9') AS BLOB) "
        f"WHERE position = (SELECT position FROM events WHERE version = {version})",
        "ALTER TABLE context_ledger.payloads DISABLE TRIGGER payloads_never_change; UPDATE context_ledger.payloads "
        f"SET payload = convert_to(replace(convert_from(payload, 'UTF8'), 'INR 4', 'INR 9'), 'UTF8') WHERE version = {version}",
    )


@pytest.fixture(params=[(lose, LOST), (change, CHANGED)], ids=["lost", "changed"])
def damaged(request: pytest.FixtureRequest, open_store: OpenStore) -> tuple[Ledgers, str]:
    """A ledger of five turns, of which the third is damaged, and what is to be said of it."""
    store = open_store()
    handle = store.ledger("case")
    for number in range(5):
        handle.record_turn("user", f"INR 4,05{number}")
    harm, said = request.param
    harm(store.store, 3)
    return store, said


def versions_until_refused(events: Iterable[Any], said: str) -> list[int]:
    """What is given before the refusal, which names the version."""
    seen: list[int] = []
    with pytest.raises(CorruptRecord, match=f"version 3 .*{said}") as refused:
        seen.extend(event.envelope.version for event in events)
    assert refused.value.version == 3
    return seen


def test_every_read_refuses_it_and_gives_what_comes_before(damaged: tuple[Ledgers, str]) -> None:
    store, said = damaged
    assert versions_until_refused(store.ledger("case").events(), said) == [1, 2]
    assert versions_until_refused(store.follow(idle_seconds=0), said) == [1, 2]
    assert [event.version for event in store.ledger("case").events(after=3)] == [4, 5]


def test_nobody_decides_on_a_damaged_ledger(damaged: tuple[Ledgers, str]) -> None:
    store, said = damaged
    with pytest.raises(CorruptRecord, match=said):
        store.ledger("case").record_turn("user", "next")
    assert store.head("case").version == 5


def test_no_view_shows_a_damaged_ledger(damaged: tuple[Ledgers, str]) -> None:
    store, said = damaged
    with pytest.raises(CorruptRecord, match=said):
        view(store, "case").transcript()
    assert [turn.number for turn in view(store, "case", at=2).transcript().transcript.turns] == [1, 2]


def test_the_library_gets_no_damaged_event(damaged: tuple[Ledgers, str]) -> None:
    store, said = damaged
    recorder = LedgerRecorder(store.store)
    originator = store.head("case").ledger.hex()
    with pytest.raises(CorruptRecord, match=said):
        recorder.select_events(originator)
    with pytest.raises(CorruptRecord, match=said):
        recorder.select_notifications(None, 10)
    assert len(recorder.select_events(originator, gt=3)) == 2


def test_verify_tells_one_problem_of_it_and_goes_on(damaged: tuple[Ledgers, str]) -> None:
    store, said = damaged
    found = verify_store(store)
    assert found.events == 5
    [problem] = found.problems
    assert (problem.ledger, problem.version) == ("case", 3)
    assert said in problem.problem


def test_a_lost_payload_is_refused_in_any_order_and_selection(open_store: OpenStore) -> None:
    store = open_store().store
    store.append(batch([draft() for _ in range(5)]))
    lose(store, 3)
    reader = Reader(store, LEDGER)
    reads: list[Callable[[], Iterable[Any]]] = [
        lambda: reader.read(Selection(newest_first=True)),
        lambda: Reader(store, LEDGER, eager=False).read(Selection(kind="turns", after=2)),
        lambda: map(FeedReader(store).recorded, follow(store, idle_seconds=0)),
    ]
    assert [versions_until_refused(read(), LOST) for read in reads] == [[5, 4], [], [1, 2]]


def test_what_is_lost_is_no_more_excused_where_something_was_forgotten(open_store: OpenStore) -> None:
    """Two payloads are missing; one of them was forgotten."""
    store = open_store()
    handle = store.ledger("case")
    for number in range(5):
        handle.record_turn("user", f"INR 4,05{number}")
    handle.forget(turns=[2], reason="asked for")
    lose(store.store, 3)
    assert versions_until_refused(open_store().ledger("case").events(), LOST) == [1, 2]
    assert versions_until_refused(store.follow(idle_seconds=0), LOST) == [1, 2]
    recorder = LedgerRecorder(store.store)
    originator = store.head("case").ledger.hex()
    with pytest.raises(CorruptRecord, match=LOST):
        recorder.select_events(originator)
    assert [event.originator_version for event in recorder.select_events(originator, lte=2)] == [1, 2]
    [problem] = verify_store(store).problems
    assert (problem.version, problem.problem) == (3, "its payload is missing")


@pytest.mark.parametrize("newest_first", [False, True])
def test_a_read_that_stops_early_does_not_hold_large_payloads(open_store: OpenStore, *, newest_first: bool) -> None:
    """A page is bounded in bytes: what is held is some megabytes of forty."""
    store = open_store().store
    large = 1024 * 1024
    for place in range(8):
        store.append(batch([draft(os.urandom(large)) for _ in range(5)], expected=5 * place))
    tracemalloc.start()
    try:
        first = next(iter(store.read(LEDGER, Selection(newest_first=newest_first))))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert first.envelope.version == (40 if newest_first else 1)
    assert peak < PAGE_BYTES + 4 * large
    whole = [row.envelope.version for row in store.read(LEDGER, Selection(newest_first=newest_first))]
    assert whole == sorted(range(1, 41), reverse=newest_first)
    some = store.read(LEDGER, Selection(after=3, upto=30, limit=20))
    assert [row.envelope.version for row in some] == list(range(4, 24))
