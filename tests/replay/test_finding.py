"""Which ledgers ever held a value: exact, complete at any moment, and without what was forgotten."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ledger import JsonText, Ledgers, connect
from ledger import events as e
from ledger.deriving import Scan
from ledger.erasing import Sweep
from ledger.errors import InvalidInput
from ledger.postgres_append import append_of
from ledger.schema import Money, StateModel, declared
from ledger.store import Store
from replay import find_facts, rebuild_facts, view
from tests.contract.batches import batch, draft
from tests.contract.stores import CATALOGUE, NOT_SHARED, OpenStore
from tests.postgres.server import Databases, running_with_standby, url
from tests.postgres.test_standby import wait_for_replay
from tests.replay.long_ledgers import reads_only

DEADLINE_SECONDS = 60.0


class Refund(StateModel):
    """A state in which amounts are money."""

    amount: Money | None = declared(aliases=["sum"])
    customer: str | None = None


@pytest.fixture(params=CATALOGUE)
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """Opens handles on one new store, of each kind in turn."""
    store = CATALOGUE[request.param](tmp_path)
    yield store
    store.close()


@pytest.fixture(params=[name for name in CATALOGUE if name not in NOT_SHARED])
def open_shared(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """Like ``open_store``, for tests that need another process."""
    store = CATALOGUE[request.param](tmp_path)
    yield store
    store.close()


def places(store: Ledgers, **asked: object) -> list[tuple[str, int]]:
    """Ledger and version of what is found."""
    return [(found.ledger, found.version) for found in find_facts(store, **asked)]  # type: ignore[arg-type]


def test_every_claim_that_was_held_is_found_the_newest_last(open_store: OpenStore) -> None:
    store = open_store()
    for name, value in (("b", "C-1"), ("a", "C-2"), ("c", "C-1")):
        store.ledger(name).record_turn("user", f"I am {value}.")
        store.ledger(name).set_fact("Customer-ID", value, source="user", turn=1)
    assert [found.ledger for found in find_facts(store, field="customer id", value="C-1")] == ["b", "c"]
    store.ledger("b").set_fact("customer id", "C-3", source="user", supersedes="C-1")
    store.ledger("a").set_fact("customer id", "C-1", source="user", supersedes="C-2")
    found = find_facts(store, field="customer_id", value="C-1")
    assert [(one.ledger, one.version, one.turn, one.source, one.stands) for one in found] == [
        ("b", 2, 1, "user", False),
        ("c", 2, 1, "user", True),
        ("a", 3, None, "user", True),
    ]
    assert {(one.field, one.value, one.json) for one in found} == {("customer_id", "C-1", '"C-1"')}
    assert places(store, field="customer_id") == [("b", 2), ("a", 2), ("c", 2), ("b", 3), ("a", 3)]
    assert places(store, field="customer_id", value="C-9") == places(store, field="customer") == []


def test_what_was_only_disputed_refused_or_repeated_was_never_held(open_store: OpenStore) -> None:
    store = open_store()
    case = store.ledger("case", schema=Refund)
    case.record_turn("user", "C-1")
    case.set_fact("customer", "C-1", source="user", turn=1)
    assert case.set_fact("customer", "C-2", source="tool").event.type == "contradiction.recorded"
    assert case.set_fact("customer", "C-1", source="tool").event.type == "fact.reaffirmed"
    assert case.set_fact("amount", "much", source="user", turn=1).event.type == "fact.rejected"
    assert places(store, field="customer", value="C-1") == [("case", 3)]
    assert places(store, field="customer", value="C-2") == places(store, field="amount", value="much") == []
    case.resolve_contradiction("con_4", because="checked", source="user", value="C-2", turn=1)
    assert places(store, field="customer", value="C-2") == [("case", 8)]


def test_values_are_compared_by_what_each_event_recorded_that_it_means(open_store: OpenStore) -> None:
    store = open_store()
    typed, free = store.ledger("typed", schema=Refund), store.ledger("free")
    typed.set_fact("sum", "4,180 INR", source="interface")
    free.set_fact("amount", "4180.00 INR", source="interface")
    meaning = {"amount": "4180", "currency": "INR"}
    store.ledger("raw").set_fact("amount", meaning, source="interface")
    assert places(store, field="amount", value="4180.00 INR") == [("typed", 2), ("free", 1)]
    assert places(store, field="amount", value="4,180.0 INR") == [("typed", 2)]
    assert [found.ledger for found in find_facts(store, field="amount", value=meaning)] != ["typed"]
    assert ("raw", 1) in places(store, field="amount", value=JsonText('{"currency": "INR", "amount": "4180"}'))
    assert places(store, field="sum", value="4180 INR") == []
    free.declare(Refund)
    free.set_fact("amount", "4 180 INR", source="interface", supersedes="4180.00 INR")
    assert ("free", 1) in places(store, field="amount", value="4180.00 INR")


@pytest.mark.parametrize("name", ["cust%", "cust_mer", "o'brien\"; DROP TABLE derived; --", "c\\d", "naïve 顧客", "*", "%"])
def test_names_and_values_are_exact(open_store: OpenStore, name: str) -> None:
    store = open_store()
    case = store.ledger("case")
    for field in ("customer", "cust xmer", "o'brien", "naive 顧客", "c"):
        case.set_fact(field, "a_b", source="tool")
    case.set_fact(name, "a_b", source="tool")
    case.set_fact("other", "axb", source="tool")
    found = find_facts(store, field=name)
    assert [one.value for one in found] == ["a_b"]
    assert find_facts(store, field=name, value="a_b") == found
    assert places(store, field=name, value="a%") == places(store, field=name, value="axb") == []


def test_values_of_any_json(open_store: OpenStore) -> None:
    store = open_store()
    values = [None, True, 0, "", "0", [1, {"a": None}], {"b": 1, "a": 2}, 1.50]
    for number, value in enumerate(values):
        store.ledger(f"case {number}").set_fact("x", value, source="tool")
    for number, value in enumerate(values):
        assert [found.ledger for found in find_facts(store, field="x", value=value)] == [f"case {number}"]
    assert [found.ledger for found in find_facts(store, field="x", value=JsonText('{"a":2,"b":1}'))] == ["case 6"]
    assert len(find_facts(store, field="x")) == len(values)
    with pytest.raises(InvalidInput):
        find_facts(store, field="x", value=object())
    with pytest.raises(InvalidInput):
        find_facts(store, field=" - ")


def test_forgotten_facts_are_not_found_and_the_others_are(open_store: OpenStore) -> None:
    store = open_store()
    for name in ("case of Ivo", "b", "c"):
        store.ledger(name).record_turn("user", "C-1")
        store.ledger(name).set_fact("customer", "C-1", source="user", turn=1)
        store.ledger(name).set_fact("city", "Ghent", source="user")
    asked = partial(places, store, field="customer", value="C-1")
    assert asked() == [("case of Ivo", 2), ("b", 2), ("c", 2)]
    store.ledger("b").forget(turns=[1], reason="asked to")
    assert asked() == [("case of Ivo", 2), ("c", 2)]
    assert places(store, field="city") == [("case of Ivo", 3), ("b", 3), ("c", 3)]
    store.forget(ledger="case of Ivo", reason="all of it")
    assert (asked(), places(store, field="city")) == ([("c", 2)], [("b", 3), ("c", 3)])
    store.reauthorise(ledger="case of Ivo", because="Ivo came back")
    store.ledger("case of Ivo").set_fact("city", "Ghent", source="user")
    assert [found.ledger for found in find_facts(store, field="city", value="Ghent")] == ["b", "c", "case of Ivo"]


def test_what_is_past_its_retention_is_not_found() -> None:
    now = datetime(2031, 3, 4, tzinfo=UTC)
    with connect(":memory:", clock=lambda: int(now.timestamp()) * 1_000_000) as store:
        for name in ("a", "b"):
            store.ledger(name).set_fact("customer", "C-1", source="user")
        store.ledger("a").set_retention("30 days")
        assert places(store, field="customer") == [("a", 1), ("b", 1)]
        assert places(store, field="customer", judged_at=now + timedelta(days=31)) == [("b", 1)]


def test_only_ledgers_that_held_it_are_read(tmp_path: Path) -> None:
    with connect(str(tmp_path / "many.db")) as store:
        for number in range(60):
            case = store.ledger(f"case {number}")
            for turn in range(5):
                case.record_turn("user", "…")
                case.set_fact(f"field {turn}", number % 20, source="user")
        assert len(find_facts(store, field="field 1", value=7)) == 3
        with reads_only(store, 3) as counted:
            assert len(find_facts(counted, field="field 1", value=7)) == 3
        with reads_only(store, 0) as counted:
            assert find_facts(counted, field="field 1", value=77) == ()


def test_a_view_that_is_built_beside_answers_once_it_is_whole(open_store: OpenStore) -> None:
    store = open_store()
    store.ledger("a").set_fact("x", 1, source="tool")
    assert places(store, field="x") == [("a", 1)]
    assert [(one.kind, one.state) for one in store.store.views("facts")] == [("facts/1", "active")]
    store.store.view_begin("facts", "facts/2")
    store.ledger("b").set_fact("x", 1, source="tool")
    assert places(store, field="x") == [("a", 1), ("b", 1)]
    assert store.store.derived_scan("facts/2", "").rows == []
    assert rebuild_facts(store) == "facts/2"
    assert len(store.store.derived_scan("facts/2", "f/").rows) == 2
    assert [(one.kind, one.state) for one in store.store.views("facts")] == [("facts/1", "retired"), ("facts/2", "active")]
    assert store.store.derived_scan("facts/1", "").rows == []
    assert places(store, field="x") == [("a", 1), ("b", 1)]
    assert rebuild_facts(store) == "facts/3"
    assert len(view(store, "a").history("x").values) == 1


def purge(store: Ledgers, name: str) -> None:
    """A sweep that leaves the content: what is derived goes."""
    head = store.head(name)
    store.store.sweep(Sweep(head.ledger, fence=head.version, versions=[]))


def test_what_a_sweep_purged_is_made_again_although_the_follower_is_past_it(open_store: OpenStore) -> None:
    store = open_store()
    for name in ("a", "b", "c"):
        store.ledger(name).set_fact("x", 1, source="tool")
    assert len(find_facts(store, field="x")) == 3
    purge(store, "b")
    assert places(store, field="x", value=1) == [("a", 1), ("b", 1), ("c", 1)]
    purge(store, "a")
    assert len(view(store, "a").history("x").values) == 1
    purge(store, "a")
    purge(store, "c")
    assert places(store, field="x", value=1) == [("a", 1), ("b", 1), ("c", 1)]


class Interrupted:
    """A store in which something happens just before rows are looked for by their value or their field."""

    def __init__(self, store: Store, prefix: str, happens: Callable[[], object]) -> None:
        self._store = store
        self._prefix = prefix
        self._waiting = [happens]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def derived_scan(self, kind: str, prefix: str, **named: Any) -> Scan:
        """See ``Store``."""
        if prefix.startswith(self._prefix):
            while self._waiting:
                self._waiting.pop()()
        return self._store.derived_scan(kind, prefix, **named)


@pytest.mark.parametrize("happens", [rebuild_facts, partial(purge, name="a"), partial(purge, name="b")])
@pytest.mark.parametrize("prefix", ["f/", "h/", "m/", "s/"])
def test_rows_that_go_just_before_they_are_looked_for(
    open_store: OpenStore, happens: Callable[[Ledgers], object], prefix: str
) -> None:
    store = open_store()
    for name in ("a", "b"):
        store.ledger(name, schema=Refund).set_fact("amount", "4180 INR", source="user")
    interrupted: Any = Interrupted(store.store, prefix, partial(happens, store))
    assert places(Ledgers(interrupted, store.clock), field="amount", value="4,180 INR") == [("a", 2), ("b", 2)]
    interrupted = Interrupted(store.store, prefix, partial(happens, store))
    assert len(view(Ledgers(interrupted, store.clock), "a").history("amount").values) == 1


@pytest.mark.parametrize("prefix", ["f/", "h/", "s/"])
def test_what_is_forgotten_just_before_it_is_looked_for_is_not_found(open_store: OpenStore, prefix: str) -> None:
    store = open_store()
    for name in ("a", "b"):
        store.ledger(name, schema=Refund).set_fact("amount", "4180 INR", source="user")
    forget = partial(store.forget, ledger="a", facts=["amount"], reason="asked to", scrub=False)
    interrupted: Any = Interrupted(store.store, prefix, forget)
    assert places(Ledgers(interrupted, store.clock), field="amount", value="4,180 INR") == [("b", 2)]
    assert places(store, field="amount", value="4,180 INR") == [("b", 2)]


def test_the_keys_of_the_index_hold_no_content(open_store: OpenStore) -> None:
    store = open_store()
    store.ledger("a").set_fact("customer", "C-1", source="tool")
    find_facts(store, field="customer")
    rows = store.store.derived_scan("facts/1", "").rows
    assert len(rows) == 3
    assert not any(text in repr(row) for row in rows for text in ("customer", "C-1"))


def write(address: str, who: int, seconds: float, forgets: bool) -> tuple[list[str], list[str]]:
    """In a process of its own: set facts in ledgers of its own, forget some; which ledgers hold it, and which do no more."""
    held: list[str] = []
    gone: list[str] = []
    chance, end = random.Random(who), time.monotonic() + seconds
    with connect(address) as store:
        while time.monotonic() < end:
            name = f"case {who} {len(held) + len(gone)}"
            store.ledger(name).record_turn("user", "…")
            store.ledger(name).set_fact("customer", "C-1", source="user", turn=1)
            store.ledger(name).set_fact("city", "Ghent", source="user")
            if forgets and chance.random() < 0.5:
                store.ledger(name).forget(turns=[1], reason="asked to", scrub=False)
                gone.append(name)
            else:
                held.append(name)
    return held, gone


def find_again_and_again(address: str, seconds: float) -> list[str]:
    """In a process of its own: what went wrong with an answer, in words."""
    wrong: list[str] = []
    seen: set[str] = set()
    end = time.monotonic() + seconds
    with connect(address) as store:
        while time.monotonic() < end:
            cities = [found.ledger for found in find_facts(store, field="city", value="Ghent")]
            wrong += [f"{name} twice" for name in set(cities) if cities.count(name) > 1]
            wrong += [f"{name} is missed" for name in seen - set(cities)]
            seen |= set(cities)
            if random.random() < 0.1:
                rebuild_facts(store)
    return wrong


def test_processes_that_write_forget_find_and_rebuild_at_once(open_shared: OpenStore) -> None:
    store = open_shared()
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        writers = [pool.apply_async(write, (open_shared.address, who, 2.0, True)) for who in range(2)]
        finders = [pool.apply_async(find_again_and_again, (open_shared.address, 2.5)) for _ in range(2)]
        written = [writer.get(timeout=DEADLINE_SECONDS) for writer in writers]
        assert [finder.get(timeout=DEADLINE_SECONDS) for finder in finders] == [[], []]
    held, gone = (sorted(name for one in written for name in one[place]) for place in (0, 1))
    assert held
    assert gone
    assert sorted(found.ledger for found in find_facts(store, field="customer")) == held
    assert sorted(found.ledger for found in find_facts(store, field="city")) == sorted(held + gone)


def die_while_finding(address: str, after_rows: int) -> None:
    """In a process of its own: be killed when so many rows of the index are kept."""
    with connect(address) as store:
        put = store.store.derived_put_many
        left = [after_rows]

        def put_or_die(*given: object, **named: object) -> bool:
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return put(*given, **named)  # type: ignore[arg-type]

        store.store.derived_put_many = put_or_die  # type: ignore[method-assign]
        find_facts(store, field="x")


@pytest.mark.parametrize("after_rows", [0, 1, 3])
def test_a_process_that_is_killed_leaves_nothing_missed_or_doubled(open_shared: OpenStore, after_rows: int) -> None:
    store = open_shared()
    for name in ("a", "b", "c", "d"):
        store.ledger(name).append([e.FactSet(field=f"x_{n}", value=JsonText.of(1), source="tool") for n in range(1_200)])
        store.ledger(name).set_fact("x", 1, source="tool")
    if after_rows == 3:
        find_facts(store, field="x")
        store.ledger("b").forget(facts=["x_7"], reason="asked to")
        store.ledger("c").forget(facts=["x_7"], reason="asked to")
        after_rows = 1
    process = multiprocessing.get_context("spawn").Process(target=die_while_finding, args=(open_shared.address, after_rows))
    process.start()
    process.join(DEADLINE_SECONDS)
    assert process.exitcode == -signal.SIGKILL
    assert [found.ledger for found in find_facts(store, field="x", value=1)] == ["a", "b", "c", "d"]


def test_what_an_open_transaction_holds_back_from_the_feed_is_found(postgres: Databases) -> None:
    with postgres.lent() as address, connect(address) as store, psycopg.connect(address) as late:
        late.execute(*append_of(batch([draft()], name="late", ledger=b"E" * 16)))
        store.ledger("a").set_fact("x", 1, source="tool")
        assert store.lag(0).held == 1
        assert [places(store, field="x") for _ in range(2)] == [[("a", 1)]] * 2
        late.commit()
        store.ledger("b").set_fact("x", 1, source="tool")
        assert places(store, field="x") == [("a", 1), ("b", 1)]


@pytest.mark.slow
def test_a_standby_answers_and_keeps_nothing() -> None:
    with (
        running_with_standby() as (primary, standby),
        connect(url(primary)) as writing,
        psycopg.connect(primary, autocommit=True) as sql,
    ):
        writing.ledger("a").set_fact("x", 1, source="tool")
        wait_for_replay(sql, standby)
        with connect(url(standby)) as reading:

            def asked() -> object:
                return places(reading, field="x", value=1), len(view(reading, "a").history("x").values)

            assert [asked() for _ in range(2)] == [([("a", 1)], 1)] * 2
            find_facts(writing, field="x")
            writing.ledger("b").set_fact("x", 1, source="tool")
            wait_for_replay(sql, standby)
            assert asked() == ([("a", 1), ("b", 1)], 1)
            writing.ledger("a").forget(facts=["x"], reason="asked to", scrub=False)
            wait_for_replay(sql, standby)
            assert asked() == ([("b", 1)], 1)
