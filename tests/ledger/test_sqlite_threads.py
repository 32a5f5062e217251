"""Threads over one SQLite file, each with a connection of its own that goes with it."""

from __future__ import annotations

import gc
import sqlite3
import subprocess
import sys
import threading
import weakref
from pathlib import Path

from ledger import Ledgers, connect

COMES_AND_GOES = """
import sys, threading
from ledger import connect

sys.setswitchinterval(1e-5)  # a thread is interrupted wherever it may be
store = connect(sys.argv[1])
handle = store.ledger("elsa")
for number in range(8):
    handle.record_turn("user", f"B-{number:02}?")
wrong = []

def read():
    try:
        for _ in range(3):
            if len(list(handle.events(after=4))) != 4:
                wrong.append("events are missing")
    except BaseException as error:
        wrong.append(repr(error))

for _ in range(400):
    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
sys.exit("; ".join(wrong[:3]) or 0)
"""


def test_no_thread_loses_its_connection_to_the_end_of_another(tmp_path: Path) -> None:
    """A thread may be given the number of one that has ended; that was once enough for its connection to be closed in use."""
    path = str(tmp_path / "harbour.db")
    done = subprocess.run([sys.executable, "-c", COMES_AND_GOES, path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


CLOSED_WHILE_READ = """
import sys, threading, time
from ledger import connect
from ledger.errors import StoreError

sys.setswitchinterval(1e-5)
store = connect(sys.argv[1])
handle = store.ledger("elsa")
for number in range(60):
    handle.record_turn("user", f"B-{number:02}?")
store.close()
wrong, said = [], []

def read(opened, handle):
    try:
        while True:
            if len(list(handle.events())) != 60 or opened.head("elsa").version != 60:
                wrong.append("events are missing")
    except StoreError as error:
        said.append("closed" in str(error))
    except BaseException as error:
        wrong.append(repr(error))

for _ in range(20):
    opened = connect(sys.argv[1])
    threads = [threading.Thread(target=read, args=(opened, opened.ledger("elsa"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.02)
    opened.close()
    for thread in threads:
        thread.join()
if said != [True] * 80:
    wrong.append(f"{said.count(True)} of {len(said)} were told that it was closed")
sys.exit("; ".join(wrong[:3]) or 0)
"""


def test_a_store_may_be_closed_while_threads_read(tmp_path: Path) -> None:
    """What they ask next is refused; the connection that one reads with just then was once closed under its statement."""
    path = str(tmp_path / "harbour.db")
    done = subprocess.run([sys.executable, "-c", CLOSED_WHILE_READ, path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "harbour.db-wal").exists(), "all are closed in the end"


def connections() -> int:
    """How many connections there are in this process."""
    gc.collect()
    return sum(isinstance(one, sqlite3.Connection) for one in gc.get_objects())


def in_threads(store: Ledgers, number: int) -> None:
    threads = [threading.Thread(target=lambda: list(store.ledger("elsa").events())) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_connection_goes_with_its_thread(tmp_path: Path) -> None:
    with connect(str(tmp_path / "harbour.db")) as store:
        store.ledger("elsa").record_turn("user", "Which berth?")
        before = connections()
        in_threads(store, 12)
        assert connections() == before


def test_a_store_that_nobody_has_any_more_goes_at_once(tmp_path: Path) -> None:
    gc.collect()
    gc.disable()
    try:
        store = connect(str(tmp_path / "harbour.db"))
        store.ledger("elsa").record_turn("user", "Which berth?")
        assert store.head("elsa").version == 1
        left = weakref.ref(store.store)
        del store
        assert left() is None, "its connections with it"
    finally:
        gc.enable()


def test_a_store_that_is_closed_closes_the_connections_of_all_threads(tmp_path: Path) -> None:
    """The last one that is closed takes the log that is written ahead with it."""
    store = connect(str(tmp_path / "harbour.db"))
    has_read, may_end = threading.Event(), threading.Event()

    def record_and_wait() -> None:
        store.ledger("elsa").record_turn("user", "Which berth?")
        has_read.set()
        may_end.wait()

    thread = threading.Thread(target=record_and_wait)
    thread.start()
    has_read.wait()
    assert (tmp_path / "harbour.db-wal").exists()
    store.close()
    assert not (tmp_path / "harbour.db-wal").exists()
    may_end.set()
    thread.join()
