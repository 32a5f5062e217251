"""Another process on the same store: ``python -m tests.contract.child ADDRESS ACTION ARGUMENTS``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from ledger.connect import Ledgers, connect

ROOT = Path(__file__).resolve().parents[2]


def start(address: str, action: str, *arguments: object) -> subprocess.Popen[str]:
    """Run an action in a process of its own; what it prints is what it has to say."""
    command = [sys.executable, "-m", "tests.contract.child", address, action, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(child: subprocess.Popen[str], *, code: int = 0) -> str:
    """What the process printed; fails with its standard error if it ended otherwise than with ``code``."""
    printed, failures = child.communicate(timeout=90)
    assert child.returncode == code, failures
    return printed


def append(ledgers: Ledgers, name: str, who: str, count: str) -> None:
    """Turns that say who recorded them and in which order."""
    handle = ledgers.ledger(name)
    for number in range(int(count)):
        handle.record_turn("user", f"{who} {number}")


def append_turns(address: str, name: str, who: int, count: int) -> None:
    """The same, in a process that a pool has started."""
    with connect(address) as ledgers:
        append(ledgers, name, str(who), str(count))


def append_and_die(ledgers: Ledgers, name: str, count: str) -> None:
    """Appends, says so, and is killed at once, with no chance to write or to close anything."""
    handle = ledgers.ledger(name)
    for number in range(int(count)):
        handle.record_turn("user", f"turn {number}", idempotency_key=f"key {number}")
        os.write(1, f"{number}\n".encode())
    os.kill(os.getpid(), signal.SIGKILL)


def keyed(ledgers: Ledgers, name: str, key: str) -> None:
    """A fact under a key."""
    print(ledgers.ledger(name).set_fact("amount", 4180, source="user", idempotency_key=key).version)  # noqa: T201


def create(ledgers: Ledgers, secret_of: str) -> None:
    """Opens the store, which makes it if it is new."""
    ledgers.ledger(secret_of).record_turn("user", "x")
    print(ledgers.store.secret.hex())  # noqa: T201


ACTIONS = {"append": append, "append_and_die": append_and_die, "keyed": keyed, "create": create}

if __name__ == "__main__":
    address, action, *arguments = sys.argv[1:]
    with connect(address) as opened:
        ACTIONS[action](opened, *arguments)  # type: ignore[operator]
