"""A digest of windows at many versions of a store; ``python -m tests.windows.window_digests STORE`` prints them."""

from __future__ import annotations

import hashlib
import sys
from typing import Final

from ledger import Ledgers, connect
from projections.errors import BudgetExceeded, NothingToSend
from projections.policy import Compaction, Policy
from projections.presets import PRESETS
from replay import view

POLICIES: Final = (
    Policy(budget_tokens=1_500),
    Policy(tail_turns=2, budget_tokens=900, compaction=Compaction(segment_turns=3)),
    PRESETS["coding"].model_copy(update={"budget_tokens": 3_000}),
)


def digests(store: Ledgers) -> list[str]:
    """A line for every window, or the words of its refusal."""
    last = store.head("case").version
    return [line(store, version, number) for version in range(2, last + 1, 7) for number in range(len(POLICIES))]


def line(store: Ledgers, version: int, number: int) -> str:
    """A line for one window."""
    try:
        made = view(store, "case", at=version).window(POLICIES[number], render=("openai", "anthropic", "gemini")[number])
    except (BudgetExceeded, NothingToSend) as refusal:
        return f"{version} {number} {refusal}"
    content = made.request_bytes + repr((made.receipt.turns(), made.receipt.summary())).encode()
    return f"{version} {number} {made.tokens} {hashlib.sha256(content).hexdigest()}"


if __name__ == "__main__":
    with connect(sys.argv[1]) as opened:
        sys.stdout.write("\n".join(digests(opened)) + "\n")
