"""A store in memory and a ledger in it, to record what a test is about."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ledger import Ledger, Ledgers, connect


@pytest.fixture
def store() -> Iterator[Ledgers]:
    """An empty store."""
    with connect(":memory:") as opened:
        yield opened


@pytest.fixture
def case(store: Ledgers) -> Ledger:
    """A new ledger."""
    return store.ledger("case")
