"""A store in memory, to record what a test is about."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ledger import Ledgers, connect


@pytest.fixture
def store() -> Iterator[Ledgers]:
    """An empty store."""
    with connect(":memory:") as opened:
        yield opened
