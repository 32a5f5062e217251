"""A ledger that was made ready is windowed by another process without a tokenizer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger import JsonText, Ledgers, connect
from ledger.errors import UnknownLedger
from ledger.parts import ToolCallPart
from projections.policy import Policy
from projections.presets import PRESETS
from replay import view
from replay.freshening import freshen
from tests.postgres.server import Databases

COLD = """
import sys
from ledger import connect
from projections.policy import Policy
from replay import view

with connect(sys.argv[1]) as store:
    window = view(store, "case").window(Policy.model_validate_json(sys.argv[2]), render=sys.argv[3])
    print(window.tokens, window.receipt.through, "tiktoken" in sys.modules)
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where an empty store is."""
    if request.param == "sqlite":
        yield str(tmp_path / "store.db")
        return
    databases: Databases = request.getfixturevalue("postgres")
    with databases.lent() as found:
        yield found


def _record(store: Ledgers, turns: int, *, first: int = 1) -> None:
    case = store.ledger("case")
    for number in range(first, first + turns):
        if number % 4 == 2:
            call = ToolCallPart(call_id=f"c{number}", tool="sound", arguments=JsonText.of({"berth": f"B-{number:03}"}))
            case.record_turn("assistant", [call])
            case.record_return(f"c{number}", f"The depth at berth B-{number:03} is {number} fathoms. " * 20)
        else:
            case.record_turn("user" if number % 2 else "assistant", f"Sentence {number} about berth B-{number:03}. " * 9)
    case.set_fact("berth", f"B-{first:03}", source="user")


def _cold(address: str, policy: Policy, form: str = "openai") -> tuple[int, int, bool]:
    """Tokens and compacted turns of a window that another process builds, and whether it needed the tokenizer."""
    arguments = [sys.executable, "-c", COLD, address, policy.model_dump_json(), form]
    done = subprocess.run(arguments, capture_output=True, encoding="utf-8", check=True)
    tokens, through, needed = done.stdout.split()
    return int(tokens), int(through), needed == "True"


@pytest.mark.parametrize("form", ["openai", "text"])
def test_a_cold_window_needs_no_tokenizer_and_is_the_same(address: str, form: str) -> None:
    policy = Policy(budget_tokens=2_500)
    with connect(address) as store:
        _record(store, 90)
        freshen(store, "case", policy=policy)
        expected = view(store, "case").window(policy, render=form)
    tokens, through, needed = _cold(address, policy, form)
    assert not needed
    assert (tokens, through) == (expected.tokens, expected.receipt.through)
    assert through > 0


def test_what_came_since_is_counted_when_it_is_asked_for(tmp_path: Path) -> None:
    """And after the next freshening it is known."""
    address, policy = str(tmp_path / "store.db"), Policy()
    with connect(address) as store:
        _record(store, 30)
        freshen(store, "case")
    assert not _cold(address, policy)[2]
    with connect(address) as store:
        _record(store, 8, first=31)
    assert _cold(address, policy)[2]
    with connect(address) as store:
        freshen(store, "case")
    assert not _cold(address, policy)[2]


@pytest.mark.parametrize("form", ["gemini"])
def test_the_first_who_asks_for_a_window_makes_it_ready(address: str, form: str) -> None:
    """Though it was never made ready for this policy, or at all."""
    with connect(address) as store:
        _record(store, 90)
        freshen(store, "case")
    policy = Policy(budget_tokens=2_000, tail_turns=3)
    assert _cold(address, policy, form)[2]
    assert not _cold(address, policy, form)[2]


@pytest.mark.parametrize("name", PRESETS)
def test_any_policy_can_be_made_ready(tmp_path: Path, name: str) -> None:
    address = str(tmp_path / "store.db")
    with connect(address) as store:
        _record(store, 60)
        freshen(store, "case", policy=PRESETS[name])
    assert not _cold(address, PRESETS[name])[2]


def test_a_ledger_of_which_there_is_no_window_is_no_error(store: Ledgers) -> None:
    """No user turn, or a task that is larger than the budget: whoever asks for a window is told."""
    store.ledger("quiet").record_turn("system", "Be brief.")
    freshen(store, "quiet")
    store.ledger("large").record_turn("user", "All of it, please. " * 9_000)
    freshen(store, "large")
    with pytest.raises(UnknownLedger):
        freshen(store, "no such ledger")
