"""Turns that are read one by one are those of the whole ledger, at every version, whatever was recorded and forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger import JsonText, connect
from ledger.errors import LedgerError
from ledger.events import ToolReturned
from ledger.parts import TextPart, ToolCallPart
from replay.turns.ledger_turns import turns_of
from tests.contract.stores import CATALOGUE, OpenStore
from tests.index.telling import ENCODING, Clock, check_told, loaded_at, play
from tests.projections.histories import CONVERSATIONS, Step, recorded


@pytest.fixture(params=["sqlite-file", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """A store on a disk or a server."""
    made = CATALOGUE[request.param](tmp_path)
    yield made
    made.close()


@given(CONVERSATIONS, st.lists(st.integers(1, 12), max_size=2))
@settings(max_examples=30, deadline=None)
def test_whatever_was_said_and_forgotten_at_every_version(steps: list[Step], turns: list[int]) -> None:
    """Pictures, documents, reasoning, calls with odd ids, results of all kinds."""
    with recorded(steps) as ledgers:
        case = ledgers.ledger("case")
        check_told(ledgers, range(case.version + 1), "case")
        with suppress(LedgerError):  # there are no such turns
            case.forget(turns=turns, reason="asked to")
        check_told(ledgers, range(case.version + 1), "case")


@pytest.mark.parametrize("seed", range(6))
def test_histories_that_a_seed_chooses(seed: int) -> None:
    with connect(":memory:", clock=Clock()) as ledgers:
        play(ledgers, seed, rounds=3, steps=35, most=4)


@pytest.mark.parametrize("seed", range(50, 54))
def test_with_rules_of_retention(seed: int) -> None:
    with connect(":memory:", clock=Clock()) as ledgers:
        play(ledgers, seed, rounds=2, steps=30, most=4, keeps=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 200))
def test_more_histories_that_a_seed_chooses(seed: int) -> None:
    with connect(":memory:", clock=Clock()) as ledgers:
        play(ledgers, seed, rounds=4, steps=60, most=30, keeps=seed % 2 == 0)


@pytest.mark.parametrize("seed", range(20, 22))
def test_in_both_stores(opened: OpenStore, seed: int) -> None:
    play(opened(Clock()), seed, rounds=2, steps=30, most=5)


def test_results_that_come_one_by_one_and_late() -> None:
    """As of a version between them, a call waits: what it costs to name it without a result belongs to the card then."""
    with connect(":memory:", clock=Clock()) as ledgers:
        case = ledgers.ledger("case")
        case.record_turn("user", "Look at both depots.")
        calls = [
            ToolCallPart(call_id=f"call_{place}", tool="look", arguments=JsonText.of({"depot": place})) for place in range(3)
        ]
        case.record_turn("assistant", calls)
        case.record_return("call_2", "The south gate is shut.")
        case.record_return("call_0", "Open.", is_error=True)
        for number in range(70):
            case.record_turn("user", f"Anything else? {number}")
        case.record_return("call_1", "At last.")
        case.append(ToolReturned(call_id="call_1", parts=(TextPart(text="Again."),), orphan=True, turn=2))
        check_told(ledgers, [*range(8), case.version - 2, case.version - 1, case.version], "case")
        turns = turns_of(loaded_at(ledgers, "case", case.version), ENCODING)
        assert [turns.amended(turn) for turn in (1, 2, 60)] == [0, case.version, case.version]
        case.forget(ids=["r_3"], reason="asked to")
        check_told(ledgers, [*range(8), case.version], "case")
