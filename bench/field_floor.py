"""The same reads without us: the rows of the index by their keys, then the events that they name, by their versions."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, Protocol

import psycopg
from psycopg.types.numeric import Int8

from ledger import JsonText, Ledgers
from ledger.marks import field_mark, names_key
from replay.facts.rows import Keys, numbered, version_of


class Floor(Protocol):
    """What is asked of a raw connection."""

    def history(self, field: str, *, upto: int) -> list[Any]:
        """The events about a field."""
        ...

    def value(self, field: str, *, upto: int) -> list[Any]:
        """The last event about a field."""
        ...

    def find(self, field: str, value: object) -> list[Any]:
        """The events that claim a value."""
        ...

    def close(self) -> None:
        """Release the connection."""
        ...


class _Names:
    """What things are called in the index of one ledger."""

    def __init__(self, store: Ledgers) -> None:
        self.ledger = store.head("case").ledger
        self._keys = Keys(store.store.secret)
        self._key = names_key(store.store.secret, self.ledger)

    def changes(self, field: str, upto: int) -> tuple[str, str]:
        """The range of the keys of a field's changes."""
        prefix = self._keys.changes(field_mark(self._key, field))
        return prefix, numbered(prefix, upto + 1)

    def claims(self, field: str, value: object) -> tuple[str, str]:
        """The range of the keys of the claims of a value."""
        prefix = self._keys.of_value(field, "", JsonText.of(value).canonical)
        return prefix, prefix + "g"


class SqliteFloor:
    """By ``sqlite3``."""

    def __init__(self, place: str, store: Ledgers) -> None:
        self._names = _Names(store)
        self._raw = sqlite3.connect(place, isolation_level=None)

    def history(self, field: str, *, upto: int) -> list[Any]:
        """See ``Floor``."""
        return self._changes(field, upto, "ASC", -1)

    def value(self, field: str, *, upto: int) -> list[Any]:
        """See ``Floor``."""
        return self._changes(field, upto, "DESC", 1)

    def find(self, field: str, value: object) -> list[Any]:
        """See ``Floor``."""
        keys = self._raw.execute(
            "SELECT ledger, key FROM derived WHERE kind = 'facts/1' AND key >= ? AND key < ?", self._names.claims(field, value)
        ).fetchall()
        return [self._events([(key,)], ledger) for ledger, key in keys]

    def _changes(self, field: str, upto: int, order: str, limit: int) -> list[Any]:
        keys = self._raw.execute(
            "SELECT key FROM derived WHERE ledger = ? AND kind = 'facts/1' AND key >= ? AND key < ? "
            f"ORDER BY key {order} LIMIT ?",
            (self._names.ledger, *self._names.changes(field, upto), limit),
        ).fetchall()
        return self._events(keys, self._names.ledger)

    def _events(self, keys: list[Any], ledger: bytes) -> list[Any]:
        versions = json.dumps([version_of(key) for (key,) in keys])
        return self._raw.execute(
            "SELECT e.*, p.* FROM events e JOIN payloads p ON p.position = e.position "
            "WHERE e.ledger = ? AND e.version IN (SELECT value FROM json_each(?)) ORDER BY e.version",
            (ledger, versions),
        ).fetchall()

    def close(self) -> None:
        """See ``Floor``."""
        self._raw.close()


class PostgresFloor:
    """By ``psycopg``."""

    def __init__(self, place: str, store: Ledgers) -> None:
        self._names = _Names(store)
        self._raw = psycopg.connect(place, autocommit=True, prepare_threshold=1)

    def history(self, field: str, *, upto: int) -> list[Any]:
        """See ``Floor``."""
        return self._changes(field, upto, "ASC", None)

    def value(self, field: str, *, upto: int) -> list[Any]:
        """See ``Floor``."""
        return self._changes(field, upto, "DESC", Int8(1))

    def find(self, field: str, value: object) -> list[Any]:
        """See ``Floor``."""
        keys = self._raw.execute(
            "SELECT ledger, key FROM context_ledger.derived WHERE kind = 'facts/1' AND key >= %s AND key < %s",
            self._names.claims(field, value),
            binary=True,
        ).fetchall()
        return [self._events([(key,)], ledger) for ledger, key in keys]

    def _changes(self, field: str, upto: int, order: str, limit: Int8 | None) -> list[Any]:
        query = (
            "SELECT key FROM context_ledger.derived WHERE ledger = %s AND kind = 'facts/1' AND key >= %s AND key < %s "
            f"ORDER BY key {order} LIMIT %s"
        )
        values = (self._names.ledger, *self._names.changes(field, upto), limit)
        return self._events(self._raw.execute(query.encode(), values, binary=True).fetchall(), self._names.ledger)

    def _events(self, keys: list[Any], ledger: bytes) -> list[Any]:
        versions = [Int8(version_of(key)) for (key,) in keys]
        return self._raw.execute(
            "SELECT e.*, p.* FROM context_ledger.events e JOIN context_ledger.payloads p USING (ledger, version) "
            "WHERE e.ledger = %s AND e.version = ANY(%b::bigint[]) ORDER BY e.version",
            (ledger, versions),
            binary=True,
        ).fetchall()

    def close(self) -> None:
        """See ``Floor``."""
        self._raw.close()
