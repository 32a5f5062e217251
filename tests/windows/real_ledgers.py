"""Conversations that others had, of six kinds, as ledgers. They are not part of the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from delivery.importers.importing import import_file
from ledger import Ledgers

PLACES: Final = {
    "customers": "a_customer_service/tau_bench/*.json",
    "specstory": "b_coding_agents/specstory/*.md",
    "swe_agent": "b_coding_agents/swe_agent/*.traj",
    "who_and_when": "d_research/who_and_when/*/*.json",
    "deerflow": "d_research/deerflow/*.json",
    "claude_code": "b_coding_agents/claude_code_viewer/**/*.jsonl",
    "hooks": "b_coding_agents/fasthooks/sample_main*.jsonl",
}
"""Where they lie, by kind."""


def import_all(store: Ledgers, data: Path) -> int:
    """Import them; returns how many there are."""
    paths = (path for place in PLACES.values() for path in sorted(data.glob(place)))
    return sum(len(import_file(store, path).ledgers) for path in paths)
