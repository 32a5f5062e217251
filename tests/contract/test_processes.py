"""Processes on one store: what was acknowledged is there, whatever became of the process that wrote it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

import pytest

from ledger.errors import LedgerError
from ledger.ledger import Ledger
from tests.contract.child import append_turns, finished, start
from tests.contract.stores import OpenStore
from tests.contract.test_together import assert_all_there
from tests.following.racing import processes


def test_a_process_killed_after_an_append_loses_nothing(open_shared: OpenStore) -> None:
    printed = finished(start(open_shared.address, "append_and_die", "case", 7), code=-signal.SIGKILL)
    assert printed.split() == [str(number) for number in range(7)]
    handle = open_shared().ledger("case")
    assert [one.turn for one in handle.events()] == [1, 2, 3, 4, 5, 6, 7]
    assert handle.record_turn("user", "turn 6", idempotency_key="key 6") == 7
    assert handle.record_turn("user", "after") == 8


def test_two_processes_write_to_one_ledger(open_shared: OpenStore) -> None:
    children = [start(open_shared.address, "append", "case", who, 60) for who in range(2)]
    for child in children:
        finished(child)
    assert_all_there(open_shared().ledger("case"), 2, 60)


def test_four_processes_append_two_hundred_turns_each(open_shared: OpenStore) -> None:
    """A transaction that reads first and then writes would fail under another writer, whatever the timeout."""
    children = [start(open_shared.address, "append", f"case {who % 2}", who, 200) for who in range(4)]
    for child in children:
        finished(child)
    ledgers = open_shared()
    assert [head.version for head in ledgers.heads()] == [400, 400]
    positions = [row.envelope.position for row in ledgers.store.feed(after=0, limit=999)]
    assert len(positions) == len(set(positions)) == 800


def test_sixteen_processes_write_to_one_ledger(open_shared: OpenStore) -> None:
    with processes(16) as pool:
        pool.starmap(append_turns, [(open_shared.address, "case", who, 5) for who in range(16)])
    assert_all_there(open_shared().ledger("case"), 16, 5)


def test_six_processes_make_the_store_together(open_shared: OpenStore) -> None:
    children = [start(open_shared.address, "create", f"case {who}") for who in range(6)]
    secrets = {finished(child).strip() for child in children}
    assert secrets == {open_shared().store.secret.hex()}
    assert len(open_shared().heads()) == 6


def test_a_key_is_known_in_every_process(open_shared: OpenStore) -> None:
    first = open_shared().ledger("case").set_fact("amount", 4180, source="user", idempotency_key="k")
    children = [start(open_shared.address, "keyed", "case", "k") for _ in range(2)]
    assert {int(finished(child)) for child in children} == {first.version}
    assert open_shared().ledger("case").version == 1


def in_a_fork(task: Callable[[], object]) -> int:
    """The exit code of a forked child that ran a task: 0, or 1 after the error that it printed."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        task()
    except BaseException as error:  # noqa: BLE001 - a child of the test run must not go on as a second test run
        sys.stderr.write(repr(error))
        os._exit(1)
    os._exit(0)


def append_many(handle: Ledger, who: int, count: int) -> None:
    for number in range(count):
        handle.record_turn("user", f"{who} {number}")


def test_a_forked_child_appends_through_the_handle_that_it_inherited(open_shared: OpenStore) -> None:
    ledgers = open_shared()
    handle = ledgers.ledger("case")
    append_many(handle, 0, 10)
    for who in (1, 2, 3):
        assert in_a_fork(lambda who=who: append_many(handle, who, 10)) == 0  # type: ignore[misc]
    append_many(handle, 4, 10)
    assert_all_there(handle, 5, 10)


def test_a_forked_child_that_closes_leaves_the_parent_its_connections(open_shared: OpenStore) -> None:
    ledgers = open_shared()
    handle = ledgers.ledger("case")
    handle.record_turn("user", "0 0")

    def use_and_close() -> None:
        append_many(ledgers.ledger("child"), 0, 2)
        ledgers.close()

    assert in_a_fork(use_and_close) == 0
    assert in_a_fork(ledgers.close) == 0
    handle.record_turn("user", "0 1")
    assert_all_there(handle, 1, 2)
    assert_all_there(ledgers.ledger("child"), 1, 2)


def test_forked_workers_and_their_parent_append_at_the_same_time(open_shared: OpenStore) -> None:
    ledgers = open_shared()
    ledgers.ledger("case 0").record_turn("user", "0 0")
    children = []
    for who in range(4):
        pid = os.fork()
        if pid == 0:
            try:
                append_many(ledgers.ledger("shared"), who, 25)
            except LedgerError as error:
                sys.stderr.write(repr(error))
                os._exit(1)
            os._exit(0)
        children.append(pid)
    append_many(ledgers.ledger("shared"), 4, 25)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [0] * 4
    assert_all_there(ledgers.ledger("shared"), 5, 25)


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_store_is_found_again_by_its_address(open_shared: OpenStore, role: str) -> None:
    finished(start(open_shared.address, "append", "case", 0, 3))
    handle = open_shared().ledger("case")
    assert handle.record_turn(role, "after") == 4  # type: ignore[arg-type]
