"""The extractor of declared patterns on dialogues whose state others annotated: precision and recall by type of slot.

MultiWOZ was in view when the patterns were written, SGD and WOZ 2.0 were not. The floor takes whatever has the form of a value.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import ledger
from bench.booking_patterns import BARE, CUED, booking_schema, slot_type
from bench.measuring import print_rows
from ledger.json_text import JsonText
from ledger.schema import Schema
from projections.extraction import Candidate, source_of, stands_in
from projections.rule_extraction import RuleExtractor
from projections.transcript import Turn
from replay import view
from tests.state.conversation import Conversation, Spellings
from tests.state.reading import SETS

NAMES: Final = ("multiwoz", "sgd", "woz-en")
_HEADINGS: Final = (
    *("slot type", "annotated", "said in the turn", "taken", "as the user's", "precision", "recall"),
    *("floor: precision", "floor: recall"),
)
_BESIDE_THE_REPOSITORY: Final = Path(__file__).parents[2] / "shared" / "data"


@dataclass(slots=True)
class Score:
    """Counts of a slot type: values that came up in the annotation, those that stand in the user's turn, what was found.

    ``right`` of the ``taken`` candidates are annotated, ``found`` of the ``annotated`` values were found in the turn at which
    they came up, ``spoken`` of the ``taken`` count as the user's word.
    """

    annotated: int = 0
    said: int = 0
    found: int = 0
    taken: int = 0
    right: int = 0
    spoken: int = 0


@dataclass(frozen=True, slots=True)
class UserTurn:
    """A user turn, the annotated slots of a type that hold after it, and those that came up or changed in it."""

    turn: Turn
    holding: dict[str, list[Spellings]] = field(default_factory=dict)
    new: dict[str, list[Spellings]] = field(default_factory=dict)


def main() -> None:
    """Print a table for each set."""
    place = Path(os.environ.get("CONTEXT_LEDGER_DATA") or _BESIDE_THE_REPOSITORY) / "c_memory_and_state"
    if not place.is_dir():
        print(f"\n## Extraction by patterns\n\nNo annotated dialogues at {place}: set CONTEXT_LEDGER_DATA to the folder above.")
        return
    for name in NAMES:
        conversations = SETS[name](place)
        turns = list(user_turns(conversations))
        cued, bare = scores(turns, booking_schema(CUED)), scores(turns, booking_schema(BARE))
        title = f"Extraction by patterns: {name}, {len(conversations)} dialogues, {len(turns)} user turns"
        print_rows(title, _HEADINGS, [_row(kind, cued[kind], bare[kind]) for kind in cued if cued[kind].annotated])


def user_turns(conversations: Sequence[Conversation]) -> Iterator[UserTurn]:
    """Every user turn, as it stands in a record, with its annotation."""
    with ledger.connect(":memory:") as store:
        for conversation in conversations:
            handle = store.ledger(conversation.name)
            for role, text in conversation.turns:
                handle.record_turn(role, text)
            for turn in view(store, conversation.name).transcript().turns:
                if turn.role == "user":
                    yield _annotated(turn, conversation)


def _annotated(turn: Turn, conversation: Conversation) -> UserTurn:
    before, now = conversation.state_at(turn.number - 1), conversation.state_at(turn.number)
    annotated = UserTurn(turn)
    for slot, spellings in now.items():
        kind = slot_type(slot)
        if kind is not None:
            annotated.holding.setdefault(kind, []).append(spellings)
            if not set(spellings) & set(before.get(slot, ())):
                annotated.new.setdefault(kind, []).append(spellings)
    return annotated


def scores(turns: Sequence[UserTurn], schema: Schema) -> dict[str, Score]:
    """The counts by slot type. A value that does not fit its field ("dontcare") is left out."""
    counted = {spec.name: Score() for spec in schema.fields}
    for annotated in turns:
        candidates = RuleExtractor().extract([annotated.turn], schema).candidates
        for kind, score in counted.items():
            taken = [one for one in candidates if one.field == kind and _meanings(schema, kind, (one.value,))]
            _count_taken(score, taken, annotated, schema)
            _count_annotated(score, kind, taken, annotated, schema)
    return counted


def _count_taken(score: Score, taken: Sequence[Candidate], annotated: UserTurn, schema: Schema) -> None:
    for candidate in taken:
        meant = _meanings(schema, candidate.field, (candidate.value,))
        holding = annotated.holding.get(candidate.field, [])
        score.taken += 1
        score.right += any(meant & _meanings(schema, candidate.field, spellings) for spellings in holding)
        score.spoken += source_of(candidate, annotated.turn, schema) == "user"


def _count_annotated(score: Score, kind: str, taken: Sequence[Candidate], annotated: UserTurn, schema: Schema) -> None:
    """Two bookings with the same value are one value of the type."""
    for spellings in dict.fromkeys(annotated.new.get(kind, [])):
        wanted = _meanings(schema, kind, spellings)
        if wanted:
            score.annotated += 1
            score.said += any(stands_in(annotated.turn.text, spelling, schema.spec(kind)) for spelling in spellings)
            score.found += any(_meanings(schema, kind, (one.value,)) & wanted for one in taken)


def _meanings(schema: Schema, kind: str, spellings: Spellings) -> set[str]:
    """What the spellings of a value mean, as far as they fit the field."""
    meanings = (schema.meaning(kind, JsonText.of(spelling)) for spelling in spellings)
    return {meaning.canonical for meaning in meanings if meaning is not None}


def _row(kind: str, cued: Score, bare: Score) -> tuple[str, ...]:
    counts = (cued.annotated, cued.said, cued.taken, cued.spoken)
    shares = ((cued.right, cued.taken), (cued.found, cued.annotated))
    floor = ((bare.right, bare.taken), (bare.found, bare.annotated))
    return kind, *map(str, counts), *(_share(*share) for share in (*shares, *floor))


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "-"
