"""The state of a task: its named facts and its lists, with their provenance."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, get_args

from ledger.erased import Forgotten
from ledger.events import Section, Source
from ledger.json_text import JsonText
from ledger.parts import Problem
from ledger.schema.schema import Schema, SectionSpec
from ledger.standing import Claim, Validity
from projections.basis import Basis
from projections.block_lines import Remember, made_anew
from projections.contradictions import Contradiction, ContradictionsFold
from projections.disputes import disputes_of
from projections.entries import EntriesFold, Entry
from projections.facts import FactsFold
from projections.forgetting import ErasedPlace, ForgottenFold
from projections.lifecycle import LifecycleFold
from projections.state_block import Block, BlockOptions, Count, Place, block_of
from projections.transcript import Turn
from projections.wire import to_json

SECTIONS: Final[tuple[Section, ...]] = get_args(Section)


@dataclass(frozen=True, slots=True)
class FactNow:
    """The value that stands in a field, and who set it in which turn; ``version`` is that of the event that claimed it.

    ``problems`` say what the schema in force has against it, which was put in force after it. ``is_shown``: whether blocks show
    the field. ``valid``: from when to when it holds in the world, where that was said.
    """

    json: JsonText
    turn: int | None
    source: Source
    version: int
    problems: tuple[Problem, ...] = ()
    is_shown: bool = True
    valid: Validity = (None, None)

    @property
    def value(self) -> Any:
        """The value as Python knows it."""
        return self.json.value


@dataclass(frozen=True, slots=True)
class State:
    """What is established at a version. ``task`` is the one given at opening, else the text of the task turn.

    A forgotten task reads "[forgotten]", its mark is ``task_forgotten``. ``forgotten`` are the places of what was forgotten:
    claims, entries, contradictions and whatever else is no part of the transcript. ``schema`` is the one in force.

    ``count`` counts its blocks, ``remember`` may remember their lines, and ``blocks`` holds those that were asked for already.
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
    schema: Schema | None = None
    count: Count = field(default=len, repr=False, compare=False)
    remember: Remember = field(default=made_anew, repr=False, compare=False)
    blocks: dict[tuple[BlockOptions, Place], Block] = field(default_factory=dict, repr=False, compare=False)

    @property
    def block(self) -> str:
        """The state as a text for a model, within the usual caps."""
        return self.shown().text

    def shown(self, options: BlockOptions | None = None, *, place: Place = "above") -> Block:
        """The state as a text for a model, with its tokens and a receipt of what gave way to its caps.

        ``place`` says where the rest of the conversation stands, seen from the block.
        """
        key = options or BlockOptions(), place
        if key not in self.blocks:
            self.blocks[key] = block_of(self, key[0], count=self.count, place=place, remember=self.remember)
        return self.blocks[key]

    def section(self, section: Section) -> SectionSpec:
        """What is declared of a list section."""
        return SectionSpec(section=section) if self.schema is None else self.schema.section(section)

    @property
    def sections(self) -> dict[str, Any]:
        """Entities by name, and the lists, each an own section; an open contradiction stands in ``open``."""
        entities = {name: _fact(fact) for name, fact in self.entities.items()}
        lists: dict[str, list[dict[str, Any]]] = {
            section: [_entry(entry) for entry in self.entries[section]] for section in SECTIONS
        }
        lists["open"] += [_dispute(contradiction) for contradiction in self.contradictions]
        return {"entities": entities, **lists}

    @property
    def is_bare(self) -> bool:
        """Whether a block has nothing to show beyond the task, which a window has verbatim."""
        return not (
            any(fact.is_shown for fact in self.entities.values())
            or any(self.entries[section] and self.section(section).rendered for section in SECTIONS)
            or disputes_of(self.contradictions, self.schema)
        )

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


def _fact(fact: FactNow) -> dict[str, Any]:
    known: dict[str, Any] = {"value": fact.json, "turn": fact.turn, "source": fact.source}
    if fact.problems:
        known["problems"] = fact.problems
    begins, ends = fact.valid
    known |= {"valid_from": begins} if begins is not None else {}
    return known | ({"valid_to": ends} if ends is not None else {})


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
    stated: Turn | None,
    facts: FactsFold,
    entries: EntriesFold,
    contradictions: ContradictionsFold,
    forgotten: ForgottenFold,
    schema: Schema | None = None,
    valid_at: datetime | None = None,
    count: Count = len,
    remember: Remember = made_anew,
) -> State:
    """The state that the folds have come to, where a turn ``stated`` the task; with ``valid_at``, of the facts what held in the
    world at that moment.

    ``count`` counts the tokens of its blocks, ``remember`` may remember their lines.
    """
    claims = facts.standing() if valid_at is None else facts.holding(valid_at)
    task, turn, source = _task(lifecycle, stated)
    return State(
        basis=basis,
        task=str(task) if isinstance(task, Forgotten) else task,
        task_turn=turn,
        task_source=source,
        entities={name: _remembered(name, claim, schema, remember) for name, claim in claims.items()},
        entries={section: entries.open(section) for section in SECTIONS},
        contradictions=contradictions.open(),
        task_forgotten=task if isinstance(task, Forgotten) else None,
        forgotten=tuple(place for place in forgotten.places() if place.type not in ("turn.recorded", "tool.returned")),
        schema=schema,
        count=count,
        remember=remember,
    )


def fact_now(name: str, claim: Claim, schema: Schema | None) -> FactNow:
    """A standing claim, as the schema in force sees it: an old value may not fit it any more, and stands all the same."""
    spec = None if schema is None else schema.spec(name)
    return FactNow(
        claim.value,
        claim.turn,
        claim.source,
        claim.version,
        problems=() if schema is None else schema.problems(name, claim.value, "interface"),
        is_shown=spec is None or spec.rendered,
        valid=claim.valid,
    )


def _remembered(name: str, claim: Claim, schema: Schema | None, remember: Remember) -> FactNow:
    """What a schema says of a claim takes longer than to remember it."""
    if schema is None:
        return fact_now(name, claim, schema)
    known: FactNow = remember((name, claim, schema.digest), lambda: fact_now(name, claim, schema))
    return known


def _task(lifecycle: LifecycleFold, turn: Turn | None) -> tuple[str | Forgotten | None, int | None, Source | None]:
    if lifecycle.task is not None:
        return lifecycle.task, None, None
    if turn is None or not turn.text.strip():
        return None, None, None
    return turn.forgotten or turn.text, turn.number, "user"
