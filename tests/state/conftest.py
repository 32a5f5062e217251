"""Where the annotated dialogues are; a test that asks for them is skipped without them."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def annotated(real_data: Path) -> Path:
    """The folder of the public sets of annotated dialogues, which are not part of the repository."""
    folder = real_data / "c_memory_and_state"
    if not folder.is_dir():
        pytest.skip(f"no annotated dialogues at {folder}: set CONTEXT_LEDGER_DATA to the folder above theirs")
    return folder
