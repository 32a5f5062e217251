"""Following is tested on every store of the catalogue."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.connect import Ledgers
from tests.contract.stores import CATALOGUE


@pytest.fixture(params=CATALOGUE)
def ledgers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledgers]:
    """A handle on a new store, of each kind in turn."""
    store = CATALOGUE[request.param](tmp_path)
    yield store()
    store.close()
