"""Wherever an import stops, the next one records the rest, and the record is that of an import that never stopped."""

from __future__ import annotations

import base64
import json
import random
import signal
import time
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from delivery.importers import importing
from delivery.importers.importing import bring_up_to_date, import_file
from delivery.importers.reading import TranscriptFile
from ledger import Ledgers, connect
from ledger.verify import verify_store
from tests.delivery.importers.long_file import MEGABYTE, measured, start, write_file

PICTURE = base64.b64encode(b"\x89PNG picture").decode()


def picture(data: str = PICTURE) -> dict[str, Any]:
    """An inline picture."""
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def use(call_id: str) -> dict[str, Any]:
    """A call."""
    return {"type": "tool_use", "id": call_id, "name": "look", "input": {"n": 1.50}}


def result(call_id: str, *content: Any) -> dict[str, Any]:
    """What it returned."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": list(content)}


TALK: list[dict[str, Any]] = [
    {"role": "user", "content": [picture(), {"type": "text", "text": "what is this?"}, picture("AAAA")]},
    {"role": "assistant", "content": [use("a"), use("b"), use("c")]},
    {"role": "user", "content": [result("b", picture(), picture("BBBB")), result("a"), {"type": "text", "text": "and?"}]},
    {"role": "assistant", "content": [use("a")]},
    {"role": "user", "content": [result("c", {"type": "text", "text": "late"}), result("a"), result("a"), result("zz")]},
    {"role": "assistant", "content": ""},
]


def content_of(store: Ledgers, name: str) -> list[Any]:
    """The events of a ledger."""
    return [recorded.event for recorded in store.ledger(name).events()]


@pytest.mark.parametrize("as_lines", [False, True])
@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_a_stop_after_any_command(write: Any, monkeypatch: pytest.MonkeyPatch, as_lines: bool, at_once: int) -> None:
    """In the middle of a message too: between a picture and its turn, and between results of one message."""
    monkeypatch.setattr(importing, "EVENTS_PER_COMMAND", at_once)
    path = write("\n".join(map(json.dumps, TALK)) if as_lines else TALK)
    with connect(":memory:") as whole:
        count = import_file(whole, path, ledger="case").events
        expected = content_of(whole, "case")
    assert count == len(expected) == 14
    for steps in range(-(-count // at_once) + 1):
        with connect(":memory:") as store:
            [conversation] = TranscriptFile(path)
            done = sum(islice(bring_up_to_date(store.ledger("case"), conversation), steps))
            assert import_file(store, path, ledger="case").events == count - done
            assert content_of(store, "case") == expected
            assert import_file(store, path, ledger="case").events == 0
            assert verify_store(store).ok


@pytest.mark.slow
def test_killed_over_and_over(tmp_path: Path) -> None:
    """At moments that nobody chose, until it is done; then it is what a single import makes of the file."""
    count = write_file(tmp_path / "long.jsonl", 20 * MEGABYTE)
    chance, killed = random.Random(7), 0
    while True:
        child = start(tmp_path / "killed.db", tmp_path / "long.jsonl")
        time.sleep(chance.uniform(0.2, 1.2))
        if child.poll() is not None or killed == 12:
            break
        child.send_signal(signal.SIGKILL)
        child.communicate()
        killed += 1
    child.communicate()
    assert (child.returncode, killed > 3) == (0, True)
    measured(tmp_path / "whole.db", tmp_path / "long.jsonl")
    with connect(str(tmp_path / "killed.db")) as one, connect(str(tmp_path / "whole.db")) as other:
        [head], [whole] = one.heads(), other.heads()
        assert (head.name, head.version) == (whole.name, count)
        ours, theirs = one.ledger(head.name).events(), other.ledger(head.name).events()
        assert all(left.event == right.event for left, right in zip(ours, theirs, strict=True))
        assert verify_store(one).ok
