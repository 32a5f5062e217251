"""What holds a record against its annotation finds every fault planted in the record, in the oracle or in the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import pytest

from ledger import Ledgers, connect
from projections.facts import FactValue
from replay import view
from tests.state.checking import CHECKS, changes_missed, intervals_missed, turns_of
from tests.state.conversation import Change, Conversation, Spellings, runs_of
from tests.state.recording import record

States = dict[int, Mapping[str, Spellings]]

MADE: Final = Conversation(
    name="made",
    turns=tuple(("assistant" if number % 2 == 0 else "user", f"remark {number}") for number in range(1, 10)),
    states={
        1: {"room-nights": ("4",)},
        3: {"room-nights": ("2",), "room-place": ("LA",)},
        5: {"room-nights": ("4",), "room-place": ("LA", "Los Angeles")},
        7: {"room-nights": ("4",)},
        9: {"room-nights": ("4",), "room-place": ("SF",)},
    },
    changes=(
        Change(3, "room-nights", ("4",), ("2",)),
        Change(5, "room-nights", ("2",), ("4",)),
        Change(7, "room-place", ("LA", "Los Angeles"), ()),
    ),
    listed=frozenset({"superseded", "retracted"}),
)


def changed(turn: int, **slots: Spellings) -> Conversation:
    """The conversation with another state after one turn; slots are named without their ``room-``, empty ones hold nothing."""
    state = {**MADE.states.get(turn, {}), **{f"room-{slot}": spelt for slot, spelt in slots.items()}}
    states: States = {**MADE.states, turn: {slot: spelt for slot, spelt in state.items() if spelt}}
    return replace(MADE, states=dict(sorted(states.items())))


def late(turn: int, until: int) -> Conversation:
    """The conversation with the state of a turn recorded at a later one."""
    states: States = {number if number != turn else until: state for number, state in MADE.states.items()}
    return replace(MADE, states=dict(sorted(states.items())))


def renamed() -> Conversation:
    """The conversation with one slot recorded under another name."""
    states: States = {
        turn: {slot.replace("place", "town"): spelt for slot, spelt in state.items()} for turn, state in MADE.states.items()
    }
    return replace(MADE, states=states)


FAULTY: Final[dict[str, Conversation]] = {
    "a first value is lost": changed(1, nights=()),
    "a change is lost": changed(3, nights=("4",)),
    "a change comes with the answer": late(3, until=4),
    "a value changes and changes back": changed(7, nights=("3",)),
    "a wrong value takes the place": changed(5, nights=("5",)),
    "a value is emptied before it changes": changed(2, nights=()),
    "what was taken back stands": changed(7, place=("LA",)),
    "what is another spelling is taken for a change": changed(5, place=("Los Angeles",)),
    "what came after a retraction is lost": changed(9, place=()),
    "a slot has another name": renamed(),
    "a slot is invented": changed(9, view=("sea",)),
}


def recorded(conversation: Conversation) -> Ledgers:
    """A store with a conversation in it."""
    store = connect(":memory:")
    record(store, conversation)
    return store


@pytest.mark.parametrize("check", CHECKS)
def test_a_faithful_record_is_accepted(check: str) -> None:
    with recorded(MADE) as store:
        assert CHECKS[check](store, MADE) == []


@pytest.mark.parametrize("fault", FAULTY)
@pytest.mark.parametrize("check", CHECKS)
def test_a_fault_in_the_record_is_found(check: str, fault: str) -> None:
    with recorded(FAULTY[fault]) as store:
        assert CHECKS[check](store, MADE) != []


@pytest.mark.parametrize(
    "oracle",
    [
        MADE.changes[1:],
        (*MADE.changes, MADE.changes[0]),
        (*MADE.changes, Change(9, "room-nights", ("4",), ("3",))),
        (replace(MADE.changes[0], old=("3",)), *MADE.changes[1:]),
        (replace(MADE.changes[0], new=("3",)), *MADE.changes[1:]),
        (replace(MADE.changes[0], turn=5), *MADE.changes[1:]),
        (*MADE.changes[:2], replace(MADE.changes[2], new=("SF",))),
    ],
    ids=["one is missing", "one is listed twice", "one did not happen", "other old", "other new", "other turn", "not emptied"],
)
def test_an_oracle_that_says_otherwise_is_found(oracle: tuple[Change, ...]) -> None:
    with recorded(MADE) as store:
        assert changes_missed(store, replace(MADE, changes=oracle)) != []


def test_what_was_not_asked_for_is_found() -> None:
    with recorded(MADE) as store:
        store.ledger("made").set_fact("room-nights", "9", source="inferred", turn=9)
        assert CHECKS["states"](store, MADE) != []
        with pytest.raises(AssertionError, match="not asked for"):
            changes_missed(store, MADE)


def merged(values: tuple[FactValue, ...]) -> list[FactValue]:
    """The first and the third value, which are the same, as one interval."""
    return [replace(values[0], to_version=values[2].to_version), *values[1:2]]


WRONG: Final[dict[str, Callable[[tuple[FactValue, ...]], list[FactValue]]]] = {
    "the value that came back is merged": merged,
    "the oldest is dropped": lambda values: list(values[1:]),
    "they overlap": lambda values: [replace(values[0], to_version=values[1].from_version + 1), *values[1:]],
    "there is a gap": lambda values: [replace(values[0], to_version=values[1].from_version - 1), *values[1:]],
    "the link is missing": lambda values: [replace(values[0], superseded_by=None), *values[1:]],
    "the last is closed": lambda values: [*values[:-1], replace(values[-1], to_version=values[-1].from_version + 1)],
    "the first stands still": lambda values: [replace(values[0], to_version=None), *values[1:]],
    "they are in another order": lambda values: [values[1], values[0], values[2]],
    "one bears another turn": lambda values: [replace(values[0], turn=3), *values[1:]],
    "one is empty": lambda values: [replace(values[0], to_version=values[0].from_version), *values[1:]],
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_fault_in_a_history_is_found(wrong: str) -> None:
    with recorded(MADE) as store:
        values = view(store, "made").history("room-nights").values
        turns = turns_of(store.ledger("made").events())
    runs = runs_of(MADE)["room-nights"]
    assert [value.value for value in values] == ["4", "2", "4"]
    assert list(intervals_missed(values, runs, turns)) == []
    assert list(intervals_missed(WRONG[wrong](values), runs, turns)) != []
