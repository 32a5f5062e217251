"""A ledger that was made ready is windowed as of any version by another process without a tokenizer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ledger import Ledger, connect
from ledger.json_text import JsonText
from ledger.parts import ToolCallPart
from projections.policy import Policy, StubRules
from projections.state_block import BlockOptions
from replay import view
from replay.freshening import freshen

COLD = """
import sys
from ledger import connect
from projections.policy import Policy
from replay import view

with connect(sys.argv[1]) as store:
    for version in map(int, sys.argv[3:]):
        print(view(store, "case", at=version).window(Policy.model_validate_json(sys.argv[2])).tokens)
    print("tiktoken" in sys.modules)
"""
BERTHS = ("north quay", "south quay", "dry dock")


def record(case: Ledger, turns: int) -> None:
    """Turns with calls, and a state that changes all the time: facts superseded, entries, contradictions."""
    last: dict[str, str] = {}
    for number in range(1, turns + 1):
        if number % 4 == 2:
            call = ToolCallPart(call_id=f"c{number}", tool="sound", arguments=JsonText.of({"berth": f"B-{number:03}"}))
            case.record_turn("assistant", [call])
            case.record_return(f"c{number}", f"The depth at berth B-{number:03} is {number} fathoms. " * 12)
        else:
            case.record_turn("user" if number % 2 else "assistant", f"Sentence {number} about berth B-{number:03}. " * 5)
        field = BERTHS[number % 3]
        if number % 3 == 0:
            case.set_fact(field, f"B-{number:03}", source="user", supersedes=last.get(field))
            last[field] = f"B-{number:03}"
        elif number % 7 == 0:
            case.set_fact(f"depth {number}", number, source="tool")
        if number % 11 == 0:
            case.add_entry("decisions", f"moor at B-{number:03}", why=f"it is {number} fathoms deep", source="tool")
            case.set_fact("north quay", f"B-{number:03}", source="tool")


@pytest.mark.parametrize(
    "policy",
    [
        Policy(),
        Policy(stubs=StubRules(spent=False)),
        Policy(budget_tokens=3_000, state=BlockOptions(form="compact", budget_tokens=120)),
    ],
    ids=["default", "without stubs", "small"],
)
def test_the_middle_of_a_ledger_needs_no_tokenizer(tmp_path: Path, policy: Policy) -> None:
    address = str(tmp_path / "store.db")
    with connect(address) as store:
        record(store.ledger("case"), 320)
        freshen(store, "case", policy=policy)
        head = store.head("case").version
    versions = [head // 9 * part for part in range(2, 9)]
    arguments = [sys.executable, "-c", COLD, address, policy.model_dump_json(), *map(str, versions)]
    done = subprocess.run(arguments, capture_output=True, encoding="utf-8", check=True)
    *tokens, needed = done.stdout.split()
    with connect(address) as store:
        expected = [view(store, "case", at=version).window(policy).tokens for version in versions]
    assert list(map(int, tokens)) == expected
    assert needed == "False"
