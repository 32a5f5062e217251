"""Events about somebody: they are found by a mark, and none about a forgotten one is taken."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from ledger.connect import connect
from ledger.errors import SubjectForgotten, VersionConflict
from ledger.marks import subject_mark
from ledger.store import Batch
from tests.contract.batches import LEDGER, batch, draft
from tests.contract.stores import OpenStore
from tests.following.racing import processes

OTHER = b"O" * 16
MARY, JOHN = b"M" * 16, b"J" * 16


def about(subjects: Sequence[bytes], *, expected: int = 0, ledger: bytes = LEDGER, events: int = 1) -> Batch:
    """A batch about somebody."""
    made = batch([draft() for _ in range(events)], expected=expected, name=ledger.hex(), ledger=ledger)
    return replace(made, subjects=subjects)


def test_events_about_a_subject_are_found_in_the_order_of_the_feed(open_store: OpenStore) -> None:
    store = open_store().store
    store.append(about([MARY], ledger=OTHER, events=2))
    store.append(about([MARY, JOHN], events=7))
    store.append(about([], ledger=OTHER, expected=2))
    store.append(about([MARY], ledger=OTHER, expected=3))
    assert store.tagged(MARY) == [
        (OTHER, 1),
        (OTHER, 2),
        *((LEDGER, version) for version in range(1, 8)),
        (OTHER, 4),
    ]
    assert store.tagged(JOHN) == [(LEDGER, version) for version in range(1, 8)]
    assert store.tagged(b"?" * 16) == []


def test_what_is_refused_leaves_no_tags(open_store: OpenStore) -> None:
    store = open_store().store
    with pytest.raises(VersionConflict):
        store.append(about([MARY], expected=5))
    assert store.tagged(MARY) == []


@pytest.mark.parametrize("events", [1, 7])
def test_a_fence_refuses_what_is_about_a_forgotten_subject(open_store: OpenStore, events: int) -> None:
    store = open_store().store
    mark = subject_mark(store.secret, "mary")
    store.append(about([mark]))
    store.fence(mark, "job-1")
    for ledger, expected in ((LEDGER, 1), (OTHER, 0)):
        with pytest.raises(SubjectForgotten) as caught:
            store.append(about([JOHN, mark], ledger=ledger, expected=expected, events=events))
        assert caught.value.job == "job-1"
        assert "job-1" in str(caught.value)
        assert mark.hex() not in str(caught.value)
    assert [(head.ledger, head.version) for head in store.heads()] == [(LEDGER, 1)]
    assert store.tagged(mark) == [(LEDGER, 1)]
    assert store.tagged(JOHN) == []
    store.append(about([JOHN], expected=1, events=events))
    store.append(about([], expected=1 + events))


def test_a_fence_may_be_set_and_taken_away_again(open_store: OpenStore) -> None:
    store = open_store().store
    assert store.fenced(MARY) is None
    assert store.unfence(MARY) is False
    store.fence(MARY, "job-1")
    store.fence(MARY, "job-2")
    store.fence(JOHN, "job-3")
    assert (store.fenced(MARY), store.fenced(JOHN)) == ("job-1", "job-3")
    assert store.unfence(MARY) is True
    assert store.unfence(MARY) is False
    assert (store.fenced(MARY), store.fenced(JOHN)) == (None, "job-3")
    assert store.append(about([MARY]))[0].version == 1


def append_until_refused(address: str, who: int) -> list[tuple[bytes, int]]:
    """In a process of its own: events about Mary until a fence refuses them; what was acknowledged."""
    ledger, done = bytes([who]) * 16, list[tuple[bytes, int]]()
    with connect(address) as ledgers:
        while len(done) < 100_000:
            try:
                made = ledgers.store.append(about([MARY], ledger=ledger, expected=len(done), events=300))
            except SubjectForgotten:
                return done
            done += [(ledger, envelope.version) for envelope in made]
    raise AssertionError("nothing refused it")


def test_no_append_slips_past_a_fence(open_shared: OpenStore) -> None:
    """What several processes were told is stored is found as soon as the fence stands; afterwards nothing is added.

    Their batches are large, so that there is always one under way.
    """
    store = open_shared().store
    with processes(6) as pool:
        writing = pool.starmap_async(append_until_refused, [(open_shared.address, who) for who in range(6)])
        while len(store.heads()) < 6:
            assert not writing.ready()
        store.fence(MARY, "job-1")
        found = store.tagged(MARY)
        acknowledged = [place for places in writing.get(timeout=60) for place in places]
    assert sorted(found) == sorted(acknowledged)
    assert store.tagged(MARY) == found
    assert dict(found) == {head.ledger: head.version for head in store.heads()}


def test_a_fence_returns_while_others_go_on_writing(open_store: OpenStore) -> None:
    """Neither untagged appends nor those about others keep it waiting."""
    store, stopped = open_store().store, threading.Event()

    def write(who: int) -> None:
        version = 0
        while not stopped.is_set():
            store.append(about([JOHN] if who % 2 else [], ledger=bytes([who]) * 16, expected=version))
            version += 1

    threads = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    try:
        for number in range(10):
            store.fence(os.urandom(16), f"job-{number}")
    finally:
        stopped.set()
        for thread in threads:
            thread.join()
    assert len(store.heads()) == 4
