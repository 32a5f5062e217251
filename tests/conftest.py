"""Fixtures that tests of several rooms share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["tests.postgres.server"]  # the fixture postgres

# Where the tests run may be such a place: then every process that they start would say so.
os.environ.setdefault("PYTHONWARNINGS", "ignore:a file system that is shared or virtual")

# A property that does not say how many examples it wants gets fewer every day than where somebody has the time.
settings.register_profile("everyday", max_examples=60)
settings.register_profile("thorough", max_examples=1_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "everyday"))

_BESIDE_THE_REPOSITORY = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Public transcripts that are not part of the repository; a test that asks for them is skipped without them."""
    place = Path(os.environ.get("CONTEXT_LEDGER_DATA") or _BESIDE_THE_REPOSITORY)
    if not place.is_dir():
        pytest.skip(f"no transcripts at {place}: set CONTEXT_LEDGER_DATA to their folder")
    return place
