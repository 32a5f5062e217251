"""From the names in a wish to the versions that they mean. What names nothing, or is gone already, is an error that says so."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Final

from ledger import events as e
from ledger.decide import field_name
from ledger.erased import Erased
from ledger.errors import InvalidInput, NothingToForget, nearest
from ledger.lineage import Lineage
from ledger.marks import artifact_mark, field_mark
from ledger.reading import Marks
from ledger.record import Recorded

_ID: Final = re.compile(r"(ev|en|con|r|sum|win|v)_([0-9]{1,18})")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_TYPES: Final = {
    "ev": "evidence.recorded",
    "en": "entry.added",
    "con": "contradiction.recorded",
    "r": "tool.returned",
    "sum": "summary.recorded",
    "win": "window.recorded",
}


class Named:
    """The events of a ledger by the names that a wish may give them; each way to name is looked up once for all names.

    ``key`` is that of the ledger's names. ``several``: more than one thing is named, so that an error says what became of the
    others.
    """

    def __init__(self, events: Sequence[Recorded], lineage: Lineage, marks: Marks, *, key: bytes, several: bool) -> None:
        self._events = events
        self._lineage = lineage
        self._marks = marks
        self._key = key
        self._several = several

    def turn(self, number: int) -> int:
        """The version of a turn."""
        version = self._lineage.of_turn(number)
        if version is not None:
            return version
        if number in self._erased_turns:
            raise self._already(f"turn {number}", self._erased_turns[number])
        last = last_turn(self._events)
        raise NothingToForget(f"turn {number} is not recorded: the last turn is {last}", last=last)

    def field(self, name: str) -> list[int]:
        """The versions of all that is said of a field."""
        field = field_name(name)
        found = self._fields.get(field)
        return found or self._none(f"field {field!r}", field_mark(self._key, field), near=(field, self._fields))

    def artifact(self, sha256: str) -> list[int]:
        """The versions at which an artifact was stored."""
        if _SHA256.fullmatch(sha256) is None:
            raise InvalidInput(f"artifact {sha256!r} is no SHA-256: give 64 hexadecimal digits in lower case", path="artifacts")
        found = self._lineage.stored(sha256)
        return found or self._none(f"artifact {sha256[:12]}…", artifact_mark(self._key, sha256), near=("", ()))

    def id(self, name: str) -> int:
        """The version that an id names."""
        found = _ID.fullmatch(name)
        if found is None:
            raise InvalidInput(
                f"{name!r} is not the id of anything: "
                "give ids like ev_31, en_14, con_9, r_4471, sum_40, win_41, or v_12 for an event by version",
                path="ids",
            )
        version = int(found[2])
        item = self._by_version.get(version)
        wanted = _TYPES.get(found[1])
        if item is None or (wanted is not None and item.envelope.type != wanted):
            there = "nothing" if item is None else f"a {item.envelope.type}"
            raise NothingToForget(f"{name!r} names nothing here: at version {version} there is {there}", id=name)
        if isinstance(item.event, e.Governing):
            raise InvalidInput(f"version {version} is a {item.envelope.type}, which is never forgotten", path="ids")
        if isinstance(item.event, Erased):
            raise self._already(name, item.event.forgotten.job)
        return version

    @cached_property
    def _by_version(self) -> dict[int, Recorded]:
        return {item.version: item for item in self._events}

    @cached_property
    def _erased_turns(self) -> dict[int, str]:
        """The jobs that forgot turns, by turn."""
        turns = (item for item in self._events if item.envelope.type == "turn.recorded" and item.turn is not None)
        return {item.turn or 0: item.event.forgotten.job for item in turns if isinstance(item.event, Erased)}

    @cached_property
    def _fields(self) -> dict[str, list[int]]:
        """All that is said of fields, by their canonical names."""
        found: dict[str, list[int]] = defaultdict(list)
        for version, item in self._lineage.events.items():
            field = getattr(item.event, "field", None)
            if field is not None:
                found[field].append(version)
        return found

    @cached_property
    def _jobs(self) -> dict[str, str]:
        """The jobs that forgot something that had a name, by its keyed hash."""
        found: dict[str, str] = {}
        for erasure, forgotten in self._marks.values():
            if erasure.named is not None:
                found.setdefault(erasure.named, forgotten.job)
        return found

    def _none(self, what: str, mark: str, *, near: tuple[str, Sequence[str] | dict[str, list[int]]]) -> list[int]:
        if mark in self._jobs:
            raise self._already(what, self._jobs[mark])
        found = nearest(near[0], sorted(near[1]))
        raise NothingToForget(f"{what} is not in this ledger (nearest: {', '.join(found) or 'none'})", nearest=found)

    def _already(self, what: str, job: str) -> NothingToForget:
        rest = "; nothing was forgotten now: leave it out" if self._several else ""
        return NothingToForget(f"{what} was forgotten already, by job {job}{rest}", job=job)


def last_turn(events: Sequence[Recorded]) -> int:
    """The number of the last turn; 0 if there is none."""
    return max((item.turn or 0 for item in events if item.envelope.type == "turn.recorded"), default=0)
