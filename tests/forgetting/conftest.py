"""Every test of forgetting runs on every store whose files can be searched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forgetting.shelves import CATALOGUE, Shelf

# The rollback journal takes no part of its own in most tests: those that need it every day ask for it.
SELDOM = {"sqlite-delete"}


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.slow if name in SELDOM else ()) for name in CATALOGUE])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shelf]:
    """A new store, of each kind in turn."""
    made = CATALOGUE[request.param](tmp_path)
    yield made
    made.close()
