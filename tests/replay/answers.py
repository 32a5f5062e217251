"""Everything that a view answers, as bytes by name; ``python -m tests.replay.answers STORE`` prints a digest of each."""

from __future__ import annotations

import hashlib
import sys

from ledger import Ledgers, connect
from projections.errors import BudgetExceeded, NothingToSend
from projections.policy import Policy
from replay import view
from replay.moment import At

FORMS = ("openai", "anthropic", "text")
POLICIES = (Policy(), Policy(tail_turns=2, budget_tokens=300), Policy(tail_turns=0, budget_tokens=60))


def answers(store: Ledgers, name: str, at: At = None) -> dict[str, bytes]:
    """Transcript, state, handoff, the history of each field, and the windows in each form; a refusal is an answer too."""
    seen = view(store, name, at=at)
    given = {
        "transcript": seen.transcript().to_json(),
        "state": seen.state().to_json(),
        "block": seen.state().block.encode(),
        "handoff": seen.handoff().to_json(),
        **{f"history of {field}": seen.history(field).to_json() for field in seen.fields()},
    }
    for form in FORMS:
        for number, policy in enumerate(POLICIES):
            try:
                answer = seen.window(policy, render=form).to_json()
            except (BudgetExceeded, NothingToSend) as refusal:
                answer = f"{refusal} {sorted(refusal.details.items())}".encode()
            given[f"window {number} as {form}"] = answer
    return given


def digests(store: Ledgers) -> list[str]:
    """A line for every answer at every version of every ledger."""
    return [
        f"{head.name} {version} {name} {hashlib.sha256(answer).hexdigest()}"
        for head in store.heads()
        for version in range(head.version + 1)
        for name, answer in answers(store, head.name, version).items()
    ]


if __name__ == "__main__":
    with connect(sys.argv[1]) as opened:
        sys.stdout.write("\n".join(digests(opened)) + "\n")
