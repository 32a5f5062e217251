"""Whether what an event states of a field goes with the schema in force: its name, its value, what it says that it means."""

from __future__ import annotations

from datetime import datetime

from ledger import events as e
from ledger.errors import AdmissionRefused, InvalidInput
from ledger.fields import canonical_field
from ledger.json_text import JsonText
from ledger.schema.schema import Schema


def check_claim(schema: Schema | None, event: e.Claiming) -> None:
    """``AdmissionRefused`` or ``InvalidInput`` for a claim that a command would not have recorded like this."""
    check_canonical(event.field)
    check_validity(event.field, event.valid_from, event.valid_to)
    check_value(schema, event.field, event.value, meaning=event.meaning, source=event.source)
    spec = None if schema is None else schema.spec(event.field)
    if (event.reference is None) != (spec is None or spec.refers_to is None):
        raise AdmissionRefused(
            f"{event.field!r}: reference={event.reference!r} does not go with the schema: use set_fact", field=event.field
        )


def check_canonical(field: str) -> None:
    """``InvalidInput`` for a field's name in another form than its canonical one."""
    canonical = canonical_field(field)
    if field != canonical or not canonical:
        raise InvalidInput(
            f"field {field!r} is not in canonical form: use {canonical or 'a name with letters'!r}", path="field"
        )


def check_validity(field: str, valid_from: datetime | None, valid_to: datetime | None) -> None:
    """``InvalidInput`` for a claim that would end to hold before it begins."""
    if valid_from is not None and valid_to is not None and valid_to <= valid_from:
        raise InvalidInput(f"{field!r} would hold from {valid_from} to {valid_to}: give a later valid_to", path="valid_to")


def check_value(
    schema: Schema | None, field: str, value: JsonText, *, meaning: JsonText | None, source: e.Source | None
) -> None:
    """``AdmissionRefused`` for a value that its field does not take (where ``source`` is not known, from anybody), or that
    means something else.
    """
    if schema is not None:
        problems = schema.problems(field, value, source or "interface")
        if problems or schema.resolve(field) != field:
            why = problems[0].why if problems else f"it is another name of {schema.resolve(field)!r}"
            raise AdmissionRefused(f"{field!r}: {why}; use set_fact, which records what is refused", field=field)
    means = None if schema is None else schema.meaning(field, value)
    if meaning != means:
        raise AdmissionRefused(f"{field!r}: meaning={meaning} is not {means}: use set_fact", field=field)
