"""The command that forgets: what, why, and what became of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import typer

from delivery.app import open_existing_store
from delivery.cli import selecting as s
from delivery.cli.arguments import AsJson
from delivery.cli.forgettings import print_forgettings, print_jobs, print_requests, requests_of
from delivery.cli.printing import one_line, print_json, print_text
from ledger import Ledgers
from ledger.errors import InvalidInput
from projections.wire import to_json


def forget(
    context: typer.Context,
    ledger: s.OneLedger = None,
    *,
    turns: s.Turns = None,
    facts: s.Facts = None,
    artifact: s.Artifacts = None,
    ids: s.Ids = None,
    everything: s.Everything = False,
    subject: s.Subject = None,
    reason: s.Reason = None,
    by: s.By = None,
    answers: s.Answers = None,
    dry_run: s.DryRun = False,
    no_scrub: s.NoScrub = False,
    pending: s.Pending = False,
    decline: s.Decline = None,
    jobs: s.Jobs = False,
    resume: s.Resume = False,
    reauthorise: s.Reauthorise = False,
    as_json: AsJson = False,
) -> None:
    """Forget content for good, with all that rests on it.

    That something was forgotten stays, with when and why. Exit code 1 where there is nothing to forget, or something is left to
    do.
    """
    asked = s.Asked(
        ledger=ledger,
        turns=turns,
        facts=facts,
        artifact=artifact,
        ids=ids,
        all=everything,
        subject=subject,
        reason=reason,
        by=by,
        answers=answers,
        dry_run=dry_run,
        no_scrub=no_scrub,
        pending=pending,
        decline=decline,
        jobs=jobs,
        resume=resume,
        reauthorise=reauthorise,
    )
    way = _WAYS[asked.way]
    with open_existing_store(context.obj) as store:
        is_done = way(store, asked, as_json)
    if not is_done:
        raise typer.Exit(1)


def _forget(store: Ledgers, asked: s.Asked, as_json: bool) -> bool:
    found = store.forget(
        **asked.selectors,
        reason=asked.why,
        actor=asked.by,
        answers=asked.answered,
        dry_run=asked.dry_run,
        scrub=not asked.no_scrub,
    )
    return print_forgettings([found], as_json=as_json, one=True)


def _pending(store: Ledgers, asked: s.Asked, as_json: bool) -> bool:
    names = [head.name for head in store.heads()] if asked.ledger is None else [store.head(asked.ledger).name]
    print_requests([request for name in names for request in requests_of(store, name)], as_json=as_json)
    return True


def _decline(store: Ledgers, asked: s.Asked, as_json: bool) -> bool:
    if asked.ledger is None or asked.decline is None:
        raise InvalidInput("give the ledger in which the user asked: context-ledger forget LEDGER --decline N", path="ledger")
    name = store.head(asked.ledger).name
    declined = store.ledger(name).decline_forgetting(asked.decline, because=asked.why, actor=asked.by)
    if as_json:
        print_json(to_json({"ledger": name, "turn": asked.decline, "version": declined.version}))
    else:
        print_text(f"{one_line(name)}: what turn {asked.decline} asks for is kept, said at version {declined.version}")
    return True


def _jobs(store: Ledgers, _: s.Asked, as_json: bool) -> bool:
    print_jobs(store, as_json=as_json)
    return True


def _resume(store: Ledgers, _: s.Asked, as_json: bool) -> bool:
    found = store.resume_forgetting()
    if not found and not as_json:
        print_text("nothing is left to do")
        return True
    return print_forgettings(found, as_json=as_json)


def _reauthorise(store: Ledgers, asked: s.Asked, as_json: bool) -> bool:
    store.reauthorise(because=asked.why, ledger=asked.ledger, subject=asked.subject, actor=asked.by)
    if as_json:
        known = {"ledger": asked.ledger, "subject": asked.subject}
        print_json(to_json({"reauthorised": {name: text for name, text in known.items() if text is not None}}))
    else:
        what = f"ledger {one_line(asked.ledger)}" if asked.ledger is not None else "events about the subject"
        verb = "takes events" if asked.ledger is not None else "are taken"
        print_text(f"{what} {verb} again; what was forgotten does not come back")
    return True


_WAYS: Final[dict[str, Callable[[Ledgers, s.Asked, bool], bool]]] = {
    "forget": _forget,
    "pending": _pending,
    "decline": _decline,
    "jobs": _jobs,
    "resume": _resume,
    "reauthorise": _reauthorise,
}
"""What can be done, by the option that asks for it; each says whether all of it was done."""
