"""A ledger that was made ready is windowed as of any version by another process without a tokenizer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from ledger import Ledger, connect
from ledger.json_text import JsonText
from ledger.parts import DocumentPart, TextPart, ToolCallPart
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
        made = view(store, "case", at=version).window(Policy.model_validate_json(sys.argv[2]))
        print(made.tokens, *made.receipt.gave_way, sep=",")
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
        record(store.ledger("case"), 220)
        freshen(store, "case", policy=policy)
        head = store.head("case").version
    versions = [head // 9 * part for part in range(2, 9)]
    assert cold(address, policy, versions) == warm(address, policy, versions)


def test_results_that_are_cut_and_turns_that_give_way_need_no_tokenizer(tmp_path: Path) -> None:
    """Whatever is left for them, at whatever version, though nobody ever asked for it."""
    address, policy = str(tmp_path / "store.db"), Policy(budget_tokens=1_200, tail_turns=4)
    with connect(address) as store:
        case = store.ledger("case")
        record_soundings(case)
        freshen(store, "case", policy=policy)
        versions = [*range(3, store.head("case").version)]
    found = cold(address, policy, versions)
    assert found == warm(address, policy, versions)
    gave_way = [step for line in found for step in line.split(",")[1:]]
    assert gave_way.count("results not answered yet") > 10
    assert sum(step.startswith("turn ") for step in gave_way) > 10


def record_soundings(case: Ledger) -> None:
    """Turns and results of many sizes: some are larger than the budget, and up to three come at once."""
    case.record_turn("user", "Sound the berths, all of them; never moor at B-013.")
    for number in range(1, 25):
        calls = [sounding(number, part) for part in range(number % 3 + 1)]
        said = f"Now part {number} of /srv/berths. " * (1 + 9 * (number % 5))
        case.record_turn("assistant", [TextPart(text=said), *calls])
        for part, call in enumerate(calls):
            found = f"At B-{part:03} it is {number} fathoms,\n  says the pilot.\n"
            case.record_return(call.call_id, found * (number * 7 % 60))
        case.record_turn(
            "user", f"And B-{number:03} at {number}:30? " + "Tell me of its planks and rings. " * (number * 5 % 40)
        )


def test_what_came_late_needs_no_tokenizer_before_and_after(tmp_path: Path) -> None:
    """A result that comes a turn late or much later, a classification, a summary: as of all versions about them."""
    address, policy = str(tmp_path / "store.db"), Policy(budget_tokens=700)
    with connect(address) as store:
        case = store.ledger("case")
        for number in range(1, 61):
            if number in (14, 38):
                case.record_turn("assistant", [sounding(number, 7)])
                case.record_turn("user", "Wait, what about B-07 of the south quay?")
                if number == 14:
                    case.record_return("c14-7", "It is free. " * 5)
            elif number % 2:
                case.record_turn("user", f"And what about berth B-{number:03}? " * 4)
            else:
                case.record_turn("assistant", f"Berth B-{number:03} is taken by the Elsa until noon. " * 4)
            if number == 30:
                freshen(store, "case", policy=policy)
            if number == 50:
                case.classify(27, "keep", by="person")
                case.record_return("c38-7", "It was free then. " * 5)
        freshen(store, "case", policy=policy)
        versions = [*range(3, store.head("case").version)]
    assert cold(address, policy, versions) == warm(address, policy, versions)


def test_a_system_text_with_a_document_needs_no_tokenizer(tmp_path: Path) -> None:
    address, policy = str(tmp_path / "store.db"), Policy()
    with connect(address) as store:
        case = store.ledger("case")
        sha256 = case.store_artifact(b"Moor by the stern. " * 40, media_type="text/plain")
        rules = DocumentPart(media_type="text/plain", name="rules.txt", sha256=sha256)
        case.record_turn("system", [TextPart(text="You are a pilot."), rules])
        case.record_turn("user", "Which berth is free?")
        case.record_turn("assistant", "B-007.")
        freshen(store, "case", policy=policy)
    assert cold(address, policy, [3, 4]) == warm(address, policy, [3, 4])


def sounding(number: int, part: int) -> ToolCallPart:
    return ToolCallPart(call_id=f"c{number}-{part}", tool="sound", arguments=JsonText.of({"berth": f"B-{part:03}"}))


def cold(address: str, policy: Policy, versions: Sequence[int]) -> list[str]:
    """The tokens of windows in a process of their own, and what gave way; it must not have loaded a tokenizer."""
    arguments = [sys.executable, "-c", COLD, address, policy.model_dump_json(), *map(str, versions)]
    done = subprocess.run(arguments, capture_output=True, encoding="utf-8", check=True)
    *found, needed = done.stdout.splitlines()
    assert needed == "False"
    return found


def warm(address: str, policy: Policy, versions: Sequence[int]) -> list[str]:
    with connect(address) as store:
        made = [view(store, "case", at=version).window(policy) for version in versions]
    return [",".join(map(str, (window.tokens, *window.receipt.gave_way))) for window in made]
