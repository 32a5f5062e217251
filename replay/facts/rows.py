"""What the index says of an event: under which keys it is found. Keys hold keyed hashes and versions, never content.

    h/<field>/<version>           an event that changes or confirms what a field holds; the value says whether it claims one
    d/<field>/<version>           a contradiction about a field, or its resolution
    s/<version>                   a schema that was put in force
    f/<field>/<value>/<version>   a claim of a value, by what the value means
    m/<field>/<format>            a format in which values of a field were claimed; the value is the format

The hashes of fields after ``h`` and ``d`` are those of the ledger, by which forgotten claims are known, too. Those after ``f``
and ``m`` are the same in all ledgers of the store.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from pydantic import TypeAdapter

from ledger import events as e
from ledger.erased import Erased
from ledger.json_text import JsonText
from ledger.lineage import ended_by
from ledger.marks import field_mark, names_key
from ledger.reading import Marks
from ledger.record import Recorded
from ledger.schema.formats import Format
from ledger.schema.refusal import Refused
from ledger.schema.schema import Schema

CLAIM: Final = b"c"
"""The value of a row of an event that claims a value: from it on, nothing before matters to what stands."""

OTHER: Final = b""

SCHEMAS: Final = "s/"
_CLAIMS: Final = ("fact.set", "fact.superseded")
_CHANGES: Final = (*_CLAIMS, "fact.retracted")
_FORMATS: Final[TypeAdapter[Format]] = TypeAdapter(Format)

EventAt = Callable[[int], Recorded | None]
"""The event of a version."""

SchemaBefore = Callable[[int], Schema | None]
"""The schema that was in force before a version."""


def numbered(prefix: str, version: int) -> str:
    """The key of a version after a prefix; keys are in the order of the versions."""
    return f"{prefix}{version:016x}"


def version_of(key: str) -> int:
    """The version at the end of a key."""
    return int(key.rpartition("/")[2], 16)


class Keys:
    """The keys of one store."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def of_field(self, field: str) -> str:
        """What all claims of a field have in front of the value's mark."""
        return f"f/{self._mark('field', field)}/"

    def of_value(self, field: str, form: str, canonical: str) -> str:
        """What all claims of a value in a format have in front of the version; without a format, a value means itself."""
        return f"{self.of_field(field)}{self._mark('value', field, form, canonical)}/"

    def of_formats(self, field: str) -> str:
        """What all formats of a field have in front."""
        return f"m/{self._mark('field', field)}/"

    def of_format(self, field: str, form: str) -> str:
        """The key of a format of a field."""
        return f"{self.of_formats(field)}{self._mark('format', form)}"

    def changes(self, mark: str) -> str:
        """What the changes of a field have in front of the version; ``mark`` is the ledger's for the field."""
        return f"h/{mark}/"

    def disputes(self, mark: str) -> str:
        """What the contradictions about a field have in front of the version."""
        return f"d/{mark}/"

    def _mark(self, *parts: str) -> str:
        text = b"".join(len(part).to_bytes(8, "big") + part.encode("utf-8", "surrogatepass") for part in parts)
        return hmac.digest(self._secret, b"index\0" + text, "sha256")[:16].hex()


class Rows:
    """Makes the rows of one ledger's events, which it is given in order."""

    def __init__(self, secret: bytes, ledger: bytes, *, event_at: EventAt, schema_before: SchemaBefore) -> None:
        self._keys = Keys(secret)
        self._key = names_key(secret, ledger)
        self._event_at = event_at
        self._schema_before = schema_before
        self._schema: Schema | None = None
        self._knows_schema = False
        self._disputed: dict[int, str | None] = {}

    def of(self, events: Iterable[Recorded], marks: Marks) -> dict[str, bytes]:
        """The rows of some events; ``marks`` are what forgettings left of the ledger's."""
        rows: dict[str, bytes] = {}
        for item in events:
            rows |= self._row(item, marks)
        return rows

    def _row(self, item: Recorded, marks: Marks) -> Mapping[str, bytes]:
        version = item.version
        match item.event:
            case Erased() as event:
                return self._erased(version, event)
            case e.SchemaSet() as event:
                self._schema, self._knows_schema = Schema.model_validate_json(event.declared), True
                return {numbered(SCHEMAS, version): OTHER}
            case e.FactSet() | e.FactSuperseded() as event:
                return self._changes(version, event, CLAIM, marks) | self._found(version, event)
            case e.FactReaffirmed() | e.FactRetracted() as event:
                return self._changes(version, event, OTHER, marks)
            case e.ContradictionRecorded() as event:
                self._disputed[version] = event.field
                return self._dispute(version, event.field)
            case e.ContradictionResolved() as event:
                return self._dispute(version, self._disputed_field(ended_by(event)))
            case _:
                return {}

    def _erased(self, version: int, event: Erased) -> dict[str, bytes]:
        if event.type in _CHANGES and event.named is not None:
            return {numbered(self._keys.changes(event.named), version): CLAIM if event.type in _CLAIMS else OTHER}
        if event.type == "contradiction.resolved":
            return self._dispute(version, self._disputed_field(event.ends))
        return {}

    def _changes(self, version: int, event: e.FactEvent, kind: bytes, marks: Marks) -> dict[str, bytes]:
        """The change of a field; a claim that ends a forgotten one ends it in the history of the field that this was about."""
        rows: dict[str, bytes] = {}
        ended = marks.get(ended_by(event) or 0)
        if ended is not None and ended[0].named is not None:
            rows[numbered(self._keys.changes(ended[0].named), version)] = OTHER
        return rows | {numbered(self._keys.changes(field_mark(self._key, event.field)), version): kind}

    def _dispute(self, version: int, field: str | None) -> dict[str, bytes]:
        if field is None:
            return {}
        return {numbered(self._keys.disputes(field_mark(self._key, field)), version): OTHER}

    def _disputed_field(self, contradiction: int | None) -> str | None:
        if contradiction is None:
            return None
        if contradiction not in self._disputed:
            found = self._event_at(contradiction)
            event = None if found is None else found.event
            self._disputed[contradiction] = event.field if isinstance(event, e.ContradictionRecorded) else None
        return self._disputed[contradiction]

    def _found(self, version: int, event: e.FactSet | e.FactSuperseded) -> dict[str, bytes]:
        if event.meaning is None:
            return {numbered(self._keys.of_value(event.field, "", event.value.canonical), version): OTHER}
        if not self._knows_schema:
            self._schema, self._knows_schema = self._schema_before(version), True
        spec = None if self._schema is None else self._schema.spec(event.field)
        form = "" if spec is None else _FORMATS.dump_json(spec.format).decode()
        rows = {numbered(self._keys.of_value(event.field, form, event.meaning.canonical), version): OTHER}
        return rows if not form else rows | {self._keys.of_format(event.field, form): form.encode()}


def meant_in(form: bytes, value: JsonText) -> str | None:
    """What a value means in a format, in the form in which values are compared; None if it does not fit."""
    try:
        return JsonText.of(_FORMATS.validate_json(form).meaning(value.value)).canonical
    except Refused:
        return None
