"""Ledgers that an audit is asked about."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ledger import Ledgers, connect
from tests.projections.histories import ticking


@pytest.fixture
def store() -> Iterator[Ledgers]:
    """An empty store in memory."""
    with connect(":memory:", clock=ticking()) as opened:
        yield opened
