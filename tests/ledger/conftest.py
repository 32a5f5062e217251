"""How Hypothesis runs here (on a loaded machine a slow example is no failure), and a ledger to begin with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from ledger import Ledger, connect

settings.register_profile("ledger", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ledger")


@pytest.fixture
def handle() -> Iterator[Ledger]:
    """A new ledger."""
    with connect(":memory:") as ledgers:
        yield ledgers.ledger("case")
