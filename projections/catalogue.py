"""All projections, and the events that no projection reads: together they account for every event type."""

from __future__ import annotations

from typing import Any, Final

from ledger.events import (
    HoldLifted,
    HoldPlaced,
    LedgerReauthorised,
    PolicyRecorded,
    RetentionSet,
    SummaryRecorded,
    WindowRecorded,
)
from projections.artifacts import ArtifactsFold
from projections.classifications import ClassificationsFold
from projections.contradictions import ContradictionsFold
from projections.entries import EntriesFold
from projections.evidence import EvidenceFold
from projections.facts import FactsFold
from projections.fold import Fold
from projections.forget_requests import ForgetRequestsFold
from projections.forgetting import ForgottenFold
from projections.lifecycle import LifecycleFold
from projections.schemas import SchemaFold
from projections.transcript import TranscriptFold

FOLDS: Final[tuple[type[Fold], ...]] = (
    TranscriptFold,
    FactsFold,
    EntriesFold,
    ContradictionsFold,
    EvidenceFold,
    LifecycleFold,
    ArtifactsFold,
    ForgottenFold,
    ForgetRequestsFold,
    SchemaFold,
    ClassificationsFold,
)
"""One line a projection."""

RECORD_ONLY: Final[frozenset[type[Any]]] = frozenset(
    {LedgerReauthorised, HoldPlaced, HoldLifted, RetentionSet, SummaryRecorded, PolicyRecorded, WindowRecorded}
)
"""Events that say what may be recorded, erased and kept: who decides on that reads them, before anything is projected; and
those by which a window that was served is built again.
"""
