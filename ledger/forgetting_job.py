"""Carries a forgetting out, step by step; each may be done again, so a job that was interrupted is simply carried out anew.

Fence, then sweep, then the places outside of the store, then scrub. The fence of a ledger is an event in it: what it erases is
decided at the version before it, and whatever is appended later is decided against it. The fence of a subject stands in the
store and is raised before its events are looked for, so that none is missed.

Two processes may carry out the same job at once: what one has done the other does again, or takes from the job as it is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol, cast

from ledger import events as e
from ledger.clock import Clock
from ledger.erased import Erased
from ledger.erasing import Sweep
from ledger.errors import NothingToForget, OnHold, StoreError
from ledger.forgetting import Forgetting, Item, LedgerForgetting, State, Wish, blobs_to_go
from ledger.forgetting_fence import Fence, Fencing, fence_events
from ledger.holds import check_hold
from ledger.kept_job import Job, job_of
from ledger.marks import FORGOTTEN_NAME, artifact_mark, forgotten_name, names_key
from ledger.reading import Reader
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


class Worker:
    """Carries out jobs on one store. ``places`` are the derived places that this process can reach, by name."""

    def __init__(self, store: Store, clock: Clock, places: Mapping[str, DerivedPlace]) -> None:
        self._store = store
        self._clock = clock
        self._places = places
        self._names: dict[bytes, str] = {}
        self._reports: dict[str, LedgerForgetting] = {}

    def carry_out(self, job: Job) -> Forgetting:
        """Do what is left of a job, and report; what cannot be done now is told in ``problems``, and the job stays open."""
        job, is_done = self._newest(replace(job, problems=()))
        for step in (self._fence, self._sweep, self._confirm, self._conclude):
            if not is_done:
                job, is_done = self._newest(step(job))
            if not is_done:
                self._store.job_put(job.stored())
        ledgers = tuple(self._report(job, ledger) for ledger in job.fences)
        if not job.finished:  # by now another process may have done what this one could not
            job, _ = self._newest(job)
        state: State = "complete" if job.finished else "incomplete"
        return Forgetting(job=job.job, scope=job.scope, reason=job.reason, state=state, ledgers=ledgers, problems=job.problems)

    def _newest(self, job: Job) -> tuple[Job, bool]:
        """A job with what another process that carries it out has done of it, and whether that one has finished it."""
        kept = next((job_of(stored) for stored in self._store.jobs() if stored.job == job.job), None)
        if kept is None:
            return job, False
        return (kept, True) if kept.finished else (job.with_done(kept), False)

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
        """Delete, but nothing of a ledger that is under a legal hold by now: it waits until that is lifted."""
        swept, problems = list(job.swept), list(job.problems)
        for ledger, renamed in job.fences.items():
            if ledger in swept:
                continue
            try:
                self._sweep_ledger(job, bytes.fromhex(ledger), renamed)
            except OnHold as error:
                problems.append(str(error))
            else:
                swept.append(ledger)
        return replace(job, swept=tuple(swept), problems=tuple(problems))

    def _sweep_ledger(self, job: Job, ledger: bytes, renamed: str | None) -> None:
        events = fence_events(self._store, ledger, job.job)
        versions = _versions(events)
        blobs = blobs_to_go(self._store, ledger, versions)
        self._check_hold(ledger)  # last, so that next to no time is left for a hold to come between
        self._store.sweep(Sweep(ledger=ledger, fence=events[-1].version, versions=versions, blobs=blobs, name=renamed))

    def _check_hold(self, ledger: bytes) -> None:
        check_hold(Reader(self._store, ledger).governing, self._head(ledger))

    def _confirm(self, job: Job) -> Job:
        """Have every place outside of the store remove what it holds; one that does not say so leaves the job incomplete."""
        problems: list[str] = []
        confirmed = dict(job.confirmed)
        for name in self._store.places():
            waiting = [ledger for ledger in job.swept if ledger not in confirmed.get(name, ())]
            if waiting and name not in self._places:
                problems.append(f"{name} holds what was derived and is not at hand: resume where it is")
                continue
            for ledger in waiting:
                problem = self._confirm_ledger(job, bytes.fromhex(ledger), self._places[name])
                if problem is None:
                    confirmed[name] = (*confirmed.get(name, ()), ledger)
                else:
                    problems.append(problem)
        return replace(job, confirmed=confirmed, problems=tuple(dict.fromkeys((*job.problems, *problems))))

    def _confirm_ledger(self, job: Job, ledger: bytes, place: DerivedPlace) -> str | None:
        """Why a place has not removed what it holds of a ledger. What it says itself may be content, and is told nowhere."""
        try:
            self._check_hold(ledger)
        except OnHold as error:
            return str(error)
        versions = _versions(fence_events(self._store, ledger, job.job))
        try:
            place.forget(ledger, versions)
        except Exception as error:  # noqa: BLE001 — whatever a place raises, it has not confirmed
            return f"{place.name} has not confirmed ({type(error).__name__}): mend it and resume"
        return None

    def _conclude(self, job: Job) -> Job:
        """The last step: only here can a job become finished, so that one that is interrupted before never looks so."""
        job = self._scrub(job)
        return replace(job, finished=job.is_swept and job.is_scrubbed and not job.problems)

    def _scrub(self, job: Job) -> Job:
        if job.is_scrubbed:
            return job
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
        known = self._reports.get(ledger)
        versions = _versions(fence_events(self._store, head.ledger, job.job))
        if known is None:
            count = self._artifacts_gone(head.ledger, set(versions))
            known = LedgerForgetting(ledger=head.name, version=head.version, items=(), artifact_count=count)
        items = {item.version: replace(item, excerpt=None) for item in known.items}
        if items.keys() != set(versions):
            rows = {row.envelope.version: row.envelope for row in self._store.read(head.ledger, Selection())}
            told = {one: Item(one, rows[one].type, rows[one].turn, None, f"job {job.job}") for one in versions}
            items = {one: items.get(one, told[one]) for one in sorted(told)}
        return replace(
            known,
            ledger=head.name,  # which a ledger that was forgotten as a whole has got instead of its own
            version=head.version,
            artifacts=(),  # a plain hash would confirm a guess at what is gone
            items=tuple(items.values()),
            mentions=tuple(replace(mention, strings=()) for mention in known.mentions),
        )

    def _artifacts_gone(self, ledger: bytes, versions: set[int]) -> int:
        """How many artifacts were stored by events that a job erased, and by none that stays."""
        reader, key = Reader(self._store, ledger), names_key(self._store.secret, ledger)
        gone: set[str | None] = set()
        living: set[str | None] = set()
        for item in reader.read(Selection(kind="others")):
            if item.envelope.type == "artifact.stored" and isinstance(item.event, Erased) and item.version in versions:
                gone.add(item.event.named)
            elif isinstance(item.event, e.ArtifactStored):
                living.add(artifact_mark(key, item.event.sha256))
        return len(gone - living)

    def _head(self, ledger: bytes) -> Head:
        if ledger not in self._names:
            self._names = {head.ledger: head.name for head in self._store.heads()}
        head = self._store.head(self._names[ledger]) if ledger in self._names else None
        if head is None:
            raise StoreError(f"ledger {ledger.hex()} is not in the store any more: it was changed from outside")
        return head


def _versions(events: list[Recorded]) -> tuple[int, ...]:
    return tuple(erasure.version for item in events for erasure in cast(e.ContentForgotten, item.event).erased)
