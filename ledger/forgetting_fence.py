"""The fence of a ledger: the event that says what a job erases, appended however busy the ledger is.

At first it is appended only if nothing came after what the plan was made of. A ledger that takes events faster than it can be
read would never get one so; then it is appended wherever the ledger is, and once more for what came in between: what rests on
what is erased, which nothing that comes after the fence can.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, cast

from ledger import events as e
from ledger import requests as r
from ledger.answering import with_answers
from ledger.clock import Clock
from ledger.decide import field_name
from ledger.errors import IdempotencyConflict, NothingToForget, StoreError, VersionConflict
from ledger.forgetting import Plan, Wish, plan
from ledger.holds import check_hold
from ledger.lineage import Lineage, skeletons
from ledger.marks import names_key
from ledger.reading import Reader, recorded
from ledger.record import Recorded
from ledger.store import Head, Selection, Store
from ledger.writer import Command, Writer

_ERASURES_PER_EVENT: Final = 20_000
_EXACT: Final = 3
"""So often a fence is tried at the very version that was planned for."""

_WHEREVER: Final = 4
_ROUNDS: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Fencing:
    """What is to be fenced in one ledger: the job's words, and what it wishes."""

    job: str
    scope: e.ForgettingScope
    reason: str
    actor: str | None
    answers: tuple[int, ...] | None
    wish: Wish


class Fence:
    """The fence of one job in one ledger. ``name`` is the ledger's now."""

    def __init__(self, store: Store, clock: Clock, name: str, fencing: Fencing) -> None:
        self._store = store
        self._writer = Writer(store, name, clock)
        self._name = name
        self._fencing = fencing
        self.planned: Plan | None = None
        """The plan that was carried out, if this is who made it."""

    def put(self) -> None:
        """Append the fence, unless it is there, and what completes it. Raises ``NothingToForget``, ``OnHold``."""
        if self._events() or not self._append():
            self._complete()

    def _append(self) -> bool:
        """Append the event that says what is erased; whether at the version that was planned for."""
        for attempt in range(_EXACT + _WHEREVER):
            head = self._head()
            planned = with_answers(_plan(self._store, head, self._fencing.wish), self._fencing.answers or ())
            check_hold(Reader(self._store, head.ledger).governing, head)
            expected = head.version if attempt < _EXACT else None
            try:
                self._say(planned.erased, planned.through_turn, fields=planned.fields, expected=expected)
            except (VersionConflict, IdempotencyConflict):
                if not self._events():
                    continue
                return False
            self.planned = planned
            return expected is not None
        raise StoreError(
            f"job {self._fencing.job}: the ledger takes events faster than they can be read: resume when it is quieter"
        )

    def _complete(self) -> None:
        """Erase also what came between the plan and its fence."""
        for _ in range(_ROUNDS):
            fences = self._events()
            rest = self._rest(fences)
            if not rest:
                return
            first = cast(e.ContentForgotten, fences[0].event)
            try:
                self._say(rest, first.through_turn, number=len(fences))
            except IdempotencyConflict:
                continue  # another process that carries out the same job was first
        raise StoreError(f"job {self._fencing.job}: more and more rests on what is erased: resume when it is quieter")

    def _rest(self, fences: list[Recorded]) -> tuple[e.Erasure, ...]:
        """What must go up to the last of the fences, and is in none of them."""
        head, said = self._head(), _erased(fences)
        reader = Reader(self._store, head.ledger)
        others = {version: mark for version, mark in reader.marks.items() if mark[1].job != self._fencing.job}
        rows = self._store.read(head.ledger, Selection(upto=fences[-1].version))
        events = [recorded(row, reader.marks if row.payload is None else others) for row in rows]
        lineage = Lineage(events)
        causes = lineage.closure([*said, *self._named(lineage, fences[0].version)])
        rest = [version for version in causes if version not in said]
        return skeletons(events, rest, names_key(self._store.secret, head.ledger))

    def _named(self, lineage: Lineage, before: int) -> Iterator[int]:
        """What is named in the wish and came before the first fence."""
        wish = self._fencing.wish
        found = list(lineage.events) if wish.everything else []
        found += [version for name in wish.facts for version in lineage.about_field(field_name(name))]
        found += [version for sha256 in wish.artifacts for version in lineage.stored(sha256)]
        return (version for version in found if version < before)

    def _say(
        self,
        erased: tuple[e.Erasure, ...],
        through_turn: int,
        *,
        fields: tuple[str, ...] = (),
        expected: int | None = None,
        number: int = 0,
    ) -> None:
        """Append what says that events are erased; several events where one would be very large."""
        fencing = self._fencing
        events = tuple(
            e.ContentForgotten(
                job=fencing.job,
                scope=fencing.scope,
                reason=fencing.reason,
                erased=erased[place : place + _ERASURES_PER_EVENT],
                through_turn=through_turn,
                fields=fields,
                answers=fencing.answers,
            )
            for place in range(0, max(1, len(erased)), _ERASURES_PER_EVENT)
        )
        key = f"forget/{fencing.job}" + (f"/{number}" if number else "")
        command = Command(idempotency_key=key, actor=fencing.actor, expected_version=expected)
        self._writer.execute(r.AppendEvents(events=events), command)

    def _events(self) -> list[Recorded]:
        return fence_events(self._store, self._head().ledger, self._fencing.job)

    def _head(self) -> Head:
        head = self._store.head(self._name)
        if head is None:
            raise StoreError(f"ledger {self._name!r} is not in the store any more: it was changed from outside")
        return head


def fence_events(store: Store, ledger: bytes, job: str) -> list[Recorded]:
    """The events by which a job forgot content of a ledger."""
    return [
        item for item in Reader(store, ledger).governing if isinstance(item.event, e.ContentForgotten) and item.event.job == job
    ]


def _erased(fences: list[Recorded]) -> set[int]:
    return {erasure.version for item in fences for erasure in cast(e.ContentForgotten, item.event).erased}


def _plan(store: Store, head: Head, wish: Wish) -> Plan:
    """The plan for what is left of a wish: some of it may have been forgotten by another job since it was made.

    A hold is not looked for: it keeps only what is still there.
    """
    try:
        return plan(store, head, wish, though_held=True)
    except NothingToForget:
        left = _left(store, head, wish)
        if left == wish:
            raise
        return plan(store, head, left, though_held=True)


def _left(store: Store, head: Head, wish: Wish) -> Wish:
    """What of a wish is still there."""
    lineage = Lineage(list(Reader(store, head.ledger).read(Selection(upto=head.version))))
    return Wish(
        turns=tuple(turn for turn in wish.turns if lineage.of_turn(turn) is not None),
        facts=tuple(name for name in wish.facts if lineage.about_field(field_name(name))),
        artifacts=tuple(sha256 for sha256 in wish.artifacts if lineage.stored(sha256)),
        ids=tuple(name for name in wish.ids if int(name.rpartition("_")[2]) in lineage.events),
        versions=wish.versions,
        because=wish.because,
        everything=wish.everything,
    )
