"""The versions of the events that matter to the state, at every so many events: all of them, or what changed.

A row says what came and what went since the one before it. Where that would make whoever reads it go back through more than
the whole is long, the row has all, and is a keyframe. So all rows together stay linear in the length of the record, and reading
costs what the state costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import orjson

from replay.facts.rows import numbered, version_of
from replay.kept.derived_rows import DerivedRows

ROW_EVENTS: Final = 128
"""So many events that are no turns lie between two rows."""

_ROW_WEIGHT: Final = 4
_LEAST: Final = 64


@dataclass(frozen=True, slots=True)
class Living:
    """The events that matter at a version at which a row stands; 0 before the first.

    ``keyframe`` is the version of the row that has them all, ``weight`` how much the rows weigh that came after it.
    """

    version: int = 0
    versions: frozenset[int] = frozenset()
    keyframe: int = 0
    weight: int = 0


def living_at(rows: DerivedRows, version: int) -> Living:
    """What the last row up to a version says; ``Overtaken`` if rows were purged. Rows of another form say nothing."""
    try:
        return _living_at(rows, version)
    except (TypeError, ValueError):  # they are made anew
        return Living()


def _living_at(rows: DerivedRows, version: int) -> Living:
    newest = rows.scan("", before=numbered("", version + 1), newest_first=True, limit=1)
    if not newest:
        return Living()
    keyframe, came, went = orjson.loads(newest[0].value)
    place = version_of(newest[0].key)
    if keyframe == place:
        return Living(place, frozenset(came), place)
    found: set[int] = set()
    weight = 0
    for row in rows.scan("", after=numbered("", keyframe - 1), before=numbered("", place + 1)):
        _, came, went = orjson.loads(row.value)
        found = (found | set(came)) - set(went)
        weight += 0 if version_of(row.key) == keyframe else _weight(came, went)
    return Living(place, frozenset(found), keyframe, weight)


def put_row(rows: DerivedRows, before: Living, version: int, versions: frozenset[int]) -> Living:
    """Make the row of a version, given what the row before it says."""
    came, went = sorted(versions - before.versions), sorted(before.versions - versions)
    weight = before.weight + _weight(came, went)
    is_keyframe = not before.version or weight > max(len(versions), _LEAST)
    after = Living(version, versions, version if is_keyframe else before.keyframe, 0 if is_keyframe else weight)
    rows.put(
        numbered("", version),
        orjson.dumps((after.keyframe, sorted(versions) if is_keyframe else came, [] if is_keyframe else went)),
    )
    return after


def _weight(came: list[int], went: list[int]) -> int:
    return _ROW_WEIGHT + len(came) + len(went)
