"""What a forgetting would erase, in every ledger that it is about."""

from __future__ import annotations

from collections.abc import Sequence

from ledger.codec import check_tags
from ledger.errors import NothingToForget, OnHold
from ledger.forgetting import Plan, Wish, plan
from ledger.given import known_head
from ledger.holds import check_hold
from ledger.marks import subject_mark
from ledger.reading import Reader
from ledger.store import Store


def plans_for(store: Store, wish: Wish, ledger: str | None, subject: str | None) -> list[Plan]:
    """The plan for a wish in a ledger, or the plans for a subject in all ledgers that have events about it.

    Raises ``NothingToForget``, ``UnknownLedger``, ``InvalidInput``, and ``OnHold`` if every ledger is under a legal hold.
    """
    if subject is None:
        return [plan(store, known_head(store, ledger or ""), wish)]
    check_tags((subject,), ())
    plans = _plans_about(store, subject_mark(store.secret, subject))
    if len(holds_on(store, plans)) == len(plans):
        _check_hold(store, plans[0])
    return plans


def holds_on(store: Store, plans: Sequence[Plan]) -> tuple[str, ...]:
    """Which of the ledgers are under a legal hold, and why."""
    problems: list[str] = []
    for planned in plans:
        try:
            _check_hold(store, planned)
        except OnHold as error:
            problems.append(str(error))
    return tuple(problems)


def _check_hold(store: Store, planned: Plan) -> None:
    check_hold(Reader(store, planned.head.ledger).governing, planned.head)


def _plans_about(store: Store, subject: bytes) -> list[Plan]:
    versions: dict[bytes, list[int]] = {}
    for found, version in store.tagged(subject):
        versions.setdefault(found, []).append(version)
    plans: list[Plan] = []
    for head in store.heads():
        if head.ledger in versions:
            try:
                plans.append(plan(store, head, Wish(versions=versions[head.ledger]), though_held=True))
            except NothingToForget:
                continue  # forgotten already, and not swept yet because of a hold: in the other ledgers it is not
    if not plans:
        job = store.fenced(subject)
        told = "no event is about this subject" if job is None else f"this subject was forgotten already, by job {job}"
        raise NothingToForget(f"{told}: subjects are given as they were when events were appended", job=job)
    return plans
