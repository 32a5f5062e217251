"""The floor of a window: a raw table of messages with stored token counts, read from the end until the budget is spent.

One table holds many ledgers, as a store does. Each row has the messages of a turn as JSON, as they are sent; a window decodes
those that fit and encodes the request. No pairing, no task, no compaction, no receipt, no history.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Protocol

import orjson

from ledger.events import Event, ToolReturned, TurnRecorded
from ledger.parts import TextPart, ToolCallPart

_PAGE: Final = 24
_LEDGER: Final = "bench"
_TABLE: Final = (
    "CREATE TABLE turns (ledger TEXT NOT NULL, number INTEGER NOT NULL, tokens INTEGER NOT NULL, "
    "content {} NOT NULL, PRIMARY KEY (ledger, number))"
)
_ADD: Final = "INSERT INTO turns VALUES ({0}, {0}, {0}, {0})"
_QUERY: Final = "SELECT number, tokens, content FROM turns WHERE ledger = {0} AND number <= {0} ORDER BY number DESC LIMIT {0}"

Row = tuple[int, int, bytes]


class Floor(Protocol):
    """A raw table of turns."""

    def create(self) -> None:
        """Make the table."""
        ...

    def add(self, rows: Iterable[Row]) -> None:
        """Add turns: number, tokens, content."""
        ...

    def page(self, upto: int) -> Sequence[Any]:
        """Some turns up to a number, the latest first."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class SQLiteFloor:
    """The table in a file of SQLite."""

    def __init__(self, place: str) -> None:
        self._raw = sqlite3.connect(place, isolation_level=None)
        self._query = _QUERY.format("?")

    def create(self) -> None:
        """Make the table."""
        self._raw.execute("PRAGMA journal_mode = WAL")
        self._raw.execute(_TABLE.format("BLOB"))

    def add(self, rows: Iterable[Row]) -> None:
        """Add turns: number, tokens, content."""
        self._raw.execute("BEGIN")
        self._raw.executemany(_ADD.format("?"), _of_ledger(rows))
        self._raw.execute("COMMIT")

    def page(self, upto: int) -> Sequence[Any]:
        """Some turns up to a number, the latest first."""
        return self._raw.execute(self._query, (_LEDGER, upto, _PAGE)).fetchall()

    def close(self) -> None:
        """Close the connection."""
        self._raw.close()


class PostgresFloor:
    """The table in a PostgreSQL database."""

    def __init__(self, url: str) -> None:
        import psycopg  # only who has a server needs it

        self._raw = psycopg.connect(url, autocommit=True, prepare_threshold=1)
        self._query = _QUERY.format("%s")

    def create(self) -> None:
        """Make the table."""
        self._raw.execute(_TABLE.format("bytea"))

    def add(self, rows: Iterable[Row]) -> None:
        """Add turns: number, tokens, content."""
        with self._raw.cursor() as cursor:
            cursor.executemany(_ADD.format("%s"), list(_of_ledger(rows)))

    def page(self, upto: int) -> Sequence[Any]:
        """Some turns up to a number, the latest first."""
        return self._raw.execute(self._query, (_LEDGER, upto, _PAGE)).fetchall()

    def close(self) -> None:
        """Close the connection."""
        self._raw.close()


def _of_ledger(rows: Iterable[Row]) -> Iterator[tuple[str, int, int, bytes]]:
    return ((_LEDGER, *row) for row in rows)


def floor_at(place: str) -> Floor:
    """The table at a place: a path, or the URL of a PostgreSQL database."""
    return PostgresFloor(place) if place.startswith("postgresql:") else SQLiteFloor(place)


def floor_window(floor: Floor, upto: int, budget_tokens: int) -> bytes:
    """The bytes of a request with the last turns up to a number, as many as fit."""
    messages = [message for content in _last(floor, upto, budget_tokens) for message in orjson.loads(content)]
    return orjson.dumps({"messages": messages})


def _last(floor: Floor, upto: int, budget_tokens: int) -> list[bytes]:
    """The contents of the last turns up to a number, as many as fit."""
    chosen: list[bytes] = []
    spent = 0
    while rows := floor.page(upto):
        for number, tokens, content in rows:
            if spent + tokens > budget_tokens:
                return chosen[::-1]
            spent, upto = spent + tokens, number - 1
            chosen.append(content)
    return chosen[::-1]


def content_of(events: Sequence[Event]) -> bytes:
    """What the floor stores of a turn: its messages as OpenAI takes them."""
    return orjson.dumps([_message(event) for event in events])


def _message(event: Event) -> dict[str, Any]:
    match event:
        case TurnRecorded(role=role, parts=parts):
            calls = [_call(part) for part in parts if isinstance(part, ToolCallPart)]
            return {"role": role, "content": _text(parts)} | ({"tool_calls": calls} if calls else {})
        case ToolReturned(call_id=call_id, parts=parts):
            return {"role": "tool", "tool_call_id": call_id, "content": _text(parts)}
        case _:
            raise TypeError(f"the workload has no {event.type}")


def _text(parts: Sequence[Any]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def _call(part: ToolCallPart) -> dict[str, Any]:
    return {"id": part.call_id, "type": "function", "function": {"name": part.tool, "arguments": str(part.arguments)}}
