"""What a block says of open contradictions: one line for each field that is disputed, however often it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ledger.fields import canonical_field

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ledger.schema.schema import Schema
    from projections.contradictions import Contradiction

MOST_TURNS: Final = 5
"""How many turns a line names, the latest ones: it never gives way."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """What is disputed: ``id`` is that of the latest contradiction, ``more`` the number of those before it.

    ``turns`` are those of all of them in order, at most the last ``MOST_TURNS``.
    """

    id: str
    about: str
    turns: tuple[int, ...]
    more: int


def disputes_of(contradictions: Iterable[Contradiction], schema: Schema | None) -> tuple[Dispute, ...]:
    """One dispute for each field, and one for each contradiction that is about none, that of the latest one last.

    What is about a field that blocks do not show is left out, since its name is not shown either.
    """
    groups: dict[tuple[str, str], list[Contradiction]] = {}
    for found in contradictions:
        if _is_shown(found, schema):
            key = subject_of(found, schema)
            group = groups.pop(key, [])
            group.append(found)
            groups[key] = group
    return tuple(_dispute(group) for group in groups.values())


def subject_of(found: Contradiction, schema: Schema | None) -> tuple[str, str]:
    """What a contradiction is about: those of one subject share a line."""
    if found.field is None:
        return ("contradiction", found.id)
    return ("field", found.field if schema is None else schema.resolve(found.field))


def _is_shown(found: Contradiction, schema: Schema | None) -> bool:
    spec = None if schema is None else schema.spec(found.field or canonical_field(found.about))
    return spec is None or spec.rendered


def _dispute(group: list[Contradiction]) -> Dispute:
    turns = sorted({turn for found in group for turn in found.turns})
    return Dispute(group[-1].id, group[-1].about, tuple(turns[-MOST_TURNS:]), len(group) - 1)
