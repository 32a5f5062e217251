"""What a store promises to those who forget: sweeps, scrubs, jobs and places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from ledger.connect import connect
from ledger.erasing import Holdings, StoredJob, Sweep, Swept
from ledger.errors import VersionConflict
from ledger.marks import forgotten_name
from ledger.record import Envelope
from ledger.store import GOVERNING_TYPES, Selection, Store
from tests.contract.at_once import at_once
from tests.contract.batches import LEDGER, batch, draft
from tests.contract.stores import OpenStore
from tests.following.racing import processes

OTHER = b"O" * 16
MARY, JOHN = b"M" * 16, b"J" * 16
NOTHING = Swept(payloads=0, blobs=0, tags=0, derived=0)


def filled(open_store: OpenStore, count: int, **given: object) -> tuple[Store, list[Envelope]]:
    """A store with one ledger of so many events."""
    store = open_store().store
    made = batch([draft(b"content %d" % place, turn=place) for place in range(1, count + 1)])
    return store, store.append(replace(made, **given))  # type: ignore[arg-type]


def erased(store: Store, **selection: object) -> list[int]:
    """The versions without content; none has only half of it."""
    rows = list(store.read(LEDGER, Selection(**selection)))  # type: ignore[arg-type]
    assert all((row.payload is None) == (row.salt is None) for row in rows)
    return [row.envelope.version for row in rows if row.payload is None]


def test_a_sweep_takes_content_and_leaves_envelopes(open_store: OpenStore) -> None:
    store, envelopes = filled(open_store, 6)
    assert store.sweep(Sweep(LEDGER, fence=7, versions=[5, 2, 4])).payloads == 3
    assert erased(store) == [2, 4, 5]
    assert erased(store, newest_first=True) == [5, 4, 2]
    assert erased(store, turn=4) == [4]
    rows = list(store.read(LEDGER, Selection()))
    assert [row.envelope for row in rows] == envelopes
    assert [row.payload for row in rows] == [b"content 1", None, b"content 3", None, None, b"content 6"]
    assert store.feed(after=0, limit=99) == rows
    assert store.feed(after=envelopes[2].position, limit=2) == rows[3:5]
    assert store.last_position() == envelopes[-1].position
    assert store.append(batch([draft()], expected=6))[0].version == 7


def test_reads_longer_than_a_page_of_erased_events(open_store: OpenStore) -> None:
    store, envelopes = filled(open_store, 2_500)
    store.sweep(Sweep(LEDGER, fence=2_501, versions=range(1, 2_401)))
    assert erased(store) == list(range(1, 2_401))
    assert [row.envelope for row in store.read(LEDGER, Selection())] == envelopes
    assert [row.envelope for row in store.read(LEDGER, Selection(newest_first=True))] == envelopes[::-1]
    positions, after = [], 0
    while page := store.feed(after=after, limit=700):
        positions += [row.envelope.position for row in page]
        after = positions[-1]
    assert positions == [envelope.position for envelope in envelopes]


def test_a_hundred_thousand_versions_go_at_once(open_store: OpenStore) -> None:
    """Every other event, so that they are no range; what is between them stays."""
    store = open_store().store
    drafts = [draft()] * 50_000
    for start in range(0, 200_000, 50_000):
        store.append(replace(batch(drafts, expected=start), subjects=[MARY] if start == 0 else []))
    swept = store.sweep(Sweep(LEDGER, fence=200_001, versions=range(2, 200_001, 2)))
    assert swept == Swept(payloads=100_000, blobs=0, tags=25_000, derived=0)
    assert erased(store, upto=2_000) == list(range(2, 2_001, 2))
    assert erased(store, after=198_000) == list(range(198_002, 200_001, 2))
    assert len(store.tagged(MARY)) == 25_000


def test_a_sweep_counts_what_went_and_may_be_done_again(open_store: OpenStore) -> None:
    store, _ = filled(open_store, 4, subjects=[MARY, JOHN], blobs={"ab" * 32: b"page", "cd" * 32: b"other"})
    store.derived_put(LEDGER, "segment", "1", b"derived", erasures=0)
    store.derived_put(LEDGER, "segment", "2", b"derived", erasures=0)
    store.derived_put(LEDGER, "count", "1", b"derived", erasures=0)
    assert store.holdings(LEDGER) == Holdings(blobs=("ab" * 32, "cd" * 32), derived={"count": 1, "segment": 2})
    sweep = Sweep(LEDGER, fence=5, versions=[1, 3], blobs=["ab" * 32])
    assert store.sweep(sweep) == Swept(payloads=2, blobs=1, tags=4, derived=3)
    assert store.holdings(LEDGER) == Holdings(blobs=("cd" * 32,), derived={})
    assert store.sweep(sweep) == NOTHING
    assert erased(store) == [1, 3]
    assert store.tagged(MARY) == store.tagged(JOHN) == [(LEDGER, 2), (LEDGER, 4)]
    assert (store.blob(LEDGER, "ab" * 32), store.blob(LEDGER, "cd" * 32)) == (None, b"other")


def test_a_sweep_of_what_is_not_there(open_store: OpenStore) -> None:
    store, _ = filled(open_store, 2)
    assert store.sweep(Sweep(OTHER, fence=1, versions=[1, 2], blobs=["ab" * 32], name="x")) == NOTHING
    assert store.sweep(Sweep(LEDGER, fence=3, versions=[3, 99], blobs=["ab" * 32])) == NOTHING
    assert store.sweep(Sweep(LEDGER, fence=3, versions=[])) == NOTHING
    assert erased(store) == []
    assert [head.name for head in store.heads()] == ["case"]
    assert store.holdings(OTHER) == Holdings(blobs=(), derived={})


def test_a_sweep_stays_in_its_ledger(open_store: OpenStore) -> None:
    store, _ = filled(open_store, 2, blobs={"ab" * 32: b"page"}, subjects=[MARY])
    other = replace(batch([draft(b"kept")] * 2, name="other", ledger=OTHER), blobs={"ab" * 32: b"page"}, subjects=[MARY])
    store.append(other)
    store.derived_put(OTHER, "segment", "1", b"derived", erasures=0)
    store.sweep(Sweep(LEDGER, fence=3, versions=[1, 2], blobs=["ab" * 32]))
    assert [row.payload for row in store.read(OTHER, Selection())] == [b"kept"] * 2
    assert store.blob(OTHER, "ab" * 32) == b"page"
    assert store.derived_get(OTHER, "segment", "1") == b"derived"
    assert store.tagged(MARY) == [(OTHER, 1), (OTHER, 2)]
    assert [head.erasures for head in store.heads()] == [1, 0]


def test_a_blob_that_was_stored_again_after_the_fence_stays(open_store: OpenStore) -> None:
    store, _ = filled(open_store, 2, blobs={"ab" * 32: b"page", "cd" * 32: b"other"})
    store.append(batch([draft(kind="content.forgotten")], expected=2))
    store.append(replace(batch([draft()], expected=3), blobs={"ab" * 32: b"page"}))
    assert store.sweep(Sweep(LEDGER, fence=3, versions=[1, 2], blobs=["ab" * 32, "cd" * 32])).blobs == 1
    assert store.blob(LEDGER, "ab" * 32) == b"page"
    assert store.blob(LEDGER, "cd" * 32) is None
    assert store.sweep(Sweep(LEDGER, fence=5, versions=[4], blobs=["ab" * 32])).blobs == 1
    store.append(replace(batch([draft()], expected=4), blobs={"ab" * 32: b"page"}))
    assert store.blob(LEDGER, "ab" * 32) == b"page"


def test_a_blob_stays_or_is_stored_again_however_a_sweep_and_an_append_meet(open_store: OpenStore) -> None:
    """Whichever comes first, what the append acknowledged is there."""
    store, _ = filled(open_store, 1, blobs={"ab" * 32: b"page"})
    for version in range(1, 30):
        again = replace(batch([draft()], expected=version), blobs={"ab" * 32: b"page"})
        sweep = Sweep(LEDGER, fence=version, versions=[version], blobs=["ab" * 32])
        meeting: list[Callable[[], object]] = [partial(store.append, again), partial(store.sweep, sweep)]
        at_once(meeting)
        assert store.blob(LEDGER, "ab" * 32) == b"page"


def test_a_command_is_known_although_its_content_was_erased(open_store: OpenStore) -> None:
    store, _ = filled(open_store, 1, command=b"c" * 16)
    store.sweep(Sweep(LEDGER, fence=2, versions=[1]))
    with pytest.raises(VersionConflict):
        store.append(batch([draft()], command=b"c" * 16, expected=1))


def test_what_was_derived_before_a_sweep_is_not_kept_after_it(open_store: OpenStore) -> None:
    store, _ = filled(open_store, 2)
    before = store.head("case")
    assert before is not None
    assert store.derived_put(LEDGER, "segment", "1", b"old", erasures=before.erasures)
    assert store.sweep(Sweep(LEDGER, fence=3, versions=[1])).derived == 1
    assert store.derived_get(LEDGER, "segment", "1") is None
    assert not store.derived_put(LEDGER, "segment", "1", b"old", erasures=before.erasures)
    after = store.head("case")
    assert after is not None
    assert after == replace(before, erasures=before.erasures + 1)
    assert store.derived_put(LEDGER, "segment", "1", b"new", erasures=after.erasures)
    assert store.derived_get(LEDGER, "segment", "1") == b"new"


def erasures_of(address: str, name: str) -> int:
    """In a process of its own: the count of erasures that it reads."""
    with connect(address) as ledgers:
        head = ledgers.store.head(name)
        assert head is not None
        return head.erasures


def derive(address: str, erasures: int) -> bool:
    """In a process of its own: keep what was derived at that count."""
    with connect(address) as ledgers:
        return ledgers.store.derived_put(LEDGER, "segment", "1", b"old", erasures=erasures)


def test_another_process_cannot_keep_what_it_derived_before_a_sweep(open_shared: OpenStore) -> None:
    store, _ = filled(open_shared, 2)
    with processes(1) as pool:
        erasures = pool.apply(erasures_of, (open_shared.address, "case"))
        assert pool.apply(derive, (open_shared.address, erasures)) is True
        store.sweep(Sweep(LEDGER, fence=3, versions=[1]))
        assert pool.apply(derive, (open_shared.address, erasures)) is False
    assert store.derived_get(LEDGER, "segment", "1") is None


def test_nothing_derived_outlives_a_sweep_that_it_raced(open_store: OpenStore) -> None:
    store, _ = filled(open_store, 1)
    for erasures in range(15):
        racing: list[Callable[[], object]] = [
            partial(store.derived_put, LEDGER, "segment", str(who), b"old", erasures=erasures) for who in range(4)
        ]
        racing.append(partial(store.sweep, Sweep(LEDGER, fence=2, versions=[1])))
        at_once(racing)
        assert store.holdings(LEDGER).derived == {}


def test_a_forgotten_ledger_is_found_by_the_name_that_it_had(open_store: OpenStore) -> None:
    store, _ = filled(open_store, 3)
    hidden = forgotten_name(store.secret, "case")
    sweep = Sweep(LEDGER, fence=4, versions=[1, 2, 3], name=hidden)
    assert store.sweep(sweep).payloads == 3
    assert store.sweep(sweep) == NOTHING
    found = store.head("case")
    assert found is not None
    assert (found.name, found.ledger, found.version) == (hidden, LEDGER, 3)
    assert store.head(hidden) == found
    assert store.heads() == [found]
    assert store.head("another") is None


def test_the_name_of_a_forgotten_ledger_is_not_free(open_store: OpenStore) -> None:
    store, _ = filled(open_store, 3)
    store.sweep(Sweep(LEDGER, fence=4, versions=[1], name=forgotten_name(store.secret, "case")))
    for ledger in (OTHER, LEDGER):
        with pytest.raises(VersionConflict) as caught:
            store.append(batch([draft()], ledger=ledger))
        assert (caught.value.expected, caught.value.actual) == (0, 3)
    assert len(store.heads()) == 1
    for place, name in enumerate(("case", forgotten_name(store.secret, "case"))):
        store.append(batch([draft()], name=name, expected=3 + place))
    assert store.append(batch([draft()], name="another", ledger=OTHER))[0].version == 1


def test_a_ledger_gets_its_name_back(open_store: OpenStore) -> None:
    store, _ = filled(open_store, 1)
    store.sweep(Sweep(LEDGER, fence=2, versions=[1], name=forgotten_name(store.secret, "case")))
    for _ in range(2):
        store.rename(LEDGER, "case")
        assert [head.name for head in store.heads()] == ["case"]
    store.rename(OTHER, "no such ledger")
    assert [head.name for head in store.heads()] == ["case"]
    assert store.append(batch([draft()], expected=1))[0].version == 2


def test_jobs_are_kept_in_the_order_in_which_they_began(open_store: OpenStore) -> None:
    store = open_store().store
    assert store.jobs() == []
    names = ["b", "a", "c"]
    for name in names:
        store.job_put(StoredJob(name, b"begun", finished=False))
    for name in ("a", "b", "b"):
        store.job_put(StoredJob(name, b"\0done", finished=True))
    store.job_put(StoredJob("d", b"", finished=False))
    expected = [
        StoredJob("b", b"\0done", finished=True),
        StoredJob("a", b"\0done", finished=True),
        StoredJob("c", b"begun", finished=False),
        StoredJob("d", b"", finished=False),
    ]
    assert store.jobs() == expected
    assert [type(job.finished) for job in store.jobs()] == [bool] * 4


def test_places_are_remembered_until_they_are_gone(open_store: OpenStore) -> None:
    store = open_store().store
    assert store.places() == []
    for place in ("views: täglich", "export", "export"):
        store.place_put(place)
    assert store.places() == open_store().store.places() == ["export", "views: täglich"]
    for _ in range(2):
        store.place_drop("export")
    assert store.places() == ["views: täglich"]


def test_scrubbing_changes_nothing_that_is_kept(open_store: OpenStore) -> None:
    store, _ = filled(open_store, 3, blobs={"ab" * 32: b"page", "cd" * 32: b"other"}, subjects=[MARY])
    store.job_put(StoredJob("job", b"state", finished=False))
    store.place_put("place")
    store.fence(JOHN, "job")
    store.sweep(Sweep(LEDGER, fence=4, versions=[2], blobs=["cd" * 32]))
    store.derived_put(LEDGER, "segment", "1", b"derived", erasures=1)

    def kept() -> list[object]:
        return [
            list(store.read(LEDGER, Selection())),
            store.heads(),
            store.holdings(LEDGER),
            store.blob(LEDGER, "ab" * 32),
            store.derived_get(LEDGER, "segment", "1"),
            store.tagged(MARY),
            store.fenced(JOHN),
            store.jobs(),
            store.places(),
        ]

    before = kept()
    store.scrub()
    store.scrub()
    assert kept() == before
    assert store.append(batch([draft()], expected=3, blobs={"cd" * 32: b"other"}))[0].version == 4


def test_what_governs_a_ledger_is_found_among_much_else(open_store: OpenStore) -> None:
    store = open_store().store
    kinds = [kind for governing in GOVERNING_TYPES for kind in (governing, "turn.recorded", "fact.set", "tool.returned")]
    store.append(batch([draft(kind=kind) for kind in kinds]))
    found = [row.envelope.type for row in store.read(LEDGER, Selection(kind="governing"))]
    assert found == list(GOVERNING_TYPES)
    newest = [row.envelope.type for row in store.read(LEDGER, Selection(kind="governing", newest_first=True, limit=2))]
    assert newest == list(GOVERNING_TYPES[:-3:-1])
