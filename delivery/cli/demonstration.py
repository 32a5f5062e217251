"""The demonstration: the refund case recorded, then asked at two points of its history."""

from __future__ import annotations

import os
from typing import Final

import typer

from delivery.app import DEFAULT_STORE, STORE_VARIABLE, open_store
from delivery.cli.printing import print_text
from delivery.cli.reading import print_brief, print_history, print_state, print_window
from delivery.cli.refund_case import NAME, record_refund_case
from projections.policy import Policy
from replay import Turn, view

DEMO_STORE: Final = "./context-ledger-demo.db"


def demo(context: typer.Context) -> None:
    """Record the refund case into a store of its own, and show window, state, history and handoff at two points in time.

    Example: context-ledger demo
    """
    chosen = context.obj != DEFAULT_STORE or os.environ.get(STORE_VARIABLE)
    place = str(context.obj) if chosen else DEMO_STORE
    with open_store(place) as store:
        record_refund_case(store.ledger(NAME))
        before, now = view(store, NAME, at=Turn(10)), view(store, NAME)
        policy = Policy(tail_turns=4, budget_tokens=1_000)
        for title, asked in (("as of turn 10, before the amount was corrected", before), ("now", now)):
            _title(f"Window, {title}")
            print_window(asked.window(policy, render="text"))
            _title(f"State, {title}")
            print_state(asked.state())
        _title("History of the amount")
        print_history(now.history("amount"))
        _title("Handoff to a fresh session")
        print_brief(now.handoff().brief)
    _title("Go on")
    for command in (
        f"show {NAME}",
        f"window {NAME} --at turn:10 --render anthropic --json",
        f"explain {NAME} amount",
        "verify",
    ):
        print_text(f"context-ledger --store {place} {command}")


def _title(text: str) -> None:
    print_text(f"\n=== {text} {'=' * max(0, 90 - len(text))}\n")
