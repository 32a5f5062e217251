"""Which schema was in force, and what the record refused because of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from ledger.events import ExtractionRecorded, FactRejected, SchemaSet, Source
from ledger.json_text import JsonText
from ledger.parts import Problem
from ledger.record import Recorded
from ledger.schema.schema import Schema
from projections.transcript import Turn

MOST_RUNS: Final = 3
"""So often an extractor reads the same turns, if it breaks off each time; then they count as read."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A value that was claimed and not taken, with what was wrong with it."""

    version: int
    field: str
    json: JsonText
    source: Source
    turn: int | None
    problems: tuple[Problem, ...]
    quote: str | None = None


class SchemaFold:
    """Folds schemas, the values that were refused, and how far extractors have read under the schema in force."""

    reads: ClassVar[frozenset[type[Any]]] = frozenset({SchemaSet, FactRejected, ExtractionRecorded})

    def __init__(self) -> None:
        self._declared: JsonText | None = None
        self._schema: Schema | None = None
        self._rejected: list[Rejected] = []
        self._read: dict[str, tuple[int, int]] = {}
        self._tries: dict[str, int] = {}

    def evolve(self, recorded: Recorded) -> None:
        """Keep the latest schema, and every refusal."""
        match recorded.event:
            case SchemaSet(declared=declared):
                self._declared, self._schema = declared, None
                self._read.clear()
                self._tries.clear()
            case ExtractionRecorded() as event:
                self._ran(event)
            case FactRejected() as event:
                rejected = Rejected(
                    recorded.version, event.field, event.value, event.source, event.turn, event.problems, event.quote
                )
                self._rejected.append(rejected)
            case _:
                pass

    def _ran(self, event: ExtractionRecorded) -> None:
        """A run that broke off is to be repeated, but not for ever: what it could not read may be beyond reading."""
        tries = self._tries[event.extractor] = self._tries.get(event.extractor, 0) + 1
        if event.incomplete is None or tries == MOST_RUNS:
            turn, version = self._read.get(event.extractor, (0, 0))
            self._read[event.extractor] = max(event.through_turn, turn), max(event.through_version or 0, version)
            del self._tries[event.extractor]

    def schema(self) -> Schema | None:
        """The schema in force; None if none was declared."""
        if self._declared is not None and self._schema is None:
            self._schema = Schema.model_validate_json(self._declared)
        return self._schema

    def rejected(self) -> tuple[Rejected, ...]:
        """All refused values, oldest first."""
        return tuple(self._rejected)

    def read_through(self, extractor: str) -> int:
        """The last turn that an extractor has read, in complete runs since the schema was put in force; 0 if none."""
        return self._read.get(extractor, (0, 0))[0]

    def unread(self, extractor: str, turns: Iterable[Turn]) -> tuple[Turn, ...]:
        """The turns that an extractor has not read in these runs, and those that have results which it has not read."""
        read, version = self._read.get(extractor, (0, 0))
        return tuple(
            turn for turn in turns if turn.number > read or any(returned.version > version > 0 for returned in turn.returns)
        )
