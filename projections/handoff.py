"""A brief for a fresh session: what is asked, what holds, what is open. What is unknown is absent, never invented."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ledger.erased import Forgotten
from projections.basis import Basis
from projections.contradictions import Contradiction
from projections.entries import EntriesFold, Entry
from projections.evidence import EvidenceFold
from projections.lifecycle import LifecycleFold
from projections.state import State
from projections.wire import to_json

BUDGET_FIELD: Final = "budget_remaining"
"""The field whose value a handoff passes on as what is left to spend."""


@dataclass(frozen=True, slots=True)
class Handoff:
    """The brief, as a dict of what is known: basis, goal, completed, open_questions, constraints, decisions and more."""

    basis: Basis
    brief: dict[str, Any]

    def to_json(self) -> bytes:
        """The brief as JSON, its basis first."""
        return to_json(self.brief)


def handoff_of(state: State, *, entries: EntriesFold, evidence: EvidenceFold, lifecycle: LifecycleFold) -> Handoff:
    """The brief that follows from a state."""
    budget = state.entities.get(BUDGET_FIELD)
    brief: dict[str, Any] = {
        "basis": state.basis,
        "goal": state.task if state.task_forgotten is None else state.task_forgotten,
        "facts": state.sections["entities"] or None,
        "completed": [_closed(entry) for entry in entries.closed("open")],
        "open_questions": [_open(entry) for entry in state.entries["open"]],
        "constraints": [_open(entry) for entry in state.entries["constraints"]],
        "decisions": [_open(entry) for entry in state.entries["decisions"]],
        "rejected": [_open(entry) for entry in state.entries["rejected"]],
        "evidence_ids": [found.id for found in evidence.all()],
        "contradictions": [_contradiction(found) for found in state.contradictions],
        "budget_remaining": None if budget is None else budget.json,
        "outcome": _outcome(lifecycle),
        "forgotten": [place.row for place in state.forgotten] or None,
    }
    return Handoff(state.basis, {name: value for name, value in brief.items() if value is not None})


def _open(entry: Entry) -> dict[str, Any]:
    known = {"id": entry.id, "what": entry.what, "why": entry.why, "turn": entry.turn, "source": entry.source}
    return {name: value for name, value in known.items() if value is not None}


def _closed(entry: Entry) -> dict[str, Any]:
    known = {"id": entry.id, "what": entry.what, "because": entry.closed_because, "turn": entry.closed_turn}
    return {name: value for name, value in known.items() if value is not None}


def _contradiction(found: Contradiction) -> dict[str, Any]:
    known = {"id": found.id, "about": found.about, "field": found.field, "turns": list(found.turns)}
    return {name: value for name, value in known.items() if value is not None}


def _outcome(lifecycle: LifecycleFold) -> dict[str, Any] | Forgotten | None:
    outcome = lifecycle.outcome
    if outcome is None or isinstance(outcome, Forgotten):
        return outcome
    known = {"status": outcome.status, "judge": outcome.judge, "detail": outcome.detail}
    return {name: value for name, value in known.items() if value is not None}
