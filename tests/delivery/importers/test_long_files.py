"""A conversation may be longer than the memory: it is imported in step with its file, and goes on where it was killed."""

from __future__ import annotations

import json
import signal
import time
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from delivery.importers import lines as line_reading
from delivery.importers.importing import TranscriptDiverged, import_file
from delivery.importers.reading import TranscriptFile
from ledger import Ledgers, connect
from ledger.errors import InvalidInput
from ledger.events import ToolReturned, TurnRecorded
from ledger.parts import TextPart, ToolCallPart
from tests.delivery.importers.long_file import MEGABYTE, measured, messages, start, write_file

SIZE = 20 * MEGABYTE
TORN = b'{"role": "user",\n'


@pytest.fixture(scope="module")
def needed_anyway(tmp_path_factory: pytest.TempPathFactory) -> int:
    """Bytes of memory that an import of a small file takes: the interpreter and the libraries."""
    folder = tmp_path_factory.mktemp("small")
    write_file(folder / "small.jsonl", 100_000)
    peak: int = measured(folder / "small.db", folder / "small.jsonl")["peak_bytes"]
    return peak


def content(message: dict[str, Any]) -> str:
    """What a message says or calls."""
    if message["content"] is None:
        return str(message["tool_calls"][0]["function"]["arguments"])
    return str(message["content"])


def recorded_content(event: object) -> str:
    """The same, of an event."""
    assert isinstance(event, TurnRecorded | ToolReturned)
    [part] = event.parts
    if isinstance(part, ToolCallPart):
        return str(part.arguments)
    assert isinstance(part, TextPart)
    return part.text


def check_recorded(store: Ledgers, name: str, count: int) -> None:
    """Each message once, in order, and nothing else."""
    events = store.ledger(name).events()
    for recorded, message in zip(events, islice(messages(), count), strict=True):
        assert recorded_content(recorded.event) == content(message)


@pytest.mark.parametrize("before", [b"", TORN], ids=["whole", "first line torn"])
def test_a_conversation_is_not_held_in_memory(tmp_path: Path, needed_anyway: int, before: bytes) -> None:
    """Far less than its bytes, although texts, events and rows are made of them; also when it is compared."""
    count = write_file(tmp_path / "long.jsonl", SIZE, before=before)
    first = measured(tmp_path / "long.db", tmp_path / "long.jsonl")
    again = measured(tmp_path / "long.db", tmp_path / "long.jsonl")
    assert (first["events"], again["events"]) == (count, 0)
    assert first["peak_bytes"] - needed_anyway < SIZE * 3 // 4
    assert again["peak_bytes"] - needed_anyway < SIZE * 3 // 4
    assert [line for line, _ in first["skipped"]] == ([1] if before else [])


@pytest.mark.slow
def test_three_hundred_megabytes_and_one_line_of_a_hundred_and_twenty(tmp_path: Path) -> None:
    offset_line = b'{"role": "user", "content": "' + b"x" * (120 * MEGABYTE) + b'"}\n'
    count = write_file(tmp_path / "long.jsonl", 300 * MEGABYTE, middle=offset_line)
    with (tmp_path / "long.jsonl").open("rb") as file:
        offset, number = 0, 1
        while len(line := file.readline()) < MEGABYTE:
            offset, number = offset + len(line), number + 1
    first = measured(tmp_path / "long.db", tmp_path / "long.jsonl")
    assert first["events"] == count
    [[at, reason]] = first["skipped"]
    assert (at, f"at byte {offset})" in reason) == (number, True)
    assert first["peak_bytes"] < 300_000_000
    again = measured(tmp_path / "long.db", tmp_path / "long.jsonl")
    assert (again["events"], again["ledgers"]) == (0, first["ledgers"])
    assert again["peak_bytes"] < 300_000_000


def test_an_import_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    count = write_file(tmp_path / "long.jsonl", SIZE)
    child = start(tmp_path / "long.db", tmp_path / "long.jsonl")
    with connect(str(tmp_path / "long.db")) as store:
        while not store.heads() and child.poll() is None:
            time.sleep(0.005)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        assert child.returncode == -signal.SIGKILL
        [before] = store.heads()
        assert 0 < before.version < count
        rest = import_file(store, tmp_path / "long.jsonl")
        assert (rest.ledgers, rest.events) == ([before.name], count - before.version)
        check_recorded(store, before.name, count)


def test_a_long_conversation_that_differs_late_is_refused(tmp_path: Path, store: Ledgers) -> None:
    """The whole of what is recorded is the beginning of the file, or nothing is appended."""
    path = tmp_path / "long.jsonl"
    said = list(islice(messages(), 3_000))
    path.write_text("".join(json.dumps(message) + "\n" for message in said), encoding="utf-8")
    [name] = import_file(store, path).ledgers
    said[2_999]["content"] += "!"
    path.write_text("".join(json.dumps(message) + "\n" for message in [*said, *said[:4]]), encoding="utf-8")
    with pytest.raises(TranscriptDiverged) as raised:
        import_file(store, path)
    assert (raised.value.ledger, raised.value.turn) == (name, 2_250)
    assert store.ledger(name).version == 3_000


def test_the_name_is_that_of_the_same_conversation_in_one_value(tmp_path: Path, store: Ledgers, write: Any) -> None:
    said = list(islice(messages(), 40))
    [name] = import_file(store, write(said)).ledgers
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(message) + "\n" for message in said), encoding="utf-8")
    again = import_file(store, tmp_path / "lines.jsonl")
    assert (again.ledgers, again.events) == ([name], 0)


def test_interleaved_conversations_are_told_apart_in_step(tmp_path: Path, store: Ledgers) -> None:
    path = tmp_path / "mixed.jsonl"
    said = [
        message | {"session_id": f"s{number % 3}"}
        for number, message in enumerate(islice(messages(), 1_200))
        if number % 4 == 0
    ]
    path.write_text("".join(json.dumps(message) + "\n" for message in said), encoding="utf-8")
    result = import_file(store, path)
    assert (sorted(result.ledgers), result.events) == (["s0", "s1", "s2"], 300)
    for name in result.ledgers:
        own = [message["content"] for message in said if message["session_id"] == name]
        assert [recorded_content(recorded.event) for recorded in store.ledger(name).events()] == own
    assert import_file(store, path).events == 0


@pytest.mark.parametrize(("length", "is_read"), [(200, True), (201, False)])
def test_the_longest_line(read: Any, monkeypatch: pytest.MonkeyPatch, length: int, is_read: bool) -> None:
    """The end of a line does not count; what is longer is reported with its number and its place."""
    monkeypatch.setattr(line_reading, "MAX_LINE_BYTES", 200)
    hello = b'{"role":"user","content":"hello"}\n'
    frame = b'{"role":"user","content":""}'
    line = frame.replace(b'""', b'"' + b"x" * (length - len(frame)) + b'"') + b"\n"
    [conversation], skipped = read.all(hello + line + hello)
    assert len(conversation.events) == 2 + is_read
    assert [(skip.line, f"at byte {len(hello)})" in skip.reason) for skip in skipped] == ([] if is_read else [(2, True)])


def test_a_message_larger_than_an_event_costs_itself_alone(store: Ledgers, write: Any) -> None:
    """Its line is short enough to be read, but what it holds is stored with every quote escaped once more."""
    call = {"type": "tool_use", "id": "c", "name": "insert", "input": {"row": '"' * 20_000_000}}
    said = [
        {"role": "user", "content": "insert it"},
        {"role": "assistant", "content": [call]},
        {"role": "assistant", "content": "that was too much"},
    ]
    result = import_file(store, write("".join(json.dumps(message) + "\n" for message in said)), ledger="case")
    assert (result.events, [skip.line for skip in result.skipped]) == (2, [2])
    assert "MAX_PAYLOAD_BYTES" in result.skipped[0].reason
    assert [recorded.turn for recorded in store.ledger("case").events()] == [1, 2]


def test_a_file_that_changes_under_the_import_is_refused(write: Any) -> None:
    path = write("".join(json.dumps(message) + "\n" for message in islice(messages(), 8)))
    [conversation] = TranscriptFile(path)
    path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(InvalidInput, match="import it again"):
        list(conversation.read())
