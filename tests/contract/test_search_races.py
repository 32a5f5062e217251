"""Search while others write and forget, and where nothing can be kept: nothing is missed, and nothing forgotten is shown."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import psycopg
import pytest

from ledger import Ledgers, connect
from ledger.errors import StoreError
from ledger.forgetting_commands import ForgettingIncomplete, ForgettingResumed
from ledger.store import Store
from replay import view
from replay.search import search
from tests.contract.stores import OpenStore
from tests.postgres.server import running_with_standby, url
from tests.postgres.test_standby import wait_for_replay
from tests.search.records import QUERIES, random_record, rows_of

DEADLINE_SECONDS = 120.0


class Interrupted:
    """A store in which something happens just before the index, or the record, is looked at for the n-th time."""

    def __init__(self, store: Store, left: int, happens: Callable[[], object]) -> None:
        self._store = store
        self._left = left
        self._happens = happens

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if name not in ("read", "derived_scan", "derived_get", "derived_put_many", "head_of"):
            return found

        def asked(*given: Any, **named: Any) -> Any:
            self._left -= 1
            if self._left == 0:
                self._happens()
            return found(*given, **named)

        return asked


class Unswept:
    """A store in which a forgetting is recorded and nothing is deleted yet."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def sweep(self, sweep: object) -> None:
        """See ``Store``."""
        raise StoreError("the sweep did not begin")


def forget_without_sweep(store: Ledgers, **what: Any) -> None:
    """Record a forgetting whose sweep is still to come."""
    unswept: Any = Unswept(store.store)
    with suppress(StoreError):
        Ledgers(unswept, store.clock).forget(ledger="case", reason="asked to", scrub=False, **what)


def forget(store: Ledgers, **what: Any) -> None:
    """Forget at once."""
    store.forget(ledger="case", reason="asked to", scrub=False, **what)


@pytest.mark.parametrize("forgets", [forget, forget_without_sweep])
@pytest.mark.parametrize(("indexed", "everywhere"), [(True, False), (False, False), (True, True)])
@pytest.mark.parametrize("left", [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14])
def test_what_is_forgotten_while_it_is_looked_for_is_not_found(
    open_store: OpenStore, left: int, *, indexed: bool, everywhere: bool, forgets: Callable[..., None]
) -> None:
    store = open_store()
    case = store.ledger("case")
    for number in range(70):
        case.record_turn("user", f"secretword {number}" if number % 30 == 5 else f"other {number}")
    if indexed:
        view(store, "case").search("secretword")
    interrupted: Any = Interrupted(store.store, left, partial(forgets, store, turns=[36]))
    if everywhere:
        found = search(Ledgers(interrupted, store.clock), "secretword").hits
    else:
        found = view(Ledgers(interrupted, store.clock), "case").search("secretword").hits
    living = [66, 36, 6] if interrupted._left > 0 else [66, 6]
    assert [hit.version for hit in found] == living
    assert [hit.version for hit in view(store, "case").search("secretword").hits] == living


def test_what_is_yet_to_be_swept_is_not_found_and_does_not_weigh(open_store: OpenStore) -> None:
    """The index holds it still, and the order of the others is as if it did not."""
    store = open_store()
    case = store.ledger("case")
    for number in range(70):
        case.record_turn(
            "user", "rare words" if number < 30 else f"frequent words {number}" if number < 60 else "frequent rare"
        )
    view(store, "case").search("rare")
    forget_without_sweep(store, turns=list(range(1, 31)))
    before = view(store, "case").search("frequent rare words", limit=100)
    assert {hit.version for hit in before.hits} == set(range(31, 71))
    assert rows_of(store, "case") != []
    with pytest.warns((ForgettingIncomplete, ForgettingResumed)):
        Ledgers(store.store, store.clock)
    assert rows_of(store, "case") == []
    assert view(store, "case").search("frequent rare words", limit=100).hits == before.hits


class Unwritable:
    """A store that takes nothing that is derived, like a standby or a file that may not be written to."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return self._refuse if name.startswith(("derived_put", "derived_drop")) else getattr(self._store, name)

    def _refuse(self, *given: object, **named: object) -> None:
        raise StoreError("This server is a standby or read-only: connect to the primary.")


def test_where_nothing_can_be_kept_all_is_found_still(open_store: OpenStore) -> None:
    store = open_store()
    random_record(store, 90, 5)
    unwritable: Any = Unwritable(store.store)
    reading = Ledgers(unwritable, store.clock)
    for query in QUERIES:
        assert view(reading, "case").search(query).hits == view(store, "case").search(query).hits
    store.ledger("case").forget(turns=[1, 2, 4, 5], reason="asked to", scrub=False)
    assert view(reading, "case").search("refund").hits == view(store, "case").search("refund").hits
    assert rows_of(store, "case") != []


def write(address: str, who: int, seconds: float) -> tuple[set[int], set[int]]:
    """In a process of its own: say things, forget some; which turns stay and which are gone."""
    kept: set[int] = set()
    gone: set[int] = set()
    chance, end = random.Random(who), time.monotonic() + seconds
    with connect(address) as store:
        case = store.ledger(f"case {who}")
        while time.monotonic() < end:
            turns = [case.record_turn("user", f"spoken {number}") for number in range(20)]
            kept |= {turn for turn in turns if turn is not None}
            if chance.random() < 0.4:
                turn = chance.choice(sorted(kept))
                kept.discard(turn)
                gone.add(turn)
                case.forget(turns=[turn], reason="asked to", scrub=False)
    return kept, gone


def search_again_and_again(address: str, seconds: float) -> list[str]:
    """In a process of its own: what went wrong with an answer, in words."""
    wrong: list[str] = []
    end = time.monotonic() + seconds
    with connect(address) as store:
        while time.monotonic() < end:
            for head in store.heads():
                seen = view(store, head.name)
                answer = seen.search("spoken", limit=1_000)
                living = {turn.number for turn in seen.transcript().turns if turn.forgotten is None}
                found = {hit.turn for hit in answer.hits}
                wrong += [f"{head.name}: {missed} missed at {seen.version}" for missed in living - found if not answer.more]
    return wrong


def test_processes_that_write_forget_and_search_at_once(open_shared: OpenStore) -> None:
    store = open_shared()
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        writers = [pool.apply_async(write, (open_shared.address, who, 2.0)) for who in range(2)]
        searchers = [pool.apply_async(search_again_and_again, (open_shared.address, 2.5)) for _ in range(2)]
        written = [writer.get(timeout=DEADLINE_SECONDS) for writer in writers]
        assert [searcher.get(timeout=DEADLINE_SECONDS) for searcher in searchers] == [[], []]
    for who, (kept, gone) in enumerate(written):
        assert kept
        found: set[int | None] = set()
        for offset in range(0, len(kept) + 1, 1_000):
            page = view(store, f"case {who}").search("spoken", limit=1_000, offset=offset)
            found |= {hit.turn for hit in page.hits}
        assert found == kept
        assert not found & gone


@pytest.mark.slow
def test_a_standby_finds_and_keeps_nothing() -> None:
    with (
        running_with_standby() as (primary, standby),
        connect(url(primary)) as writing,
        psycopg.connect(primary, autocommit=True) as sql,
    ):
        for number in range(70):
            writing.ledger("case").record_turn("user", f"spoken {number}")
        wait_for_replay(sql, standby)
        with connect(url(standby)) as reading:
            for _ in range(2):
                assert len(view(reading, "case").search("spoken", limit=100).hits) == 70
            writing.ledger("case").forget(turns=[7], reason="asked to", scrub=False)
            wait_for_replay(sql, standby)
            assert len(view(reading, "case").search("spoken", limit=100).hits) == 69
            assert rows_of(reading, "case") == []
