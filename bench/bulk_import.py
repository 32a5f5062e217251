"""Importing a file of many conversations into SQLite and PostgreSQL, against a loop that inserts the same messages.

The floor reads each line with ``orjson`` and inserts the messages of a conversation in one transaction: no turn numbers, no
comparison with what is there, no hashes, no types.
"""

from __future__ import annotations

import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import orjson
import psycopg

import ledger
from bench.measuring import print_rows
from bench.postgres_append import server
from bench.workload import listed_turns
from delivery.importers.importing import import_file
from ledger.events import ToolReturned, TurnRecorded
from ledger.parts import TextPart, ToolCallPart
from tests.postgres.server import Databases

CONVERSATIONS: Final = 150
TURNS: Final = 30
ROUNDS: Final = 3

Insert = Callable[[list[bytes]], object]
"""Stores the messages of one conversation durably."""


def main() -> None:
    """Print medians and ratios."""
    with tempfile.TemporaryDirectory() as folder, server() as databases:
        file = Path(folder) / "conversations.jsonl"
        file.write_bytes(b"".join(orjson.dumps(_conversation(number)) + b"\n" for number in range(CONVERSATIONS)))
        rows = [*_sqlite(Path(folder), file), *_postgres(databases, file)]
    size = f"{CONVERSATIONS} conversations of {TURNS} turns"
    print_rows(f"Bulk import: {size}", ("store", "context-ledger, messages/s", "raw, messages/s", "ratio of times"), rows)


def _conversation(number: int) -> dict[str, Any]:
    messages = [_message(event) for events in listed_turns(TURNS) for event in events]
    return {"id": f"conversation-{number}", "messages": messages}


def _message(event: Any) -> dict[str, Any]:
    if isinstance(event, ToolReturned):
        return {"role": "tool", "tool_call_id": event.call_id, "content": _text(event)}
    calls = [
        {"id": part.call_id, "type": "function", "function": {"name": part.tool, "arguments": str(part.arguments)}}
        for part in event.parts
        if isinstance(part, ToolCallPart)
    ]
    return {"role": event.role, "content": _text(event) or None, **({"tool_calls": calls} if calls else {})}


def _text(event: TurnRecorded | ToolReturned) -> str:
    return "".join(part.text for part in event.parts if isinstance(part, TextPart))


def _sqlite(folder: Path, file: Path) -> list[tuple[str, ...]]:
    ours, floor = [], []
    for number in range(ROUNDS):
        ours.append(_import(str(folder / f"ours-{number}.db"), file))
        raw = sqlite3.connect(folder / f"floor-{number}.db", isolation_level=None)
        raw.execute("PRAGMA journal_mode = WAL")
        raw.execute("PRAGMA synchronous = FULL")
        raw.execute("CREATE TABLE messages (number INTEGER PRIMARY KEY, content BLOB NOT NULL)")

        def insert(messages: list[bytes], raw: sqlite3.Connection = raw) -> None:
            raw.execute("BEGIN IMMEDIATE")
            raw.executemany("INSERT INTO messages (content) VALUES (?)", [(message,) for message in messages])
            raw.execute("COMMIT")

        floor.append(_floor(file, insert))
    return [_row("SQLite", ours, floor)]


def _postgres(databases: Databases, file: Path) -> list[tuple[str, ...]]:
    ours, floor = [], []
    for _ in range(ROUNDS):
        url = databases.new()
        ours.append(_import(url, file))
        with psycopg.connect(url, autocommit=True) as raw:
            raw.execute("CREATE TABLE messages (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, content bytea)")

            def insert(messages: list[bytes], raw: psycopg.Connection[Any] = raw) -> None:
                raw.execute("INSERT INTO messages (content) SELECT unnest(%b::bytea[])", (messages,))

            floor.append(_floor(file, insert))
    return [_row("PostgreSQL", ours, floor)]


def _import(where: str, file: Path) -> float:
    with ledger.connect(where) as store:
        begun = time.perf_counter()
        import_file(store, file)
        return time.perf_counter() - begun


def _floor(file: Path, insert: Insert) -> float:
    begun = time.perf_counter()
    with file.open("rb") as lines:
        for line in lines:
            insert([orjson.dumps(message) for message in orjson.loads(line)["messages"]])
    return time.perf_counter() - begun


def _row(store: str, ours: list[float], floor: list[float]) -> tuple[str, ...]:
    messages = CONVERSATIONS * sum(len(events) for events in listed_turns(TURNS))
    ratio = statistics.median(mine / raw for mine, raw in zip(ours, floor, strict=True))
    rates = (messages / statistics.median(times) for times in (ours, floor))
    return store, *(f"{rate:,.0f}" for rate in rates), f"{ratio:.1f}"


if __name__ == "__main__":
    main()
