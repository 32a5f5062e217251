"""A store to begin with, of each kind where that makes a difference."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ledger import Ledger, Ledgers, connect
from tests.contract.conftest import open_shared, open_store

__all__ = ["open_shared", "open_store"]  # the fixtures of the contract: every kind of store in turn


@pytest.fixture
def store() -> Iterator[Ledgers]:
    """A new store."""
    with connect(":memory:") as ledgers:
        yield ledgers


@pytest.fixture
def case(store: Ledgers) -> Ledger:
    """A new ledger."""
    return store.ledger("case")
