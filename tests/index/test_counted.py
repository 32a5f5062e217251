"""Counts of our own texts, kept with their ledger as digests and numbers."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger import Ledgers, connect
from projections.errors import UnknownEncoding
from replay.kept.counted import BUCKETS, KIND, MOST_IN_BUCKET, MOST_NOTES, Counted
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
        assert count(text) == counter(ENCODING)(text)


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
    """What is new the first time, and then what has come to be more than a few."""
    count = counted(store)
    for number in range(100):
        count(f"Line {number}.")
    rows = []
    for number in range(100, 130):
        count(f"Line {number}.")
        count.keep_in_passing()
        rows.append(len(row_of(store) or b"") // 16)
    assert rows[0] == 101
    assert sorted(set(rows)) == [101, 117]
    last = counted(store)
    last("Line 0.")
    last("One more.")
    last.keep_in_passing()
    assert len(row_of(store) or b"") // 16 == rows[-1] + 1


def buckets_of(store: Ledgers) -> dict[str, bytes]:
    """What stands beside the row that is read first."""
    found = store.store.derived_scan(KIND, f"{ENCODING}/", ledger=store.head("case").ledger).rows
    return {row.key: row.value for row in found}


LONG = "Depot North opens at 06:30 on Mondays. " * 200


def test_what_is_not_among_the_newest_is_found_all_the_same(store: Ledgers) -> None:
    """A long text, since the tokenizer is loaded here: a short one is counted faster than it is found."""
    first = counted(store)
    tokens = first(LONG)
    first.keep()
    for number in range(MOST_NOTES):
        first(str(number))
    first.keep()
    (key,) = [key for key, row in buckets_of(store).items() if tokens.to_bytes(4, "big") in row]
    head = store.head("case")
    altered = buckets_of(store)[key].replace(tokens.to_bytes(4, "big"), (tokens + 1).to_bytes(4, "big"))
    assert store.store.derived_put(head.ledger, KIND, key, altered, erasures=head.erasures)
    assert counted(store)(LONG) == tokens + 1, "it is read, not counted"
    assert sum(map(len, buckets_of(store).values())) == (MOST_NOTES + 1) * 16
    assert len(buckets_of(store)) == BUCKETS


COLD = """
import sys
from ledger import connect
from replay.kept.counted import Counted
with connect(sys.argv[1]) as store:
    count = Counted(store.store, store.head("case").ledger, "o200k_base")
    print(sum(count(f"Line {number}.") for number in range(0, 5_000, 100)), "tiktoken" in sys.modules)
"""


def test_however_much_was_counted_since_a_process_needs_no_tokenizer_for_it(tmp_path: Path) -> None:
    with connect(str(tmp_path / "store.db")) as ledgers:
        ledgers.ledger("case").record_turn("user", "Hello.")
        count = counted(ledgers)
        expected = sum(count(f"Line {number}.") for number in range(0, 5_000, 100))
        for number in range(5_000):
            count(f"Line {number}.")
        count.keep()
    arguments = [sys.executable, "-c", COLD, str(tmp_path / "store.db")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=100)
    assert done.stdout.split() == [str(expected), "False"]


def test_a_bucket_does_not_grow_for_ever(store: Ledgers) -> None:
    head = store.head("case")
    full = {f"{ENCODING}/{number:02}": bytes(16) * MOST_IN_BUCKET for number in range(BUCKETS)}
    assert store.store.derived_put_many(head.ledger, KIND, full, erasures=head.erasures)
    count = counted(store)
    tokens = count(LONG)
    count.keep()
    assert {len(row) for row in buckets_of(store).values()} == {16 * MOST_IN_BUCKET}
    assert len([row for row in buckets_of(store).values() if row.endswith(tokens.to_bytes(4, "big"))]) == 1


def test_two_who_count_one_after_the_other_both_fill_the_buckets(store: Ledgers) -> None:
    first, second = counted(store), counted(store)
    for number in range(200):
        first(f"One {number}")
        second(f"Two {number}")
        second(f"One {number}")
    assert first.keep()
    assert second.keep()
    assert sum(map(len, buckets_of(store).values())) == 400 * 16, "each note once"


def test_forgetting_takes_all_notes(store: Ledgers) -> None:
    count = counted(store)
    for number in range(200):
        count(f"One {number}")
    assert count.keep()
    assert buckets_of(store)
    store.ledger("case").forget(turns=[1], reason="asked to")
    assert buckets_of(store) == {}
    count("more")
    assert not count.keep()
    assert buckets_of(store) == {}


def test_where_nothing_can_be_written_it_counts(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with connect(str(path)) as ledgers:
        ledgers.ledger("case").record_turn("user", "Hello.")
    with connect(str(path)) as ledgers:
        count = counted(ledgers)
        tokens = count(WORDS)
    assert not count.keep(), "the store is closed"
    assert count("another") > 0
    assert count(WORDS) == tokens
