"""What a store gives back: selections, pages, the feed."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.store import Selection, Store
from tests.contract.batches import LEDGER, batch, draft
from tests.contract.stores import OpenStore

MANY = 2_500  # more than two pages of a thousand rows


def filled(open_store: OpenStore, count: int) -> Store:
    store = open_store().store
    kinds = ("turn.recorded", "fact.set", "tool.returned", "entry.added", "turn.recorded")
    drafts = [draft(b"%d" % version, kind=kinds[version % 5], turn=version // 10 + 1) for version in range(1, count + 1)]
    store.append(batch(drafts[: count // 2], command=b"a" * 16))
    store.append(batch(drafts[count // 2 :], command=b"b" * 16, expected=count // 2))
    return store


def versions(store: Store, **selection: Any) -> list[int]:
    return [row.envelope.version for row in store.read(LEDGER, Selection(**selection))]


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        ({}, range(1, 41)),
        ({"after": 35}, range(36, 41)),
        ({"upto": 4}, range(1, 5)),
        ({"after": 3, "upto": 5}, [4, 5]),
        ({"after": 5, "upto": 5}, []),
        ({"after": 40}, []),
        ({"upto": 0}, []),
        ({"limit": 0}, []),
        ({"limit": 3}, [1, 2, 3]),
        ({"limit": 99}, range(1, 41)),
        ({"newest_first": True, "limit": 3}, [40, 39, 38]),
        ({"newest_first": True, "upto": 10, "after": 7}, [10, 9, 8]),
        ({"turn": 2}, range(10, 20)),
        ({"turn": 2, "kind": "turns"}, [10, 12, 14, 15, 17, 19]),
        ({"turn": 99}, []),
        ({"command": b"b" * 16}, range(21, 41)),
        ({"command": b"b" * 16, "kind": "others", "after": 30}, [31, 33, 36, 38]),
        ({"command": b"x" * 16}, []),
        ({"kind": "others", "upto": 9}, [1, 3, 6, 8]),
        ({"kind": "deciding", "upto": 9}, [1, 3, 6, 8]),
        ({"kind": "turns", "upto": 9}, [2, 4, 5, 7, 9]),
        ({"kind": "turns", "newest_first": True, "limit": 2}, [40, 39]),
    ],
)
def test_selections(open_store: OpenStore, selection: dict[str, Any], expected: range | list[int]) -> None:
    assert versions(filled(open_store, 40), **selection) == list(expected)


def test_what_no_decision_rests_on_is_passed_by(open_store: OpenStore) -> None:
    """A ledger may have one of them for every turn."""
    store = open_store().store
    types = ("turn.recorded", "turn.classified", "fact.set", "summary.recorded", "policy.recorded", "window.recorded")
    store.append(batch([draft(b"{}", kind=kind) for kind in (*types, *types)]))
    assert versions(store, kind="others") == [2, 3, 4, 5, 6, 8, 9, 10, 11, 12]
    assert versions(store, kind="deciding") == [3, 5, 9, 11]


def test_reads_longer_than_a_page(open_store: OpenStore) -> None:
    store = filled(open_store, MANY)
    everything = list(range(1, MANY + 1))
    others = [version for version in everything if version % 5 in (1, 3)]
    assert versions(store) == everything
    assert versions(store, newest_first=True) == everything[::-1]
    assert versions(store, kind="others") == others
    assert versions(store, kind="others", newest_first=True, after=500) == [v for v in others if v > 500][::-1]
    for limit in (999, 1_000, 1_001, 2_000, 2_499, 2_500, 2_501):
        assert versions(store, limit=limit) == everything[:limit]
        assert versions(store, limit=limit, newest_first=True) == everything[::-1][:limit]


def test_a_read_may_be_left_and_writes_go_on_meanwhile(open_store: OpenStore) -> None:
    store = filled(open_store, MANY)
    reading = store.read(LEDGER, Selection(upto=MANY))
    seen = [next(reading).envelope.version]
    store.append(batch([draft()], expected=MANY))
    seen += [row.envelope.version for row in reading]
    assert seen == list(range(1, MANY + 1))
    next(store.read(LEDGER, Selection()))
    assert store.append(batch([draft()], expected=MANY + 1))[0].version == MANY + 2


def test_an_unknown_ledger_has_no_events(open_store: OpenStore) -> None:
    assert list(filled(open_store, 5).read(b"?" * 16, Selection())) == []


def test_the_feed_is_every_event_once_in_order(open_store: OpenStore) -> None:
    """Pages neither overlap nor leave a hole, however long they are and although all events bear one time."""
    store = open_store().store
    for turn in range(50):
        for name in (b"1", b"2"):
            store.append(batch([draft(), draft()], name=name.decode(), ledger=name * 16, expected=2 * turn))
    for limit in (1, 7, 100, 200, 999):
        positions: list[int] = []
        while page := store.feed(after=positions[-1] if positions else 0, limit=limit):
            assert len(page) <= limit
            positions += [row.envelope.position for row in page]
        assert positions == sorted(set(positions))
        assert len(positions) == 200
    feed = store.feed(after=0, limit=999)
    for name in (b"1", b"2"):
        own = [row for row in feed if row.envelope.ledger == name * 16]
        assert own == list(store.read(name * 16, Selection()))


def test_equal_times_do_not_swap_what_was_said(open_store: OpenStore) -> None:
    handle = open_store(lambda: 77).ledger("case")
    for number in range(50):
        handle.record_turn("user", f"question {number}")
        handle.record_turn("assistant", f"answer {number}")
    said: list[int | None] = []
    for after in range(0, 100, 7):
        said += [one.turn for one in handle.events(after, after + 7)]
    assert said == list(range(1, 101))
