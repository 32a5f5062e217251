"""How Hypothesis runs here, and a store to begin with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from ledger import Ledgers, connect
from tests.contract.conftest import open_shared, open_store

__all__ = ["open_shared", "open_store"]  # the fixtures of the contract: every kind of store in turn

settings.register_profile("schema", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("schema")


@pytest.fixture
def store() -> Iterator[Ledgers]:
    """A new store."""
    with connect(":memory:") as ledgers:
        yield ledgers
