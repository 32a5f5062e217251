"""A store in memory and a ledger in it, and a shelf for tests that look at every byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger import Ledger, Ledgers, connect
from tests.forgetting.shelves import CATALOGUE, Shelf


@pytest.fixture
def store() -> Iterator[Ledgers]:
    """An empty store."""
    with connect(":memory:") as opened:
        yield opened


@pytest.fixture
def case(store: Ledgers) -> Ledger:
    """A new ledger."""
    return store.ledger("case")


@pytest.fixture(params=CATALOGUE)
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shelf]:
    """A new store, of each kind in turn."""
    made = CATALOGUE[request.param](tmp_path)
    yield made
    made.close()
