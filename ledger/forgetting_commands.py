"""The commands of an open store by which content is forgotten, kept on hold, or taken again."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from ledger import events as e
from ledger import requests as r
from ledger.answering import answered_by, with_answers
from ledger.clock import Clock
from ledger.codec import check_tags
from ledger.erasing import StoredJob
from ledger.errors import CorruptRecord, InvalidInput, LedgerError
from ledger.forgetting import Forgetting, LedgerForgetting, Plan, Wish, plan
from ledger.forgetting_job import DerivedPlace, Worker
from ledger.given import known_head
from ledger.kept_job import Job, TakenBack, job_of
from ledger.limits import MAX_TURN
from ledger.marks import FORGOTTEN_NAME, subject_mark
from ledger.planning import holds_on, plans_for
from ledger.reading import Reader
from ledger.reasons import check_repeats_nothing, checked_reason
from ledger.retention import RETENTION, due
from ledger.store import Head, Selection, Store
from ledger.writer import Command, Writer, check_command


class ForgettingIncomplete(UserWarning):
    """A forgetting is not complete, and could not be finished when the store was opened."""


class ForgettingResumed(UserWarning):
    """A forgetting that was not complete is, now that the store was opened: by this process, or by one that was at it."""


class ForgettingCommands:
    """What an open store can be told about forgetting."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.store = store
        self.clock = clock
        self._places: dict[str, DerivedPlace] = {}

    def forget(
        self,
        *,
        reason: str,
        ledger: str | None = None,
        turns: Iterable[int] | None = None,
        facts: Iterable[str] | None = None,
        artifacts: Iterable[str] | None = None,
        ids: Iterable[str] | None = None,
        subject: str | None = None,
        actor: str | None = None,
        answers: Iterable[int] | None = None,
        dry_run: bool = False,
        scrub: bool = True,
    ) -> Forgetting:
        """Erase content, and all that rests on it; its envelopes stay, and an event that says that it was forgotten.

        Give one of: turns, facts (fields), artifacts (SHA-256) or ids (``ev_31``, ``v_12``) of a ``ledger``; a ``ledger``
        alone, which is then forgotten whole; or a ``subject``, which is forgotten in all ledgers. An empty list is refused, and
        never stands for everything. With ``dry_run`` nothing is changed, and the report lists what would go. ``answers``: the
        user turns whose wish this fulfils; if not given, the request that is pending in ``ledger`` if there is just one, else
        none. Without ``scrub``, deleted bytes are overwritten only when the job is resumed.

        ``reason`` and ``actor`` stay for ever, so they are refused if they repeat an address, number or identifier that goes.

        Raises ``NothingToForget``, ``UnknownLedger``, ``InvalidInput``, ``OnHold`` before anything is changed. A report that is
        "incomplete" names what is left to do; ``resume_forgetting`` does it, and so does the next opening of the store.
        """
        check_command(Command(actor=actor), {})
        wish = Wish(
            turns=_listed("turns", turns),
            facts=_listed("facts", facts),
            artifacts=_listed("artifacts", artifacts),
            ids=_listed("ids", ids),
        )
        scope = _scope(wish, ledger, subject)
        if scope == "ledger":
            wish = Wish(everything=True)
        why = checked_reason("reason", reason)
        named = None if answers is None else _turns("answers", answers)
        plans = plans_for(self.store, wish, ledger, subject)
        for name, text in (("reason", why), ("actor", actor)):
            check_repeats_nothing(name, text, (item for planned in plans for item in planned.going))
        answered = answered_by(plans, scope, named)
        plans = [with_answers(planned, answered) for planned in plans]
        job = Job(
            job=f"f_{os.urandom(6).hex()}",
            scope=scope,
            reason=why,
            actor=actor,
            answers=answered,
            wish=wish,
            scrub_now=scrub,
        )
        if dry_run:
            return _planned(job, plans, holds_on(self.store, plans))
        mark = None if subject is None else subject_mark(self.store.secret, subject)
        return self._begin(job, [planned.head for planned in plans], subject=mark)

    def resume_forgetting(self) -> list[Forgetting]:
        """Carry out what is left of all jobs that were interrupted or incomplete, deferred scrubbing included.

        ``CorruptRecord`` names a job that cannot be read, after the others were carried out.
        """
        left = [stored for stored in self.store.jobs() if not stored.finished]
        found = [self._carry_out(replace(job, scrub_now=True)) for job in filter(None, map(_readable, left))]
        for stored in left:
            if _readable(stored) is None:
                job_of(stored)
        return found

    def forgettings(self) -> list[Job]:
        """All jobs that this store has seen, in the order in which they were begun.

        ``CorruptRecord`` names one that is damaged, or that only a later release can read.
        """
        return [job_of(stored) for stored in self.store.jobs()]

    def reauthorise(
        self, *, because: str, ledger: str | None = None, subject: str | None = None, actor: str | None = None
    ) -> None:
        """Take events of a forgotten ledger, or about a forgotten subject, again. What was forgotten does not come back.

        Raises ``UnknownLedger``, and ``AdmissionRefused`` or ``InvalidInput`` for what was not forgotten.
        """
        if (ledger is None) == (subject is None):
            raise InvalidInput("give either a ledger or a subject to re-authorise", path="ledger")
        reason = checked_reason("because", because)
        if subject is not None:
            check_tags((subject,), ())
            self._reauthorise_subject(subject_mark(self.store.secret, subject), reason, actor)
            return
        self._reauthorise_ledger(ledger or "", reason, actor)

    def _reauthorise_subject(self, subject: bytes, because: str, actor: str | None) -> None:
        """Lift the fence; the job that had raised it keeps why, which is all that is left to tell of it."""
        self._check_complete(lambda job: job.subject == subject.hex(), "subject")
        fenced = self.store.fenced(subject)
        if fenced is None:
            raise InvalidInput("this subject was not forgotten, so it needs no re-authorising", path="subject")
        taken_back = TakenBack(because=because, actor=actor, at=self.clock())
        for stored in self.store.jobs():
            if stored.job == fenced:
                self.store.job_put(replace(job_of(stored), taken_back=taken_back).stored())
        self.store.unfence(subject)

    def _reauthorise_ledger(self, name: str, because: str, actor: str | None) -> None:
        if name.startswith(FORGOTTEN_NAME):
            raise InvalidInput(f"{name!r} is what is left of a name: give the name that the ledger had", path="ledger")
        head = known_head(self.store, name)
        self._check_complete(lambda job: head.ledger.hex() in (*job.ledgers, *job.fences), "ledger")
        last = next((item.event for item in Reader(self.store, head.ledger).governing[::-1]), None)
        if head.name == name or not isinstance(last, e.LedgerReauthorised):  # else only its name is still to be given back
            event = e.LedgerReauthorised(because=because)
            Writer(self.store, head.name, self.clock).execute(r.AppendEvents(events=(event,)), Command(actor=actor))
        self.store.rename(head.ledger, name)

    def _check_complete(self, concerns: Callable[[Job], bool], path: str) -> None:
        """What is still being forgotten cannot be taken back: the rest of the job would undo it."""
        for job in (job_of(stored) for stored in self.store.jobs() if not stored.finished):
            if not job.is_deferred and concerns(job):
                raise InvalidInput(f"job {job.job}, which forgets this {path}, is not complete: resume it first", path=path)

    def retain(self, ledger: str | None = None, *, actor: str | None = None, dry_run: bool = False) -> list[Forgetting]:
        """Erase what is past its retention now, in one ledger or in all; a report for each ledger where there is something.

        A ledger under a legal hold is left as it is, and its report says so.
        """
        heads = self.store.heads() if ledger is None else [known_head(self.store, ledger)]
        found = (self._retain(head, actor=actor, dry_run=dry_run) for head in heads)
        return [forgetting for forgetting in found if forgetting is not None]

    def derives(self, place: DerivedPlace) -> None:
        """Tell the store of something that keeps what was derived from its content.

        From now on a forgetting is complete only when the place has confirmed it, in whatever process it runs.
        """
        self._places[place.name] = place
        self.store.place_put(place.name)

    def no_longer_derives(self, name: str) -> None:
        """Tell the store that a place is gone, with all that it held."""
        self._places.pop(name, None)
        self.store.place_drop(name)

    def _retain(self, head: Head, *, actor: str | None, dry_run: bool) -> Forgetting | None:
        reader = Reader(self.store, head.ledger)
        if not any(isinstance(item.event, e.RetentionSet) for item in reader.governing):
            return None
        marks = due(list(reader.read(Selection(upto=head.version))), reader.governing, self.clock())
        if not marks:
            return None
        rules = tuple(forgotten.reason for forgotten in marks.values())
        wish = Wish(versions=tuple(marks), because=rules)
        job = Job(
            job=f"f_{os.urandom(6).hex()}",
            scope=RETENTION,
            reason="; ".join(sorted(set(rules))),
            actor=actor,
            answers=(),
            wish=wish,
        )
        try:
            planned = plan(self.store, head, wish)
        except LedgerError as error:
            kept = LedgerForgetting(ledger=head.name, version=head.version, items=())
            return Forgetting(
                job=None, scope=job.scope, reason=job.reason, state="incomplete", ledgers=(kept,), problems=(str(error),)
            )
        return _planned(job, [with_answers(planned, ())]) if dry_run else self._begin(job, [head])

    def _begin(self, job: Job, heads: Sequence[Head], *, subject: bytes | None = None) -> Forgetting:
        ledgers = tuple(head.ledger.hex() for head in heads)
        job = replace(job, ledgers=ledgers, subject=None if subject is None else subject.hex())
        self.store.job_put(job.stored())
        return self._carry_out(job)

    def _carry_out(self, job: Job) -> Forgetting:
        return Worker(self.store, self.clock, self._places).carry_out(job)

    def _resume(self) -> None:
        """At opening: carry out what is left of jobs, and say so. No job keeps the store from opening."""
        for stored in self.store.jobs():
            if stored.finished:
                continue
            try:
                told = self._resumed(job_of(stored))
            except LedgerError as error:
                told = ForgettingIncomplete(f"forgetting {stored.job} is not complete: {error}")
            if told is not None:
                warnings.warn(told, stacklevel=4)

    def _resumed(self, job: Job) -> UserWarning | None:
        """Carry out what is left of a job, which another process may be doing as well; what is to be said of it."""
        if job.is_deferred:
            return None
        found = self._carry_out(job)
        if found.state == "complete":
            return ForgettingResumed(f"forgetting {job.job} was not complete; it is now")
        return ForgettingIncomplete(f"forgetting {job.job} is not complete: {'; '.join(found.problems)}")


def _readable(stored: StoredJob) -> Job | None:
    try:
        return job_of(stored)
    except CorruptRecord:
        return None


def _planned(job: Job, plans: Sequence[Plan], problems: tuple[str, ...] = ()) -> Forgetting:
    ledgers = tuple(planned.forgetting for planned in plans)
    return Forgetting(job=None, scope=job.scope, reason=job.reason, state="planned", ledgers=ledgers, problems=problems)


def _scope(wish: Wish, ledger: str | None, subject: str | None) -> e.ForgettingScope:
    """What kind of thing is to be forgotten; exactly one must be given."""
    kinds: dict[e.ForgettingScope, Sequence[Any]] = {
        "turns": wish.turns,
        "facts": wish.facts,
        "artifacts": wish.artifacts,
        "ids": wish.ids,
    }
    given: list[e.ForgettingScope] = [scope for scope, values in kinds.items() if values]
    if subject is not None and not given and ledger is None:
        return "subject"
    if ledger is None or subject is not None:
        raise InvalidInput("give a ledger, with what to forget of it or alone, or a subject", path="ledger")
    if len(given) > 1:
        raise InvalidInput(f"{' and '.join(given)} are given: forget one kind at a time", path=given[1])
    return given[0] if given else "ledger"


def _listed(name: str, values: Iterable[Any] | None) -> tuple[Any, ...]:
    """What a selector names, each once; nothing only where the selector is not given."""
    if values is None:
        return ()
    kind = int if name in ("turns", "answers") else str
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInput(f"{name}={values!r}: give a list", path=name)
    listed = tuple(values)
    for place, value in enumerate(listed):
        if isinstance(value, bool) or not isinstance(value, kind):
            raise InvalidInput(f"{name}[{place}]: {value!r} is no {kind.__name__}", path=f"{name}[{place}]")
    if not listed and name != "answers":
        raise InvalidInput(f"{name} is empty: name what to forget, or leave it out", path=name)
    return tuple(dict.fromkeys(listed))


def _turns(name: str, values: Iterable[int]) -> tuple[int, ...]:
    turns = _listed(name, values)
    for place, turn in enumerate(turns):
        if not 0 < turn <= MAX_TURN:
            raise InvalidInput(f"{name}[{place}]: {turn} is no turn: they are counted from 1", path=f"{name}[{place}]")
    return turns
