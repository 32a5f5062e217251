"""Counts of our own texts, kept with their ledger as digests and numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger import Ledgers
from projections.errors import UnknownEncoding
from replay.counted import KIND, MOST_NOTES, Counted
from replay.tokens import counter
from tests.contract.stores import CATALOGUE

ENCODING = "o200k_base"
WORDS = "Depot North opens at 06:30 on Mondays."


@pytest.fixture(params=["sqlite-file", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledgers]:
    """A store with a ledger."""
    made = CATALOGUE[request.param](tmp_path)
    ledgers = made()
    ledgers.ledger("case").record_turn("user", "Hello.")
    yield ledgers
    made.close()


def counted(store: Ledgers) -> Counted:
    return Counted(store.store, store.head("case").ledger, ENCODING)


def row_of(store: Ledgers) -> bytes | None:
    return store.store.derived_get(store.head("case").ledger, KIND, ENCODING)


def test_it_counts_as_the_tokenizer_does(store: Ledgers) -> None:
    count = counted(store)
    for text in (WORDS, "", "\ud83d torn", "订单已经发货", WORDS):
        assert count(text) == counter(ENCODING)(text) == count.count(text)


def test_what_one_process_kept_another_reads(store: Ledgers) -> None:
    first = counted(store)
    tokens = first(WORDS)
    assert row_of(store) is None
    first.keep()
    row = row_of(store)
    assert row is not None
    altered = row[:-1] + bytes([row[-1] + 1])
    head = store.head("case")
    assert store.store.derived_put(head.ledger, KIND, ENCODING, altered, erasures=head.erasures)
    assert counted(store)(WORDS) == tokens + 1, "it is read, not counted"
    assert first(WORDS) == tokens


def test_nothing_new_is_not_written(store: Ledgers) -> None:
    first = counted(store)
    first(WORDS)
    first.keep()
    second = counted(store)
    second(WORDS)
    head = store.head("case")
    assert store.store.derived_put(head.ledger, KIND, ENCODING, b"", erasures=head.erasures)
    second.keep()
    assert row_of(store) == b""


def test_two_processes_keep_what_either_counted(store: Ledgers) -> None:
    first, second = counted(store), counted(store)
    first(WORDS)
    second("another")
    first.keep()
    second.keep()
    row = row_of(store)
    assert row is not None
    assert len(row) == 2 * 16


def test_only_the_newest_are_kept(store: Ledgers) -> None:
    count = counted(store)
    for number in range(MOST_NOTES + 50):
        count(str(number))
    count("0")
    count.keep()
    row = row_of(store)
    assert row is not None
    assert len(row) == MOST_NOTES * 16
    again = counted(store)
    again("0")
    again.keep()
    assert row_of(store) == row, "it was among those that were used last"


def test_a_row_tells_no_text_by_its_digest(store: Ledgers) -> None:
    count = counted(store)
    count("yes")
    count.keep()
    row = row_of(store)
    assert row is not None
    assert b"yes" not in row
    for digest in (hashlib.sha256(b"yes"), hashlib.sha256(b"note\0yes"), hashlib.sha1(b"yes"), hashlib.md5(b"yes")):
        assert digest.digest()[:12] != row[:12]
    store.ledger("other").record_turn("user", "Hello.")
    other = Counted(store.store, store.head("other").ledger, ENCODING)
    other("yes")
    other.keep()
    assert store.store.derived_get(store.head("other").ledger, KIND, ENCODING) != row


def test_forgetting_takes_the_notes_and_what_was_counted_before_is_not_written_again(store: Ledgers) -> None:
    count = counted(store)
    count(WORDS)
    count.keep()
    store.ledger("case").forget(turns=[1], reason="asked to")
    assert row_of(store) is None
    count("more")
    count.keep()
    assert row_of(store) is None
    count("more")
    count.keep()
    row = row_of(store)
    assert row is not None
    assert len(row) == 16, "of what was counted before nothing is left"


def test_an_encoding_that_is_not_known_is_refused(store: Ledgers) -> None:
    with pytest.raises(UnknownEncoding, match="o200k_bas"):
        Counted(store.store, store.head("case").ledger, "o200k_bas")


def test_in_passing_little_is_written(store: Ledgers) -> None:
    """What is new the first time, and then what has come to be a good part."""
    count = counted(store)
    for number in range(100):
        count(f"Line {number}.")
    rows = []
    for number in range(100, 130):
        count(f"Line {number}.")
        count.keep_in_passing()
        rows.append(len(row_of(store) or b"") // 16)
    assert rows[0] == 101
    assert rows[-1] > 120
    assert 4 < len(set(rows)) < 8
    last = counted(store)
    last("Line 0.")
    last("One more.")
    last.keep_in_passing()
    assert len(row_of(store) or b"") // 16 == rows[-1] + 1
