"""Which ledgers of a store ever held a value in a field: asked of the index, without reading the ledgers that did not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ledger import JsonText, Ledgers
from ledger.decide import field_name
from ledger.erased import Forgotten
from ledger.events import Source
from replay.facts.fields import exact_field
from replay.facts.index import FactIndex, in_force
from replay.facts.rows import Keys, meant_in, version_of
from replay.kept.overtaken import undisturbed
from replay.loading import load


class _AnyValue:
    """Stands for all values of a field."""

    def __repr__(self) -> str:
        return "ANY_VALUE"


ANY_VALUE: Final = _AnyValue()
"""Asks for whatever a field held."""


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A value that a field of a ledger held: the name of the ledger, and the version, turn and source that claimed it.

    ``json`` is the value as it was given. ``stands``: whether the field holds it still.
    """

    ledger: str
    field: str
    json: JsonText
    version: int
    turn: int | None
    source: Source
    stands: bool

    @property
    def value(self) -> Any:
        """The value as Python knows it."""
        return self.json.value


def find_facts(
    store: Ledgers, *, field: str, value: object = ANY_VALUE, judged_at: datetime | None = None
) -> tuple[FoundFact, ...]:
    """Every claim by which a field came to hold a value, in all ledgers, the newest last; of any value, if none is given.

    Field names are compared in canonical form; an alias counts as the field that it stood for when the value was recorded.
    Values are compared by what each meant in its field's declared format when it was recorded ("4,180 INR" is "4180.00 INR"
    where that is money), and else as JSON. What was only disputed or refused was never held. What is forgotten, or past its
    retention at ``judged_at`` (aware; now, if not given), is not found. ``InvalidInput`` for what is no field's name or no
    JSON value.
    """
    name = field_name(field)
    wanted = value if isinstance(value, _AnyValue) else JsonText.of(value)
    return undisturbed(lambda: _find(store, name, wanted, judged_at))


def _find(store: Ledgers, field: str, wanted: JsonText | _AnyValue, judged_at: datetime | None) -> tuple[FoundFact, ...]:
    index = FactIndex(store, in_force(store))
    index.catch_up()
    keys = Keys(store.store.secret)
    versions: dict[bytes, set[int]] = defaultdict(set)
    for prefix in _prefixes(index, keys, field, wanted):
        for row in index.scan(prefix):
            versions[row.ledger].add(version_of(row.key))
    found: list[tuple[int, FoundFact]] = []
    for ledger, claimed in versions.items():
        found += _of_ledger(store, ledger, field, claimed, judged_at)
    return tuple(fact for _, fact in sorted(found, key=lambda placed: placed[0]))


def _prefixes(index: FactIndex, keys: Keys, field: str, wanted: JsonText | _AnyValue) -> Iterator[str]:
    """Under which keys claims of a value stand: of the value itself, and of what it means in each format of the field."""
    if isinstance(wanted, _AnyValue):
        yield keys.of_field(field)
        return
    yield keys.of_value(field, "", wanted.canonical)
    after: str | None = None
    while row := next(iter(index.scan(keys.of_formats(field), after=after, limit=1)), None):
        meant = meant_in(row.value, wanted)
        if meant is not None:
            yield keys.of_value(field, row.value.decode(), meant)
        after = row.key


def _of_ledger(
    store: Ledgers, ledger: bytes, field: str, claimed: set[int], judged_at: datetime | None
) -> Iterator[tuple[int, FoundFact]]:
    """What a ledger says of the claims of some versions, with their positions in the feed."""
    head = store.store.head_of(ledger)
    if head is None:
        return
    loaded = load(store, head, None, judged_at)
    known = exact_field(loaded, field)
    standing = known.facts.standing().get(field)
    for value in known.values:
        if value.from_version not in claimed or isinstance(value.json, Forgotten) or isinstance(value.source, Forgotten):
            continue
        found = FoundFact(
            ledger=head.name,
            field=field,
            json=value.json,
            version=value.from_version,
            turn=value.turn,
            source=value.source,
            stands=standing is not None and standing.version == value.from_version,
        )
        yield known.positions[found.version], found
