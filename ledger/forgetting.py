"""Forgetting, as a caller sees it: what was asked, the plan of what would go, and the report of what went."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from ledger import events as e
from ledger.decide import field_name
from ledger.erased import Erased
from ledger.errors import InvalidInput, NothingToForget, OnHold, nearest
from ledger.lineage import Cause, Lineage, skeletons
from ledger.marks import artifact_mark, field_mark, names_key
from ledger.mentions import Mention, mentions, texts_of
from ledger.reading import Reader, remaining
from ledger.record import Recorded
from ledger.standing import contradiction_id, entry_id, evidence_id, result_id
from ledger.store import Head, Selection, Store

State = Literal["planned", "complete", "incomplete"]

_EXCERPT: Final = 60
_ID: Final = re.compile(r"(ev|en|con|r|v)_([0-9]{1,18})")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_TYPES: Final = {
    "ev": "evidence.recorded",
    "en": "entry.added",
    "con": "contradiction.recorded",
    "r": "tool.returned",
}
_IDS: Final = {
    "evidence.recorded": evidence_id,
    "entry.added": entry_id,
    "contradiction.recorded": contradiction_id,
    "tool.returned": result_id,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be forgotten in one ledger: turns by number, fields, artifacts by hash, ids (``ev_31``), versions, or all."""

    turns: Sequence[int] = ()
    facts: Sequence[str] = ()
    artifacts: Sequence[str] = ()
    ids: Sequence[str] = ()
    versions: Sequence[int] = ()
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """An event that goes: its place, its id where it has one, why it goes, and before it went the beginning of its text."""

    version: int
    type: str
    turn: int | None
    id: str | None
    because: str
    excerpt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerForgetting:
    """What goes in one ledger.

    ``artifacts``: hashes of bytes that go; ``shared``: of those that stay, since something that stays has stored or shows them,
    too.
    ``derived``: rows of each kind that were derived from the ledger; all of them go. ``mentions``: events that stay and hold
    the same values or identifiers. ``children``: ledgers that name this one as their parent; they stay.
    """

    ledger: str
    version: int
    items: tuple[Item, ...]
    artifacts: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    derived: dict[str, int] = field(default_factory=dict)
    mentions: tuple[Mention, ...] = ()
    children: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many events of each type go."""
        return dict(Counter(item.type for item in self.items))


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """A forgetting: planned (no job, nothing was changed), complete, or incomplete with the ``problems`` that are left."""

    job: str | None
    scope: e.ForgettingScope
    reason: str
    state: State
    ledgers: tuple[LedgerForgetting, ...]
    problems: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many events lose their content."""
        return sum(len(ledger.items) for ledger in self.ledgers)


@dataclass(frozen=True, slots=True)
class Plan:
    """What would go in one ledger as it is at ``head``, and the event that would say so."""

    head: Head
    forgetting: LedgerForgetting
    erased: tuple[e.Erasure, ...]
    fields: tuple[str, ...]
    through_turn: int


def plan(store: Store, head: Head, wish: Wish) -> Plan:
    """Find everything that goes with what is wished.

    Raises ``NothingToForget`` where nothing is found, ``InvalidInput`` for what names nothing, ``OnHold``.
    """
    reader = Reader(store, head.ledger)
    events = list(reader.read(Selection(upto=head.version)))
    _check_hold(reader.governing, head)
    lineage = Lineage(events)
    key = names_key(store.secret, head.ledger)
    asked = _asked(events, lineage, wish, reader, key)
    causes = lineage.closure(asked)
    going, shared = _artifacts(lineage, causes)
    through = max((item.turn or 0 for item in events if item.envelope.type == "turn.recorded"), default=0)
    forgetting = LedgerForgetting(
        ledger=head.name,
        version=head.version,
        items=tuple(_item(lineage.events[version], cause) for version, cause in causes.items()),
        artifacts=going,
        shared=shared,
        derived=store.holdings(head.ledger).derived,
        mentions=mentions(events, causes) if not wish.everything else (),
        children=_children(store, head) if wish.everything else (),
    )
    named = {field_name(name) for name in wish.facts}
    if wish.ids:  # a claim that was forgotten by its id is not to be learnt again either
        named |= {item.event.field for item in map(lineage.events.__getitem__, asked) if isinstance(item.event, e.FactEvent)}
    fields = tuple(field_mark(key, name) for name in sorted(named))
    return Plan(head, forgetting, skeletons(events, causes, key), fields, through)


def blobs_to_go(store: Store, ledger: bytes, versions: Sequence[int]) -> list[str]:
    """The hashes of artifacts of which every storing is among the versions; read from what is still there of them."""
    gone = set(versions)
    going: set[str] = set()
    living: set[str] = set()
    for item in remaining(store, ledger, Selection(kind="others")):
        if isinstance(item.event, e.ArtifactStored):
            (going if item.version in gone else living).add(item.event.sha256)
    return sorted(going - living)


def _check_hold(governing: Sequence[Recorded], head: Head) -> None:
    held: e.HoldPlaced | None = None
    for item in governing:
        if isinstance(item.event, e.HoldPlaced):
            held = item.event
        elif isinstance(item.event, e.HoldLifted):
            held = None
    if held is not None:
        raise OnHold(
            f"ledger {head.name!r} is under a legal hold ({held.because}), nothing of it may be erased: lift the hold first",
            ledger=head.name,
            because=held.because,
        )


def _asked(events: Sequence[Recorded], lineage: Lineage, wish: Wish, reader: Reader, key: bytes) -> list[int]:
    """The versions that a wish names."""
    asked: list[int] = []
    if wish.everything:
        asked += lineage.events
    for turn in wish.turns:
        asked.append(_known(lineage.of_turn(turn), f"turn {turn}", events, _erased_turn(events, turn)))
    for name in wish.facts:
        field = field_name(name)
        mark = field_mark(key, field)
        asked += _found(lineage.about_field(field), f"field {field!r}", _named(reader, mark), _fields(events))
    for sha256 in wish.artifacts:
        if _SHA256.fullmatch(sha256) is None:
            raise InvalidInput(f"artifact {sha256!r} is no SHA-256: give 64 hexadecimal digits in lower case", path="artifacts")
        asked += _found(lineage.stored(sha256), f"artifact {sha256[:12]}…", _named(reader, artifact_mark(key, sha256)), ())
    for name in wish.ids:
        asked.append(_of_id(events, name))
    asked += [version for version in wish.versions if version in lineage.events]
    if not asked and wish.everything:  # the name goes, and nothing more is taken
        _check_not_forgotten(reader.governing)
    elif not asked:
        raise NothingToForget("everything that was named is forgotten already, or there is nothing to forget", scope="ledger")
    return asked


def _check_not_forgotten(governing: Sequence[Recorded]) -> None:
    """``NothingToForget`` if the whole ledger is forgotten."""
    whole = [item.event for item in governing if isinstance(item.event, e.ContentForgotten) and item.event.scope == "ledger"]
    again = sum(isinstance(item.event, e.LedgerReauthorised) for item in governing)
    if len({event.job for event in whole}) > again:
        raise _already("the ledger", whole[-1].job)


def _of_id(events: Sequence[Recorded], name: str) -> int:
    found = _ID.fullmatch(name)
    if found is None:
        raise InvalidInput(
            f"{name!r} is not the id of anything: give ids like ev_31, en_14, con_9, r_4471, or v_12 for an event by version",
            path="ids",
        )
    version = int(found[2])
    item = next((item for item in events if item.version == version), None)
    wanted = _TYPES.get(found[1])
    if item is None or (wanted is not None and item.envelope.type != wanted):
        there = "nothing" if item is None else f"a {item.envelope.type}"
        raise NothingToForget(f"{name!r} names nothing here: at version {version} there is {there}", id=name)
    if isinstance(item.event, e.Governing):
        raise InvalidInput(f"version {version} is a {item.envelope.type}, which is never forgotten", path="ids")
    if isinstance(item.event, Erased):
        raise _already(name, item.event.forgotten.job)
    return version


def _known(version: int | None, what: str, events: Sequence[Recorded], job: str | None) -> int:
    if version is not None:
        return version
    if job is not None:
        raise _already(what, job)
    last = max((item.turn or 0 for item in events if item.envelope.type == "turn.recorded"), default=0)
    raise NothingToForget(f"{what} is not recorded: the last turn is {last}", last=last)


def _found(versions: list[int], what: str, job: str | None, known: Sequence[str]) -> list[int]:
    if versions:
        return versions
    if job is not None:
        raise _already(what, job)
    near = nearest(what.removeprefix("field ").strip("'"), known)
    raise NothingToForget(f"{what} is not in this ledger (nearest: {', '.join(near) or 'none'})", nearest=near)


def _already(what: str, job: str) -> NothingToForget:
    return NothingToForget(f"{what} was forgotten already, by job {job}", job=job)


def _erased_turn(events: Sequence[Recorded], turn: int) -> str | None:
    erased = (item.event for item in events if item.turn == turn and item.envelope.type == "turn.recorded")
    return next((event.forgotten.job for event in erased if isinstance(event, Erased)), None)


def _named(reader: Reader, mark: str) -> str | None:
    return next((forgotten.job for erasure, forgotten in reader.marks.values() if erasure.named == mark), None)


def _fields(events: Sequence[Recorded]) -> list[str]:
    return sorted({item.event.field for item in events if isinstance(item.event, e.FactEvent)})


def _artifacts(lineage: Lineage, causes: dict[int, Cause]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The hashes of the artifacts whose every storing goes, and of those of which one stays."""
    touched: dict[str, bool] = {}
    for sha256 in (found for version in causes for found in lineage.artifacts_of(version)):
        stored = lineage.stored(sha256)
        if stored:
            touched[sha256] = all(version in causes for version in stored)
    return tuple(sorted(h for h, goes in touched.items() if goes)), tuple(sorted(h for h, goes in touched.items() if not goes))


def _children(store: Store, head: Head) -> tuple[str, ...]:
    """The ledgers that name this one as their parent."""
    found = []
    for other in store.heads():
        opened = (item.event for item in Reader(store, other.ledger).read(Selection(kind="others")))
        if any(isinstance(event, e.LedgerOpened) and event.parent == head.name for event in opened):
            found.append(other.name)
    return tuple(found)


def _item(item: Recorded, cause: Cause) -> Item:
    name = _IDS.get(item.envelope.type)
    text = " ".join(" ".join(texts_of(item.event)).split())
    excerpt = text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…"
    return Item(
        item.version, item.envelope.type, item.turn, None if name is None else name(item.version), cause.because, excerpt
    )
