"""Forgetting, as a caller sees it: what was asked, the plan of what would go, and the report of what went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal

from ledger import events as e
from ledger.decide import field_name
from ledger.errors import NothingToForget
from ledger.holds import check_hold
from ledger.lineage import Cause, Lineage, skeletons
from ledger.marks import field_mark, names_key
from ledger.mentions import Mention, mentions, texts_of
from ledger.naming import Named, last_turn
from ledger.pending import Requests
from ledger.reading import Reader, remaining
from ledger.record import Recorded
from ledger.standing import contradiction_id, entry_id, evidence_id, result_id, summary_id, window_id
from ledger.store import Head, Selection, Store

State = Literal["planned", "complete", "incomplete"]

_EXCERPT: Final = 60
_IDS: Final = {
    "evidence.recorded": evidence_id,
    "entry.added": entry_id,
    "contradiction.recorded": contradiction_id,
    "tool.returned": result_id,
    "summary.recorded": summary_id,
    "window.recorded": window_id,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be forgotten in one ledger: turns by number, fields, artifacts by hash, ids (``ev_31``), versions, or all.

    ``because`` says of each of the versions why it goes, where it was not asked for.
    """

    turns: Sequence[int] = ()
    facts: Sequence[str] = ()
    artifacts: Sequence[str] = ()
    ids: Sequence[str] = ()
    versions: Sequence[int] = ()
    because: Sequence[str] = ()
    everything: bool = False

    @property
    def count(self) -> int:
        """How many things are named."""
        return len(self.turns) + len(self.facts) + len(self.artifacts) + len(self.ids)


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

    ``artifacts``: hashes of bytes that go, only in a plan: afterwards they would confirm a guess; ``artifact_count``: how many
    these are. ``shared``: of those that stay, since something that stays has stored or shows them,
    too.
    ``derived``: rows of each kind that were derived from the ledger; all of them go. ``mentions``: events that stay and hold
    the same values or identifiers. ``children``: ledgers that name this one as their parent; they stay. ``answers``: the user
    turns whose wish to have something forgotten this fulfils; ``pending``: those whose wish nobody has answered then, either.
    """

    ledger: str
    version: int
    items: tuple[Item, ...]
    artifacts: tuple[str, ...] = ()
    artifact_count: int = 0
    shared: tuple[str, ...] = ()
    derived: dict[str, int] = field(default_factory=dict)
    mentions: tuple[Mention, ...] = ()
    children: tuple[str, ...] = ()
    answers: tuple[int, ...] = ()
    pending: tuple[int, ...] = ()

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
    """What would go in one ledger as it is at ``head``, and the event that would say so.

    ``going``: the events whose content goes; ``requests``: the turns that are pending; ``user_turns``: all turns of users.
    """

    head: Head
    forgetting: LedgerForgetting
    going: tuple[Recorded, ...]
    erased: tuple[e.Erasure, ...]
    fields: tuple[str, ...]
    through_turn: int
    requests: tuple[int, ...]
    user_turns: frozenset[int]


def plan(store: Store, head: Head, wish: Wish, *, though_held: bool = False) -> Plan:
    """Find everything that goes with what is wished.

    Raises ``NothingToForget`` where nothing is found, ``InvalidInput`` for what names nothing, ``OnHold``.
    """
    reader = Reader(store, head.ledger)
    events = list(reader.read(Selection(upto=head.version)))
    if not though_held:
        check_hold(reader.governing, head)
    lineage = Lineage(events)
    key = names_key(store.secret, head.ledger)
    named = Named(events, lineage, reader.marks, key=key, several=wish.count > 1)
    asked = _asked(named, lineage, wish, reader.governing)
    causes = lineage.closure(asked)
    why = dict(zip(wish.versions, wish.because, strict=False))
    going, shared = _artifacts(lineage, causes)
    forgetting = LedgerForgetting(
        ledger=head.name,
        version=head.version,
        items=tuple(_item(lineage.events[version], why.get(version, cause.because)) for version, cause in causes.items()),
        artifacts=going,
        artifact_count=len(going),
        shared=shared,
        derived=store.holdings(head.ledger).derived,
        mentions=() if wish.everything else mentions(events, causes, partial(store.blob, head.ledger)),
        children=_children(store, head) if wish.everything else (),
    )
    fields = {field_name(name) for name in wish.facts}
    if wish.ids:  # a claim that was forgotten by its id is not to be learnt again either
        fields |= {item.event.field for item in map(lineage.events.__getitem__, asked) if isinstance(item.event, e.FactEvent)}
    return Plan(
        head,
        forgetting,
        going=tuple(lineage.events[version] for version in causes),
        erased=skeletons(events, causes, key),
        fields=tuple(field_mark(key, name) for name in sorted(fields)),
        through_turn=last_turn(events),
        requests=_requests(events),
        user_turns=_user_turns(events),
    )


def blobs_to_go(store: Store, ledger: bytes, versions: Sequence[int]) -> list[str]:
    """The hashes of artifacts of which every storing is among the versions; read from what is still there of them."""
    gone = set(versions)
    going: set[str] = set()
    living: set[str] = set()
    for item in remaining(store, ledger, Selection(kind="others")):
        if isinstance(item.event, e.ArtifactStored):
            (going if item.version in gone else living).add(item.event.sha256)
    return sorted(going - living)


def _asked(named: Named, lineage: Lineage, wish: Wish, governing: Sequence[Recorded]) -> list[int]:
    """The versions that a wish names."""
    asked = list(lineage.events) if wish.everything else []
    asked += [named.turn(turn) for turn in wish.turns]
    asked += [version for name in wish.facts for version in named.field(name)]
    asked += [version for sha256 in wish.artifacts for version in named.artifact(sha256)]
    asked += [named.id(name) for name in wish.ids]
    asked += [version for version in wish.versions if version in lineage.events]
    if not asked and wish.everything:  # the name goes, and nothing more is taken
        _check_not_forgotten(governing)
    elif not asked:
        raise NothingToForget("everything that was named is forgotten already, or there is nothing to forget", scope="ledger")
    return asked


def _check_not_forgotten(governing: Sequence[Recorded]) -> None:
    """``NothingToForget`` if the whole ledger is forgotten."""
    whole = [item.event for item in governing if isinstance(item.event, e.ContentForgotten) and item.event.scope == "ledger"]
    again = sum(isinstance(item.event, e.LedgerReauthorised) for item in governing)
    if len({event.job for event in whole}) > again:
        job = whole[-1].job
        raise NothingToForget(f"the ledger was forgotten already, by job {job}", job=job)


def _requests(events: Sequence[Recorded]) -> tuple[int, ...]:
    requests = Requests()
    for item in events:
        requests.evolve(item)
    return tuple(request.turn for request in requests.unanswered())


def _user_turns(events: Sequence[Recorded]) -> frozenset[int]:
    turns = (item for item in events if item.turn is not None and item.envelope.type == "turn.recorded")
    return frozenset(item.turn or 0 for item in turns if getattr(item.event, "role", None) == "user")


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


def _item(item: Recorded, because: str) -> Item:
    name = _IDS.get(item.envelope.type)
    text = " ".join(" ".join(texts_of(item.event)).split())
    excerpt = text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…"
    return Item(item.version, item.envelope.type, item.turn, None if name is None else name(item.version), because, excerpt)
