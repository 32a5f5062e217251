"""What stores promise of the rows of an index that grows: some of them can be deleted, by a range of their keys."""

from __future__ import annotations

import pytest

from ledger.errors import StoreError
from tests.contract.batches import LEDGER, batch, draft
from tests.contract.stores import OpenStore

OTHER = b"O" * 16


def test_rows_are_deleted_by_a_range_of_keys_of_one_ledger_and_kind(open_store: OpenStore) -> None:
    store = open_store().store
    for name, ledger in (("case", LEDGER), ("other", OTHER)):
        store.append(batch([draft(turn=1)], name=name, ledger=ledger))
        for kind in ("index", "index/2"):
            rows = dict.fromkeys(("a", "b", "b%", "ba", "c", "c_", "é"), b"x")
            assert store.derived_put_many(ledger, kind, rows, erasures=0)
    assert store.derived_drop(LEDGER, "index", first="b", end="c") == 3
    assert store.derived_drop(LEDGER, "index", first="b", end="c") == 0
    assert [row.key for row in store.derived_scan("index", "", ledger=LEDGER).rows] == ["a", "c", "c_", "é"]
    assert len(store.derived_scan("index", "", ledger=OTHER).rows) == 7
    assert len(store.derived_scan("index/2", "").rows) == 14
    assert store.derived_drop(LEDGER, "index", first="'; DROP TABLE derived; --", end="\U0010ffff") == 4


def test_a_closed_store_deletes_nothing(open_store: OpenStore) -> None:
    ledgers = open_store()
    ledgers.close()
    with pytest.raises(StoreError):
        ledgers.store.derived_drop(LEDGER, "index", first="a", end="b")
