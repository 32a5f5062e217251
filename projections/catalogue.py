"""All projections, and the events that no projection reads: together they account for every event type."""

from __future__ import annotations

from typing import Any, Final

from ledger.events import ArtifactStored
from projections.contradictions import ContradictionsFold
from projections.entries import EntriesFold
from projections.evidence import EvidenceFold
from projections.facts import FactsFold
from projections.fold import Fold
from projections.lifecycle import LifecycleFold
from projections.transcript import TranscriptFold

FOLDS: Final[tuple[type[Fold], ...]] = (
    TranscriptFold,
    FactsFold,
    EntriesFold,
    ContradictionsFold,
    EvidenceFold,
    LifecycleFold,
)
"""One line a projection."""

RECORD_ONLY: Final[frozenset[type[Any]]] = frozenset({ArtifactStored})
"""Events that only the record needs: an artifact is found by its hash."""
