"""Carries a forgetting out, step by step; each may be done again, so a job that was interrupted is simply carried out anew.

Fence, then sweep, then the places outside of the store, then scrub. The fence of a ledger is an event in it: what it erases is
decided at the version before it, and whatever is appended later is decided against it. The fence of a subject stands in the
store and is raised before its events are looked for, so that none is missed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Protocol, cast

import orjson

from ledger import events as e
from ledger.clock import Clock
from ledger.erasing import StoredJob, Sweep
from ledger.errors import NothingToForget, OnHold, StoreError
from ledger.forgetting import Forgetting, Item, LedgerForgetting, State, Wish, blobs_to_go
from ledger.forgetting_fence import Fence, Fencing, fence_events
from ledger.marks import FORGOTTEN_NAME, forgotten_name
from ledger.record import Recorded
from ledger.store import Head, Selection, Store


class DerivedPlace(Protocol):
    """Something outside of the store that holds what was derived from a ledger's content: a search index, a view, a cache."""

    @property
    def name(self) -> str:
        """By which the store remembers it."""
        ...

    def forget(self, ledger: bytes, versions: tuple[int, ...]) -> None:
        """Remove what these events of a ledger left behind. Returning confirms that it is gone; raise if it is not."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A forgetting under way. Once every ledger has its fence, ``wish`` is dropped: a job keeps no content.

    ``fences``: by the id of a ledger (hexadecimal), the name that it has from then on, if it gets another.
    """

    job: str
    scope: e.ForgettingScope
    reason: str
    actor: str | None
    answers: tuple[int, ...] | None
    subject: str | None = None
    wish: Wish | None = None
    ledgers: tuple[str, ...] = ()
    fences: dict[str, str | None] = field(default_factory=dict)
    fenced: bool = False
    swept: bool = False
    confirmed: tuple[str, ...] = ()
    scrub_now: bool = True
    scrubbed: bool = False
    problems: tuple[str, ...] = ()

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return self.fenced and self.swept and self.scrubbed and not self.problems

    @property
    def is_deferred(self) -> bool:
        """Whether the caller put off what is left to do."""
        return self.swept and not self.scrub_now

    def stored(self) -> StoredJob:
        """As the store keeps it."""
        return StoredJob(self.job, orjson.dumps(asdict(self)), self.finished)


def job_of(stored: StoredJob) -> Job:
    """A job as the store kept it."""
    known = orjson.loads(stored.state)
    wish = known["wish"]
    answers = known["answers"]
    return Job(
        **{
            **known,
            "wish": None if wish is None else Wish(**wish),
            "answers": None if answers is None else tuple(answers),
            "ledgers": tuple(known["ledgers"]),
            "confirmed": tuple(known["confirmed"]),
            "problems": tuple(known["problems"]),
        }
    )


class Worker:
    """Carries out jobs on one store. ``places`` are the derived places that this process can reach, by name."""

    def __init__(self, store: Store, clock: Clock, places: Mapping[str, DerivedPlace]) -> None:
        self._store = store
        self._clock = clock
        self._places = places
        self._names: dict[bytes, str] = {}
        self._reports: dict[str, LedgerForgetting] = {}
        self._in_full: dict[str, str] = {}
        """Problems with what a place said, which may be content, so that no job keeps it."""

    def carry_out(self, job: Job) -> Forgetting:
        """Do what is left of a job, and report; what cannot be done now is told in ``problems``, and the job stays open."""
        job = replace(job, problems=())
        for step in (self._fence, self._sweep, self._confirm, self._scrub):
            job = step(job)
            self._store.job_put(job.stored())
        state: State = "complete" if job.finished else "incomplete"
        ledgers = tuple(self._report(job, ledger) for ledger in job.fences)
        problems = tuple(self._in_full.get(problem, problem) for problem in job.problems)
        return Forgetting(job=job.job, scope=job.scope, reason=job.reason, state=state, ledgers=ledgers, problems=problems)

    def _fence(self, job: Job) -> Job:
        if job.fenced:
            return job
        fences, problems = dict(job.fences), []
        for ledger, wish in self._wishes(job).items():
            try:
                fences[ledger] = self._fence_ledger(job, bytes.fromhex(ledger), wish)
            except OnHold as error:
                problems.append(str(error))
            except NothingToForget:
                continue
        if problems:
            return replace(job, fences=fences, problems=tuple(problems))
        return replace(job, fences=fences, fenced=True, wish=None, ledgers=())

    def _wishes(self, job: Job) -> dict[str, Wish]:
        """What is to be forgotten in which ledger."""
        if job.subject is None:
            assert job.wish is not None, "a job keeps its wish until all fences stand"
            return dict.fromkeys(job.ledgers, job.wish)
        subject = bytes.fromhex(job.subject)
        self._store.fence(subject, job.job)
        versions: dict[str, list[int]] = {}
        for ledger, version in self._store.tagged(subject):
            versions.setdefault(ledger.hex(), []).append(version)
        return {ledger: Wish(versions=found) for ledger, found in versions.items()}

    def _fence_ledger(self, job: Job, ledger: bytes, wish: Wish) -> str | None:
        """Append the event that says what is erased, unless it is there; return the name that the ledger has from then on."""
        head = self._head(ledger)
        fencing = Fencing(job=job.job, scope=job.scope, reason=job.reason, actor=job.actor, answers=job.answers, wish=wish)
        fence = Fence(self._store, self._clock, head.name, fencing)
        fence.put()
        if fence.planned is not None:
            self._reports[ledger.hex()] = fence.planned.forgetting
        is_renamed = wish.everything and not head.name.startswith(FORGOTTEN_NAME)
        return forgotten_name(self._store.secret, head.name) if is_renamed else None

    def _sweep(self, job: Job) -> Job:
        for hexadecimal, renamed in job.fences.items():
            if job.swept:
                break
            ledger = bytes.fromhex(hexadecimal)
            events = fence_events(self._store, ledger, job.job)
            versions = _versions(events)
            blobs = blobs_to_go(self._store, ledger, versions)
            self._store.sweep(Sweep(ledger=ledger, fence=events[-1].version, versions=versions, blobs=blobs, name=renamed))
        return replace(job, swept=job.fenced)

    def _confirm(self, job: Job) -> Job:
        """Have every place outside of the store remove what it holds; one that does not say so leaves the job incomplete."""
        confirmed, problems = list(job.confirmed), list(job.problems)
        for name in self._store.places():
            if name in confirmed:
                continue
            place = self._places.get(name)
            if place is None:
                problems.append(f"{name} holds what was derived and is not at hand: resume where it is")
                continue
            try:
                for ledger in job.fences:
                    found = bytes.fromhex(ledger)
                    place.forget(found, _versions(fence_events(self._store, found, job.job)))
            except Exception as error:  # noqa: BLE001 — whatever a place raises, it has not confirmed
                kept = f"{name} has not confirmed ({type(error).__name__}): mend it and resume"
                self._in_full[kept] = f"{name} has not confirmed ({type(error).__name__}: {error}): mend it and resume"
                problems.append(kept)
            else:
                if job.fenced:
                    confirmed.append(name)
        return replace(job, confirmed=tuple(confirmed), problems=tuple(problems))

    def _scrub(self, job: Job) -> Job:
        if job.scrubbed or not job.fences:
            return replace(job, scrubbed=job.swept)
        if not job.scrub_now:
            return replace(job, problems=(*job.problems, "deleted bytes are not overwritten yet: resume with scrub"))
        self._store.job_put(job.stored())  # what the job said before is overwritten with the rest
        try:
            self._store.scrub()
        except StoreError as error:
            return replace(job, problems=(*job.problems, str(error)))
        return replace(job, scrubbed=job.swept)

    def _report(self, job: Job, ledger: str) -> LedgerForgetting:
        """What went in a ledger, without its texts; of what this process did not plan, what the fence tells."""
        head = self._head(bytes.fromhex(ledger))
        known = self._reports.get(ledger) or LedgerForgetting(ledger=head.name, version=head.version, items=())
        items = {item.version: replace(item, excerpt=None) for item in known.items}
        versions = _versions(fence_events(self._store, head.ledger, job.job))
        if items.keys() != set(versions):
            rows = {row.envelope.version: row.envelope for row in self._store.read(head.ledger, Selection())}
            told = {one: Item(one, rows[one].type, rows[one].turn, None, f"job {job.job}") for one in versions}
            items = {one: items.get(one, told[one]) for one in sorted(told)}
        return replace(
            known,
            version=head.version,
            items=tuple(items.values()),
            mentions=tuple(replace(mention, strings=()) for mention in known.mentions),
        )

    def _head(self, ledger: bytes) -> Head:
        if ledger not in self._names:
            self._names = {head.ledger: head.name for head in self._store.heads()}
        head = self._store.head(self._names[ledger]) if ledger in self._names else None
        if head is None:
            raise StoreError(f"ledger {ledger.hex()} is not in the store any more: it was changed from outside")
        return head


def _versions(events: list[Recorded]) -> tuple[int, ...]:
    return tuple(erasure.version for item in events for erasure in cast(e.ContentForgotten, item.event).erased)
