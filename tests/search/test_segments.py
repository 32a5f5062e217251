"""A piece of the index that was stored says what it said before, whatever its size, and pieces join into one."""

from __future__ import annotations

import random

import pytest

from ledger import Ledgers
from projections.search.words import alone
from replay.searching.segments import Gathered, Head, StoredSegment, kind_and_role, pieces, place_of
from tests.search.records import random_record


def gathered(store: Ledgers, after: int, upto: int | None) -> Gathered:
    """The postings of some events."""
    found = Gathered()
    found.add(store.ledger("case").events(after=after, upto=upto))
    return found


def stored(found: Gathered, through: int) -> StoredSegment:
    """The same, from its stored form."""
    head, blocks = pieces(found, through)
    return StoredSegment(Head.decoded(head.encoded()), blocks.__getitem__)


def large(chance: random.Random) -> Gathered:
    """So many terms and postings that they take several blocks; one term has more than a block holds."""
    found = Gathered()
    for number in range(20_000):
        found._of(alone(f"word{number}")).append(number << 25)
    found._of(alone("often")).extend(place << 25 for place in range(30_000))
    for number in chance.sample(range(20_000), 500):
        found._of(alone(f"überall{number}")).append(number << 25)
    return found


@pytest.mark.parametrize("size", ["none", "small", "large"])
def test_what_is_stored_is_what_was_gathered(store: Ledgers, size: str) -> None:
    random_record(store, 60, 4)
    made = {"none": Gathered(), "small": gathered(store, 0, None), "large": large(random.Random(1))}
    found = made[size]
    piece = stored(found, 77)
    assert piece.head.through == 77
    assert bool(piece.head.inline) is (size == "small")
    assert list(piece.items()) == sorted(found.items())
    for term in [*list(found.postings)[::97], "", "1", "1often", "1zzz", "2", "1\U0010ffff"]:
        assert piece.find(term) == found.find(term)
    for prefix in ["1w", "1word1", "1over", "1often", "1ü", "2", "", "9", "1word99999"]:
        assert list(piece.beginning(prefix)) == list(found.beginning(prefix))


def test_pieces_join_into_what_would_have_been_made_at_once(store: Ledgers) -> None:
    random_record(store, 90, 9)
    whole, joined = gathered(store, 0, None), Gathered()
    for after in range(0, 140, 20):
        part = gathered(store, after, after + 20)
        joined.join(part if after % 40 else stored(part, after + 20))
    assert dict(joined.items()) == dict(whole.items())


def test_a_posting_says_where_and_what(store: Ledgers) -> None:
    case = store.ledger("case")
    case.record_turn("system", "rules")
    case.record_turn("user", "hello " * 300)
    case.set_fact("hello", 1, source="tool")
    found = gathered(store, 0, None).find(alone("hello"))
    assert [(place_of(one) >> 1, *kind_and_role(one), one >> 16 & 0xFF) for one in found] == [
        (2, "turn", "user", 255),
        (3, "fact", None, 1),
    ]
