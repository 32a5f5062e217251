"""What stores promise of what is derived: rows by ranges of keys, views side by side, and what a sweep purges."""

from __future__ import annotations

import multiprocessing
from functools import partial

import pytest

from ledger.connect import connect
from ledger.deriving import EVERYWHERE, Derived, FollowedView, News, Scan
from ledger.erasing import Sweep
from ledger.store import Selection, Store
from tests.contract.at_once import at_once
from tests.contract.batches import LEDGER, batch, draft
from tests.contract.stores import OpenStore

OTHER = b"O" * 16
NASTY = ("a%", "a_", "a%'", 'a"; DROP TABLE derived; --', "a\\", "aé", "a\ud7ff", "a\U0010ffff", "a\U0010ffffb", "b", "aa", "a")
NONE: frozenset[bytes] = frozenset()


def filled(open_store: OpenStore) -> Store:
    """A store of two ledgers, of three events each."""
    store = open_store().store
    for name, ledger in (("case", LEDGER), ("other", OTHER)):
        store.append(batch([draft(turn=1), draft(kind="fact.set"), draft(turn=2)], name=name, ledger=ledger))
    return store


def keys(found: Scan) -> list[str]:
    """The keys of a scan."""
    return [row.key for row in found.rows]


def test_many_rows_are_kept_at_once(open_store: OpenStore) -> None:
    store = filled(open_store)
    assert store.derived_put_many(LEDGER, "index", {"b": b"2", "a": b"\0", "c": b""}, erasures=0)
    assert store.derived_put_many(LEDGER, "index", {"b": b"again"}, erasures=0)
    rows = [Derived(LEDGER, "a", b"\0"), Derived(LEDGER, "b", b"again"), Derived(LEDGER, "c", b"")]
    assert open_store().store.derived_scan("index", "") == Scan(rows, NONE)
    assert store.derived_put_many(LEDGER, "index", {}, erasures=0)


def test_none_of_many_is_kept_from_before_an_erasure(open_store: OpenStore) -> None:
    store = filled(open_store)
    assert not store.derived_put_many(LEDGER, "index", {"a": b"1", "b": b"2"}, erasures=1)
    assert not store.derived_put_many(b"?" * 16, "index", {"a": b"1", "b": b"2"}, erasures=0)
    assert store.derived_scan("index", "").rows == []


@pytest.mark.parametrize("prefix", NASTY)
def test_a_prefix_is_taken_as_it_is(open_store: OpenStore, prefix: str) -> None:
    store = filled(open_store)
    assert store.derived_put_many(LEDGER, "index", dict.fromkeys(NASTY, b""), erasures=0)
    assert store.derived_put_many(LEDGER, "index%", dict.fromkeys(NASTY, b""), erasures=0)
    assert keys(store.derived_scan("index", prefix)) == sorted(key for key in NASTY if key.startswith(prefix))


def test_ranges_orders_and_limits(open_store: OpenStore) -> None:
    store = filled(open_store)
    store.derived_put_many(LEDGER, "index", {f"k{number}": b"" for number in range(6)}, erasures=0)
    store.derived_put_many(OTHER, "index", {"k2": b"other", "l": b""}, erasures=0)
    scan = partial(store.derived_scan, "index", "k")
    assert keys(scan(ledger=LEDGER, after="k1", before="k4")) == ["k2", "k3"]
    assert keys(scan(ledger=LEDGER, before="k4", newest_first=True, limit=2)) == ["k3", "k2"]
    assert keys(scan(after="k4")) == ["k5"]
    assert sorted((row.ledger, row.key) for row in scan(after="k1", before="k3").rows) == [(LEDGER, "k2"), (OTHER, "k2")]
    assert keys(scan(ledger=b"?" * 16)) == []
    assert len(scan(limit=3).rows) == 3


def test_the_first_kind_of_a_view_is_in_force_and_the_next_is_built_beside_it(open_store: OpenStore) -> None:
    store = filled(open_store)
    assert store.views("facts") == []
    for kind in ("facts/1", "facts/2", "facts/1"):
        store.view_begin("facts", kind)
    store.view_begin("others", "others/1")
    store.view_advance("facts/1", 7)
    store.view_advance("facts/1", 3)
    begun = [FollowedView("facts", "facts/1", "active", 7), FollowedView("facts", "facts/2", "building", 0)]
    assert store.views("facts") == begun
    store.derived_put_many(LEDGER, "facts/1", {"a": b"old"}, erasures=0)
    assert store.view_purge("facts/1") == 0
    store.view_switch("facts/2")
    assert [(one.kind, one.state) for one in store.views("facts")] == [("facts/1", "retired"), ("facts/2", "active")]
    assert [one.state for one in store.views("others")] == ["active"]
    assert EVERYWHERE in store.derived_scan("facts/1", "a").purged
    assert EVERYWHERE in store.derived_scan("facts/1", "a", ledger=LEDGER).purged
    assert store.derived_scan("facts/2", "a").purged == NONE
    assert store.view_purge("facts/1") == 1
    store.view_switch("facts/1")
    assert [one.state for one in store.views("facts")] == ["retired", "active"]


def test_a_sweep_says_of_which_views_its_rows_are_gone(open_store: OpenStore) -> None:
    store = filled(open_store)
    for kind in ("facts/1", "facts/2"):
        store.view_begin("facts", kind)
    for ledger, kind in ((LEDGER, "facts/1"), (OTHER, "facts/1"), (OTHER, "facts/2"), (LEDGER, "segment")):
        store.derived_put_many(ledger, kind, {"a": b"1", "b": b"2"}, erasures=0)
    assert store.sweep(Sweep(LEDGER, fence=3, versions=[2])).derived == 4
    assert (store.view_purged("facts/1"), store.view_purged("facts/2"), store.view_purged("segment")) == ([LEDGER], [], [])
    found = store.derived_scan("facts/1", "a")
    assert ([row.ledger for row in found.rows], found.purged) == ([OTHER], frozenset({LEDGER}))
    assert store.derived_scan("facts/1", "a", ledger=LEDGER) == Scan([], frozenset({LEDGER}))
    assert store.derived_scan("facts/1", "a", ledger=OTHER).purged == NONE
    assert not store.view_restored("facts/1", LEDGER, erasures=0)
    assert store.view_purged("facts/1") == [LEDGER]
    assert store.view_restored("facts/1", LEDGER, erasures=1)
    assert (store.view_purged("facts/1"), store.derived_scan("facts/1", "a").purged) == ([], NONE)


def test_news_are_the_events_that_are_no_turns(open_store: OpenStore) -> None:
    store = filled(open_store)
    facts = [row.envelope for row in store.feed(after=0, limit=9) if row.envelope.type == "fact.set"]
    expected = [News(envelope.position, envelope.ledger) for envelope in facts]
    assert store.news(after=0, limit=9) == expected
    assert store.news(after=0, limit=1) == expected[:1]
    assert store.news(after=expected[0].position, limit=9) == expected[1:]
    assert store.newest_position() == store.last_position() == store.feed(after=0, limit=9)[-1].envelope.position


def test_named_versions_and_envelopes_alone(open_store: OpenStore) -> None:
    store = open_store().store
    assert (store.envelope(LEDGER, Selection()), store.newest_position(), store.news(after=0, limit=1)) == (None, 0, [])
    store.append(batch([draft(turn=turn) for turn in range(1, 2_501)]))
    store.append(batch([draft(kind="fact.set", turn=9), draft(), draft(kind="tool.returned", turn=9)], expected=2_500))
    wanted = [7, *range(1, 2_400, 2), 2_501, 9_999, 7]
    expected = sorted(set(wanted) - {9_999})
    assert [row.envelope.version for row in store.read(LEDGER, Selection(versions=wanted))] == expected
    newest = Selection(versions=tuple(wanted), newest_first=True, limit=3, after=5)
    assert [row.envelope.version for row in store.read(LEDGER, newest)] == [2_501, 2_399, 2_397]
    assert [row.envelope.version for row in store.read(LEDGER, Selection(versions=wanted, kind="others"))] == [2_501]
    assert list(store.read(LEDGER, Selection(versions=()))) == []
    in_a_row = range(700, 1_900)
    for asked, found in (
        (Selection(versions=in_a_row), in_a_row),
        (Selection(versions=[703, *in_a_row[:3], 701]), range(700, 704)),
        (Selection(versions=in_a_row, after=1_100, upto=1_897, limit=3), range(1_101, 1_104)),
        (Selection(versions=in_a_row, after=500, upto=1_897, limit=2, newest_first=True), (1_897, 1_896)),
        (Selection(versions=range(2_400, 2_504), kind="others"), (2_501,)),
        (Selection(versions=[12]), (12,)),
        (Selection(versions=range(9_000, 9_009)), ()),
    ):
        assert [row.envelope.version for row in store.read(LEDGER, asked)] == [*found]
    last = store.envelope(LEDGER, Selection(kind="numbered", newest_first=True))
    assert (last and last.turn, store.envelope(LEDGER, Selection(after=9_999))) == (2_500, None)
    assert store.envelope(LEDGER, Selection(after=4)) == next(store.read(LEDGER, Selection(after=4))).envelope


def test_a_ledger_is_known_by_its_id(open_store: OpenStore) -> None:
    store = filled(open_store)
    assert store.head_of(LEDGER) == store.head("case")
    assert store.head_of(b"?" * 16) is None


def test_who_keep_the_same_rows_at_once_do_not_disturb_each_other(open_store: OpenStore) -> None:
    store = filled(open_store)
    store.view_begin("facts", "facts/1")
    rows = {f"k{number:03}": b"same" for number in range(300)}
    backwards = dict(reversed(rows.items()))
    kept = at_once([partial(store.derived_put_many, LEDGER, "facts/1", some, erasures=0) for some in (rows, backwards) * 4])
    assert kept == [True] * 8
    assert keys(store.derived_scan("facts/1", "k")) == sorted(rows)


def put_rows(address: str, rounds: int) -> int:
    """In a process of its own: keep rows again and again, each time with the count of erasures that is known."""
    kept = 0
    with connect(address) as ledgers:
        for _ in range(rounds):
            head = ledgers.store.head_of(LEDGER)
            assert head is not None
            kept += ledgers.store.derived_put_many(LEDGER, "facts/1", {"a": b"%d" % head.erasures}, erasures=head.erasures)
    return kept


def test_no_row_outlives_a_sweep_and_none_that_goes_is_unsaid(open_shared: OpenStore) -> None:
    store = filled(open_shared)
    store.view_begin("facts", "facts/1")
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        writers = [pool.apply_async(put_rows, (open_shared.address, 60)) for _ in range(2)]
        for erasures in range(1, 30):
            store.sweep(Sweep(LEDGER, fence=3, versions=[2]))
            found = store.derived_scan("facts/1", "a", ledger=LEDGER)
            assert all(int(row.value) >= erasures for row in found.rows)
            assert found.rows or LEDGER in found.purged or erasures == 1 or not store.view_purged("facts/1")
        assert sum(writer.get(timeout=60) for writer in writers) > 0
    store.derived_put_many(LEDGER, "facts/1", {"a": b"29"}, erasures=29)
    store.sweep(Sweep(LEDGER, fence=3, versions=[2]))
    assert store.view_purged("facts/1") == [LEDGER]
