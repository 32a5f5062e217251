"""Which schema was in force, and what the record refused because of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ledger.events import FactRejected, SchemaSet, Source
from ledger.json_text import JsonText
from ledger.parts import Problem
from ledger.record import Recorded
from ledger.schema.schema import Schema


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
    """Folds schemas, and the values that were refused."""

    reads: ClassVar[frozenset[type[Any]]] = frozenset({SchemaSet, FactRejected})

    def __init__(self) -> None:
        self._declared: JsonText | None = None
        self._rejected: list[Rejected] = []

    def evolve(self, recorded: Recorded) -> None:
        """Keep the latest schema, and every refusal."""
        match recorded.event:
            case SchemaSet(declared=declared):
                self._declared = declared
            case FactRejected() as event:
                rejected = Rejected(
                    recorded.version, event.field, event.value, event.source, event.turn, event.problems, event.quote
                )
                self._rejected.append(rejected)
            case _:
                pass

    def schema(self) -> Schema | None:
        """The schema in force; None if none was declared."""
        return None if self._declared is None else Schema.model_validate_json(self._declared)

    def rejected(self) -> tuple[Rejected, ...]:
        """All refused values, oldest first."""
        return tuple(self._rejected)
