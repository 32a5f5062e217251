"""Runs tasks in threads that all start together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ledger.errors import LedgerError

Result = TypeVar("Result")


def at_once(tasks: Sequence[Callable[[], Result]]) -> list[Result | LedgerError]:
    """What each task returned, or the ledger's error that it raised; every other error is raised here."""
    barrier = threading.Barrier(len(tasks))

    def run(task: Callable[[], Result]) -> Result | LedgerError:
        barrier.wait(timeout=30)
        try:
            return task()
        except LedgerError as error:
            return error

    with ThreadPoolExecutor(len(tasks)) as pool:
        return list(pool.map(run, tasks))
