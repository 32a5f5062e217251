"""The history of every field: which value stood from which version to which, and who set it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest
from typing import Any, ClassVar

from ledger.erased import Erased, Forgotten
from ledger.events import FactEvent, FactReaffirmed, FactRetracted, FactSet, FactSuperseded, SchemaSet, Source
from ledger.json_text import JsonText
from ledger.record import Recorded
from ledger.schema.schema import Schema
from ledger.standing import Claim, Validity, as_meant, successor


@dataclass(frozen=True, slots=True)
class FactValue:
    """A value that a field held for versions in ``[from_version, to_version)``; it holds still where ``to_version`` is None.

    ``superseded_by`` is the version of the event that put another value in its place. ``confirmed_turn`` and
    ``confirmed_source`` name a better source that stated the same value later. What was forgotten of it is ``Forgotten``: value
    and source, or only why it ended. ``valid`` is from when to when it holds in the world, where that was said.
    """

    json: JsonText | Forgotten
    source: Source | Forgotten
    turn: int | None
    from_version: int
    to_version: int | None = None
    superseded_by: int | None = None
    because: str | Forgotten | None = None
    confirmed_source: Source | None = None
    confirmed_turn: int | None = None
    valid: Validity = (None, None)

    @property
    def value(self) -> Any:
        """The value as Python knows it; ``Forgotten`` if it was."""
        return self.json if isinstance(self.json, Forgotten) else self.json.value


class FactsFold:
    """Folds what was claimed of each field into intervals. What stands after an event is ``ledger.standing``'s to say.

    A forgotten claim is known by the keyed hash of its field alone. It still ends what it ended.
    """

    reads: ClassVar[frozenset[type[Any]]] = frozenset(
        {SchemaSet, FactSet, FactReaffirmed, FactSuperseded, FactRetracted, Erased}
    )

    def __init__(self) -> None:
        self._values: dict[str, list[FactValue]] = {}
        self._standing: dict[str, Claim | None] = {}
        self._told: dict[str, list[Claim | None]] = {}
        self._claimed: dict[int, str] = {}
        self._forgotten: dict[str, dict[int, FactValue]] = {}
        self._marks: dict[int, str] = {}

    def evolve(self, recorded: Recorded) -> None:
        """Close the interval that ends and open the one that begins."""
        event = recorded.event
        if isinstance(event, Erased):
            self._erased(recorded.version, event)
            return
        if isinstance(event, SchemaSet):
            schema = Schema.model_validate_json(event.declared)
            held = {name: claim for name, claim in self._standing.items() if claim is not None}
            self._standing.update({name: as_meant(claim, name, schema) for name, claim in held.items()})
            return
        assert isinstance(event, FactSet | FactReaffirmed | FactSuperseded | FactRetracted), "a fold gets what it reads"
        self._known(recorded.version, event)

    def _known(self, version: int, event: FactEvent) -> None:
        before = self._standing.get(event.field)
        after = self._standing[event.field] = successor(before, version, event)
        told = self._told.setdefault(event.field, [])
        if isinstance(event, FactReaffirmed) and told:
            told[-1] = after
        else:
            told.append(after)
        values = self._values.setdefault(event.field, [])
        if isinstance(event, FactReaffirmed):
            if before is not None and after is not None and after != before:
                values[-1] = replace(values[-1], confirmed_source=after.source, confirmed_turn=after.turn)
            return
        because = None if isinstance(event, FactSet) else event.because
        superseded_by = version if after is not None else None
        if before is not None:
            values[-1] = replace(values[-1], to_version=version, superseded_by=superseded_by, because=because)
        elif not isinstance(event, FactSet):
            ended = event.replaces if isinstance(event, FactSuperseded) else event.retracts
            self._end_forgotten(ended, version=version, superseded_by=superseded_by, because=because)
        if after is not None:
            values.append(FactValue(after.value, after.source, after.turn, version, valid=after.valid))
            self._claimed[version] = event.field

    def _erased(self, version: int, event: Erased) -> None:
        if event.type not in ("fact.set", "fact.superseded", "fact.retracted"):
            return
        superseded_by = None if event.type == "fact.retracted" else version
        if event.ends is not None:
            self._end(event.ends, version=version, superseded_by=superseded_by, because=event.forgotten)
        if superseded_by is not None:
            mark = event.named or ""
            value = FactValue(event.forgotten, event.forgotten, event.turn, version)
            self._forgotten.setdefault(mark, {})[version] = value
            self._marks[version] = mark

    def _end(self, claimed: int, *, version: int, superseded_by: int | None, because: Forgotten) -> None:
        """End the claim of a version because of an event whose field is not known any more."""
        name = self._claimed.get(claimed)
        standing = None if name is None else self._standing[name]
        if name is None or standing is None or standing.version != claimed:
            self._end_forgotten(claimed, version=version, superseded_by=superseded_by, because=because)
            return
        self._standing[name] = None
        self._told[name].append(None)
        values = self._values[name]
        values[-1] = replace(values[-1], to_version=version, superseded_by=superseded_by, because=because)

    def _end_forgotten(self, claimed: int, *, version: int, superseded_by: int | None, because: str | Forgotten | None) -> None:
        mark = self._marks.get(claimed)
        if mark is not None:
            value = self._forgotten[mark][claimed]
            self._forgotten[mark][claimed] = replace(value, to_version=version, superseded_by=superseded_by, because=because)

    def standing(self) -> dict[str, Claim]:
        """What stands now, by field, in the order in which the fields first got a value."""
        return {name: claim for name, claim in self._standing.items() if claim is not None}

    def holding(self, moment: datetime) -> dict[str, Claim]:
        """What held in the world at a moment, by field: of the claims that cover it, the one that was recorded last.

        A claim that does not say since when or until when covers all of the time on that side.
        """
        found = {name: _covering(told, moment) for name, told in self._told.items()}
        return {name: claim for name, claim in found.items() if claim is not None}

    def history(self, name: str, mark: str | None = None) -> tuple[FactValue, ...]:
        """All values that a field held, oldest first; ``name`` in canonical form.

        Forgotten ones stand among them if ``mark``, the keyed hash of the name, is given.
        """
        forgotten = {} if mark is None else self._forgotten.get(mark, {})
        values = sorted([*self._values.get(name, ()), *forgotten.values()], key=lambda value: value.from_version)
        # A value that came after a forgotten one, without naming it, took its place all the same.
        return tuple(
            _ended_by(value, after) if value.to_version is None else value for value, after in zip_longest(values, values[1:])
        )

    def fields(self) -> tuple[str, ...]:
        """All fields that ever held a value, as far as their names are known."""
        return tuple(self._values)


def _covering(told: list[Claim | None], moment: datetime) -> Claim | None:
    for claim in reversed(told):
        if claim is None:  # taken back, and with it all that it had replaced
            return None
        begins, ends = claim.valid
        if (begins is None or begins <= moment) and (ends is None or moment < ends):
            return claim
    return None


def _ended_by(value: FactValue, after: FactValue | None) -> FactValue:
    if after is None:
        return value
    return replace(value, to_version=after.from_version, superseded_by=after.from_version)
