"""What an append promises: order, numbers, time, and all or nothing."""

from __future__ import annotations

import hashlib
from itertools import pairwise

import pytest

from ledger.errors import StoreError, VersionConflict
from ledger.store import Draft, Selection
from tests.contract.batches import LEDGER, batch, draft
from tests.contract.stores import OpenStore


def test_versions_have_no_gaps_and_positions_rise(open_store: OpenStore) -> None:
    store = open_store().store
    envelopes = []
    for expected, count in ((0, 1), (1, 3), (4, 2)):
        envelopes += store.append(batch([draft()] * count, expected=expected))
    assert [one.version for one in envelopes] == [1, 2, 3, 4, 5, 6]
    assert [one.ordinal for one in envelopes] == [0, 0, 1, 2, 0, 1]
    assert all(earlier.position < later.position for earlier, later in pairwise(envelopes))


def test_what_is_returned_is_what_is_stored(open_store: OpenStore) -> None:
    store = open_store().store
    drafts = [draft(b'{"a":1}', turn=1), draft(b"\x00\xff\xfe not even text", kind="later.kind", turn=None)]
    returned = store.append(batch(drafts))
    stored = list(open_store().store.read(LEDGER, Selection()))
    assert [row.envelope for row in stored] == returned
    assert [(row.payload, row.salt, row.envelope.commitment) for row in stored] == [
        (one.payload, one.salt, one.commitment) for one in drafts
    ]


@pytest.mark.parametrize("expected", [0, 1, 3, 4])
def test_a_stale_or_future_expectation_is_a_conflict_and_writes_nothing(open_store: OpenStore, expected: int) -> None:
    store = open_store().store
    store.append(batch([draft(), draft()]))
    with pytest.raises(VersionConflict) as caught:
        store.append(batch([draft()], expected=expected))
    assert (caught.value.expected, caught.value.actual) == (expected, 2)
    assert [one.envelope.version for one in store.read(LEDGER, Selection())] == [1, 2]


def test_a_new_ledger_must_be_new(open_store: OpenStore) -> None:
    store = open_store().store
    store.append(batch([draft()]))
    with pytest.raises(VersionConflict):
        store.append(batch([draft()], ledger=b"M" * 16))
    assert len(store.heads()) == 1
    assert len(store.feed(after=0, limit=10)) == 1


def test_an_append_to_a_ledger_that_is_not_there_is_a_conflict(open_store: OpenStore) -> None:
    store = open_store().store
    with pytest.raises(VersionConflict):
        store.append(batch([draft()], expected=1))
    assert store.heads() == []


def test_a_command_is_stored_once(open_store: OpenStore) -> None:
    store = open_store().store
    store.append(batch([draft(), draft()], command=b"c" * 16))
    with pytest.raises(VersionConflict):
        store.append(batch([draft()], expected=2, command=b"c" * 16))
    assert store.append(batch([draft()], expected=2, command=b"d" * 16))[0].version == 3


def test_the_same_command_in_two_ledgers_is_two_commands(open_store: OpenStore) -> None:
    store = open_store().store
    for name, ledger in (("one", b"1" * 16), ("two", b"2" * 16)):
        assert store.append(batch([draft()], name=name, ledger=ledger, command=b"c" * 16))[0].version == 1


def test_time_never_goes_back_inside_a_ledger(open_store: OpenStore) -> None:
    store = open_store().store
    clock = [500, 400, 499, 501, 0, 501]
    times = [
        store.append(batch([draft(), draft()], expected=2 * place, recorded_at=now))[0].recorded_at
        for place, now in enumerate(clock)
    ]
    assert times == [500, 500, 500, 501, 501, 501]
    stored = [row.envelope.recorded_at for row in store.read(LEDGER, Selection())]
    assert stored == sorted(stored)


def test_another_ledger_has_its_own_time(open_store: OpenStore) -> None:
    store = open_store().store
    store.append(batch([draft()], name="late", ledger=b"1" * 16, recorded_at=900))
    assert store.append(batch([draft()], name="early", recorded_at=100))[0].recorded_at == 100


def test_handles_with_clocks_that_disagree(open_store: OpenStore) -> None:
    fast, slow = open_store(lambda: 9_000).ledger("case"), open_store(lambda: 1_000).ledger("case")
    fast.record_turn("user", "first")
    slow.record_turn("assistant", "second")
    times = [one.envelope.recorded_at for one in slow.events()]
    assert times == [9_000, 9_000]


def broken_draft() -> Draft:
    """A draft whose salt no store accepts, to make an append fail in its middle."""
    return Draft("turn.recorded", 1, None, b"{}", b"short", b"c" * 32)


def test_a_draft_that_fails_in_the_middle_leaves_nothing(open_store: OpenStore) -> None:
    store = open_store().store
    content = b"a page"
    blobs = {hashlib.sha256(content).hexdigest(): content}
    with pytest.raises(StoreError):
        store.append(batch([draft(), broken_draft(), draft()], blobs=blobs))
    assert store.heads() == []
    assert store.feed(after=0, limit=10) == []
    assert store.blob(LEDGER, next(iter(blobs))) is None
    assert store.append(batch([draft()]))[0].version == 1


def test_a_failure_in_an_existing_ledger_leaves_it_as_it_was(open_store: OpenStore) -> None:
    store = open_store().store
    (first,) = store.append(batch([draft()]))
    with pytest.raises(StoreError):
        store.append(batch([*[draft()] * 5, broken_draft()], expected=1))
    (second,) = store.append(batch([draft()], expected=1))
    assert second.version == 2
    assert second.position > first.position
    assert len(store.feed(after=0, limit=10)) == 2


def test_three_thousand_events_in_one_batch(open_store: OpenStore) -> None:
    store = open_store().store
    envelopes = store.append(batch([draft(b"%d" % number) for number in range(3_000)]))
    assert [one.version for one in envelopes] == list(range(1, 3_001))
    assert [row.payload for row in store.read(LEDGER, Selection())] == [b"%d" % number for number in range(3_000)]


def test_twenty_megabytes_in_one_batch(open_store: OpenStore) -> None:
    store = open_store().store
    payloads = [bytes([number % 251]) * 1_000_000 for number in range(20)]
    content = hashlib.sha256(b"seed").digest() * 100_000
    sha256 = hashlib.sha256(content).hexdigest()
    store.append(batch([draft(payload) for payload in payloads], blobs={sha256: content}))
    assert [row.payload for row in store.read(LEDGER, Selection())] == payloads
    assert store.blob(LEDGER, sha256) == content


def test_an_empty_payload_and_one_that_cannot_be_packed(open_store: OpenStore) -> None:
    store = open_store().store
    noise = b"".join(hashlib.sha256(b"%d" % number).digest() for number in range(1_000))
    store.append(batch([draft(b""), draft(noise)]))
    assert [row.payload for row in store.read(LEDGER, Selection())] == [b"", noise]
