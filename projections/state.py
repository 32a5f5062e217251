"""The state of a task: its named facts and its lists, with their provenance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, get_args

from ledger.erased import Forgotten
from ledger.events import Section, Source
from ledger.json_text import JsonText
from projections.basis import Basis
from projections.contradictions import Contradiction, ContradictionsFold
from projections.entries import EntriesFold, Entry
from projections.facts import FactsFold
from projections.forgetting import ErasedPlace, ForgottenFold
from projections.lifecycle import LifecycleFold
from projections.state_block import block_of
from projections.transcript import Transcript
from projections.wire import to_json

SECTIONS: Final[tuple[Section, ...]] = get_args(Section)


@dataclass(frozen=True, slots=True)
class FactNow:
    """The value that stands in a field, and who set it in which turn."""

    json: JsonText
    turn: int | None
    source: Source

    @property
    def value(self) -> Any:
        """The value as Python knows it."""
        return self.json.value


@dataclass(frozen=True, slots=True)
class State:
    """What is established at a version. ``task`` is the one given at opening, else the text of the task turn.

    A forgotten task reads "[forgotten]", its mark is ``task_forgotten``. ``forgotten`` are the places of what was forgotten:
    claims, entries, contradictions and whatever else is no part of the transcript.
    """

    basis: Basis
    task: str | None
    task_turn: int | None
    task_source: Source | None
    entities: dict[str, FactNow]
    entries: dict[str, tuple[Entry, ...]]
    contradictions: tuple[Contradiction, ...]
    task_forgotten: Forgotten | None = None
    forgotten: tuple[ErasedPlace, ...] = ()

    @property
    def block(self) -> str:
        """The state as a text for a model."""
        return block_of(self)

    @property
    def sections(self) -> dict[str, Any]:
        """Entities by name, and the lists, each an own section; an open contradiction stands in ``open``."""
        entities = {
            name: {"value": fact.json, "turn": fact.turn, "source": fact.source} for name, fact in self.entities.items()
        }
        lists: dict[str, list[dict[str, Any]]] = {
            section: [_entry(entry) for entry in self.entries[section]] for section in SECTIONS
        }
        lists["open"] += [_dispute(contradiction) for contradiction in self.contradictions]
        return {"entities": entities, **lists}

    @property
    def is_bare(self) -> bool:
        """Whether there is nothing beyond the task, which a window has verbatim."""
        return not self.entities and not self.contradictions and not any(self.entries.values())

    def to_json(self) -> bytes:
        """The answer as JSON: basis, task, sections, block."""
        return to_json(
            {
                "basis": self.basis,
                "task": self.task if self.task_forgotten is None else self.task_forgotten,
                "task_turn": self.task_turn,
                "sections": self.sections,
                **({"forgotten": [place.row for place in self.forgotten]} if self.forgotten else {}),
                "block": self.block,
            }
        )


def _entry(entry: Entry) -> dict[str, Any]:
    return {"id": entry.id, "what": entry.what, "why": entry.why, "turn": entry.turn, "source": entry.source}


def _dispute(found: Contradiction) -> dict[str, Any]:
    return {
        "id": found.id,
        "what": f"contradiction about {found.about}",
        "why": None,
        "turn": found.turn,
        "source": None,
        "field": found.field,
        "turns": list(found.turns),
    }


def state_of(
    basis: Basis,
    *,
    lifecycle: LifecycleFold,
    transcript: Transcript,
    facts: FactsFold,
    entries: EntriesFold,
    contradictions: ContradictionsFold,
    forgotten: ForgottenFold,
) -> State:
    """The state that the folds have come to."""
    task, turn, source = _task(lifecycle, transcript)
    return State(
        basis=basis,
        task=str(task) if isinstance(task, Forgotten) else task,
        task_turn=turn,
        task_source=source,
        entities={name: FactNow(claim.value, claim.turn, claim.source) for name, claim in facts.standing().items()},
        entries={section: entries.open(section) for section in SECTIONS},
        contradictions=contradictions.open(),
        task_forgotten=task if isinstance(task, Forgotten) else None,
        forgotten=tuple(place for place in forgotten.places() if place.type not in ("turn.recorded", "tool.returned")),
    )


def _task(lifecycle: LifecycleFold, transcript: Transcript) -> tuple[str | Forgotten | None, int | None, Source | None]:
    if lifecycle.task is not None:
        return lifecycle.task, None, None
    turn = transcript.task_turn
    if turn is None or not turn.text.strip():
        return None, None, None
    return turn.forgotten or turn.text, turn.number, "user"
