"""Dialogues whose state others annotated: every change is one event, and the state is the annotated one as of every turn.

The everyday run takes a few dialogues of each set, always the same; the slow one takes all.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from ledger import connect
from tests.contract.stores import CATALOGUE
from tests.state.checking import CHECKS
from tests.state.conversation import Conversation, field_of, runs_of
from tests.state.reading import SETS
from tests.state.recording import record
from tests.state.sampling import MOST_EVERY_DAY, sample

ORACLES: Final = {"multiwoz": "multiwoz21", "sgd": "sgd", "crosswoz": "crosswoz_zh"}
"""The sets whose changes stand in a file of their own, and its folder."""


def faults(conversations: list[Conversation], address: str = ":memory:") -> list[str]:
    """Record them all in one store, then hold each against everything that is known of it."""
    with connect(address) as store:
        for conversation in conversations:
            record(store, conversation)
        return [
            f"{conversation.name}, {name}: {fault}"
            for conversation in conversations
            for name, check in CHECKS.items()
            for fault in check(store, conversation)
        ]


@pytest.mark.parametrize("name", SETS)
def test_the_record_tells_what_the_annotators_saw(annotated: Path, name: str) -> None:
    conversations = sample(SETS[name](annotated), MOST_EVERY_DAY)
    assert len(conversations) > MOST_EVERY_DAY // 2
    assert faults(conversations) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_the_record_tells_it_of_every_dialogue(annotated: Path, name: str) -> None:
    assert faults(SETS[name](annotated)) == []


@pytest.mark.parametrize("store", CATALOGUE)
def test_every_store_tells_the_same(annotated: Path, store: str, tmp_path: Path) -> None:
    opened = CATALOGUE[store](tmp_path)
    conversations = [read(annotated)[0] for read in SETS.values()]
    try:
        assert faults(conversations, opened.address) == []
    finally:
        opened.close()


@pytest.mark.parametrize("name", ORACLES)
def test_no_change_of_an_oracle_is_left_out(annotated: Path, name: str) -> None:
    read = [change for conversation in SETS[name](annotated) for change in conversation.changes]
    lines = (annotated / ORACLES[name] / "derived_changes.jsonl").read_text("utf-8").splitlines()
    assert len(read) == len(lines) > 0
    assert sorted(change.slot for change in read) == sorted(json.loads(line)["slot"] for line in lines)


@pytest.mark.parametrize("name", SETS)
def test_annotations_are_of_user_turns_and_of_different_fields(annotated: Path, name: str) -> None:
    for conversation in SETS[name](annotated):
        roles = [role for role, _ in conversation.turns]
        assert [number for number, role in enumerate(roles, start=1) if role == "user"] == sorted(conversation.states)
        slots = runs_of(conversation)
        assert len({field_of(slot) for slot in slots}) == len(slots)


def test_the_dialogues_hold_what_is_hard(annotated: Path) -> None:
    """A value that comes back, one that is taken back, another after that, several spellings of one, any alphabet."""
    read = {name: SETS[name](annotated) for name in SETS}
    runs = {name: [run for talk in talks for run in runs_of(talk).values()] for name, talks in read.items()}
    returning = [row for row in runs["multiwoz"] if len(row) > 2 and row[0].spellings == row[2].spellings != row[1].spellings]
    assert returning
    assert any(row[-1].end is not None for row in runs["multiwoz"])
    assert any(first.end != second.first for row in runs["crosswoz"] for first, second in pairwise(row))
    assert any(len(spelt) > 1 for talk in read["sgd"] for state in talk.states.values() for spelt in state.values())
    assert all(not slot.isascii() for talk in read["crosswoz"] for slot in runs_of(talk))
    assert any("ü" in spelling for row in runs["woz-de"] for run in row for spelling in run.spellings)
