"""Every test of the contract runs on every store of the catalogue."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.stores import CATALOGUE, NOT_SHARED, OpenStore


@pytest.fixture(params=CATALOGUE)
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """Opens handles on one new store, of each kind in turn."""
    store = CATALOGUE[request.param](tmp_path)
    yield store
    store.close()


@pytest.fixture(params=[name for name in CATALOGUE if name not in NOT_SHARED])
def open_shared(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """Like ``open_store``, for tests that need a second connection or process."""
    store = CATALOGUE[request.param](tmp_path)
    yield store
    store.close()
