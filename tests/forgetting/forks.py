"""Tasks in processes of their own, forked from the test: they open the store themselves, and may be killed."""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any, Final

_CONTEXT: Final = multiprocessing.get_context("fork")
LONGEST_SECONDS: Final = 90.0


class Fork:
    """A task that runs in a process of its own."""

    def __init__(self, task: Callable[..., Any], *arguments: Any) -> None:
        self._receiving, sending = _CONTEXT.Pipe(duplex=False)
        self.process = _CONTEXT.Process(target=_run, args=(sending, task, arguments), daemon=True)
        self.process.start()
        sending.close()

    def result(self) -> Any:
        """What the task returned; fails with what it raised."""
        assert self._receiving.poll(LONGEST_SECONDS), "the process says nothing"
        returned, raised = self._receiving.recv()
        self.process.join(LONGEST_SECONDS)
        assert raised is None, raised
        return returned

    def exit_code(self) -> int | None:
        """How the process ended; negative where a signal killed it."""
        self.process.join(LONGEST_SECONDS)
        return self.process.exitcode

    def end(self) -> None:
        """Kill the process if it still runs."""
        if self.process.is_alive():
            self.process.kill()
        self.process.join()
        self._receiving.close()


def _run(sending: Connection, task: Callable[..., Any], arguments: Sequence[Any]) -> None:
    try:
        sending.send((task(*arguments), None))
    except BaseException:  # noqa: BLE001 - whatever it is, the test that waits for the result fails with it
        sending.send((None, traceback.format_exc()))


@contextmanager
def forked(task: Callable[..., Any], rows: Sequence[tuple[Any, ...]]) -> Iterator[list[Fork]]:
    """A process for each row of arguments; none outlives the block."""
    forks: list[Fork] = []
    try:
        for row in rows:
            forks.append(Fork(task, *row))  # noqa: PERF401 - those that were started are ended if a later one fails
        yield forks
    finally:
        for fork in forks:
            fork.end()


def in_a_fork(task: Callable[..., Any], *arguments: Any) -> Any:
    """What a task returns in a process of its own."""
    with forked(task, [arguments]) as (fork,):
        return fork.result()


def event() -> Any:
    """Something that one process sets and others see."""
    return _CONTEXT.Event()


def barrier(parties: int) -> Any:
    """At which processes wait for each other."""
    return _CONTEXT.Barrier(parties)
