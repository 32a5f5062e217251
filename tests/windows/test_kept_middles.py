"""What is kept of windows changes none of them: every store, another process, what was forgotten or is past its retention."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from ledger import Ledgers, connect
from projections.policy import Compaction, Policy
from replay import view
from tests.contract.conftest import open_shared  # noqa: F401
from tests.contract.stores import OpenStore
from tests.projections.histories import Player, ticking
from tests.windows.stories import long_story, play
from tests.windows.window_digests import POLICIES, digests

ROOT = Path(__file__).resolve().parents[2]


def test_every_store_and_process_makes_the_same_windows(open_shared: OpenStore) -> None:  # noqa: F811
    store = open_shared(ticking())
    player = Player(store.ledger("case"))
    for step in long_story(11, 16, forgets=True):
        play(player, step)
        if player.turns and player.turns % 5 == 0:
            for policy in POLICIES:
                view(store, "case").window(policy)  # leaves something behind
    with connect(":memory:", clock=ticking()) as other:
        again = Player(other.ledger("case"))
        for step in long_story(11, 16, forgets=True):
            play(again, step)
        fresh = digests(other)
    assert len(set(fresh)) > 30
    assert digests(store) == fresh
    command = [sys.executable, "-m", "tests.windows.window_digests", open_shared.address]
    environment = {**os.environ, "PYTHONHASHSEED": "815"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == fresh


@pytest.mark.parametrize("first", ["before", "after"])
def test_what_is_past_its_retention_is_in_no_window(first: str) -> None:
    begins = datetime(2031, 5, 1, tzinfo=UTC)
    moments = {"before": begins + timedelta(days=1), "after": begins + timedelta(days=40)}
    with connect(":memory:", clock=count(int(begins.timestamp() * 1_000_000), 1_000).__next__) as store:
        record_much(store)
        policy = Policy(tail_turns=2, budget_tokens=700, compaction=Compaction(segment_turns=4))
        for name in sorted(moments, key=lambda name: name != first):
            made = view(store, "case", judged_at=moments[name]).window(policy)
            assert made.receipt.through > 20
            assert (b"IBAN-77120" in made.request_bytes) == (name == "before")


def record_much(store: Ledgers) -> None:
    case = store.ledger("case")
    case.set_retention("30 days", label="payment")
    case.record_turn("user", "Settle the berth fees of May.")
    case.record_turn("user", "Remember that the account is IBAN-77120.", labels=["payment"])
    for number in range(50):
        case.record_turn(
            "assistant" if number % 2 == 0 else "user", f"Remark {number} about the mooring lines of boat {number}."
        )
