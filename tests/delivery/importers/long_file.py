"""Long files of one message a line, and an import of them in a process of its own, whose memory can be measured:
``python -m tests.delivery.importers.long_file STORE FILE`` prints what it took.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final

from delivery.importers.importing import import_file
from ledger import connect

ROOT: Final = Path(__file__).resolve().parents[3]
MEGABYTE: Final = 1024 * 1024


def messages() -> Iterator[dict[str, Any]]:
    """A conversation without an end: a question, a call, its result of about 5 KB, an answer, each of them another."""
    for number in count():
        match number % 4:
            case 0:
                yield {"role": "user", "content": f"question {number} " + "and what else " * 20}
            case 1:
                function = {"name": "look", "arguments": json.dumps({"number": number})}
                yield {"role": "assistant", "content": None, "tool_calls": [{"id": f"c{number}", "function": function}]}
            case 2:
                yield {"role": "tool", "tool_call_id": f"c{number - 1}", "content": f"result {number} " + "of a tool, " * 450}
            case _:
                yield {"role": "assistant", "content": f"answer {number}"}


def write_file(path: Path, size_bytes: int, *, before: bytes = b"", middle: bytes = b"") -> int:
    """Write about so many bytes of messages between other lines; returns the number of messages."""
    written = 0
    with path.open("wb") as file:
        file.write(before)
        for number, message in enumerate(messages()):
            if written < size_bytes / 2 <= written + 8_000 and middle:
                file.write(middle)
                middle = b""
            written += file.write(json.dumps(message).encode() + b"\n")
            if written >= size_bytes:
                return number + 1
    raise AssertionError("the conversation has no end")


def start(store: Path, file: Path) -> subprocess.Popen[str]:
    """Import in a process of its own."""
    command = [sys.executable, "-m", __name__, str(store), str(file)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def measured(store: Path, file: Path) -> dict[str, Any]:
    """Import in a process of its own and return what it printed."""
    child = start(store, file)
    printed, _ = child.communicate(timeout=600)
    assert child.returncode == 0
    answer: dict[str, Any] = json.loads(printed)
    return answer


def peak_bytes() -> int:
    """The most memory that this process has had; ``ru_maxrss`` would include that of the process that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        [peak] = [line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        return int(peak) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    with connect(sys.argv[1]) as opened:
        done = import_file(opened, sys.argv[2])
    skipped = [[one.line, one.reason] for one in done.skipped]
    print(json.dumps({"peak_bytes": peak_bytes(), "ledgers": done.ledgers, "events": done.events, "skipped": skipped}))  # noqa: T201
