"""Every test of forgetting runs on every store whose files can be searched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forgetting.shelves import CATALOGUE, Shelf


@pytest.fixture(params=CATALOGUE)
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shelf]:
    """A new store, of each kind in turn."""
    made = CATALOGUE[request.param](tmp_path)
    yield made
    made.close()
