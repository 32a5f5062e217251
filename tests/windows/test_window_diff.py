"""What differs between two windows of one ledger."""

from __future__ import annotations

import json

import pytest

from ledger import Ledgers
from ledger.errors import InvalidInput
from projections.policy import Policy
from replay import view
from replay.window_diff import diff_windows

SMALL = Policy(budget_tokens=700, tail_turns=4)
SLIDING = Policy(budget_tokens=700, tail_turns=1_000, rules=(), compaction=None, state=None, pins_task=False)


def _voyage(store: Ledgers, turns: int = 60) -> None:
    case = store.ledger("voyage")
    case.record_turn("user", "Plan the crossing. Never book the night boat FRY-031.")
    for number in range(2, turns + 1):
        text = f"Sentence {number} about berth B-{number:03} and its cranes, of which two were mended in March."
        case.record_turn("user" if number % 2 else "assistant", text)


def test_a_window_differs_in_nothing_from_itself(store: Ledgers) -> None:
    _voyage(store)
    found = diff_windows(view(store, "voyage").window(SMALL), view(store, "voyage").window(SMALL))
    assert (found.turns, found.text) == ((), ())
    assert found.tokens[0] == found.tokens[1]
    assert all(before == after for before, after in found.blocks.values())


def test_another_policy_is_told_by_verdicts_blocks_and_lines(store: Ledgers) -> None:
    """Of every turn that became something else, and of these alone."""
    _voyage(store)
    before, after = view(store, "voyage").window(SMALL), view(store, "voyage").window(SLIDING)
    found = diff_windows(before, after)
    ours, theirs = before.receipt.turns(), after.receipt.turns()
    changed = [row.turn for row, other in zip(ours, theirs, strict=True) if row.verdict != other.verdict]
    assert [change.turn for change in found.turns] == changed
    first = found.turns[0]
    assert first.before is not None
    assert first.after is not None
    assert (first.turn, first.before.verdict, first.before.rule) == (1, "keep", "task")
    assert (first.after.verdict, first.after.rule) == ("drop", "budget")
    assert {name: sizes[0] for name, sizes in found.blocks.items()} == dict(before.receipt.blocks)
    assert {name: sizes[1] for name, sizes in found.blocks.items()} == dict(after.receipt.blocks)
    assert "-Plan the crossing. Never book the night boat FRY-031." in found.text


def test_the_changed_lines_lead_from_one_text_to_the_other(store: Ledgers) -> None:
    """What is taken away stood in the first, what is put in its place stands in the second."""
    _voyage(store)
    before, after = view(store, "voyage").window(SMALL), view(store, "voyage").window(SLIDING)
    lines = [line for line in diff_windows(before, after).text if not line.startswith("@@")]
    assert lines
    gone, came = ([line[1:] for line in lines if line[0] == sign] for sign in "-+")
    assert set(gone) <= set(before.text.splitlines())
    assert set(came) <= set(after.text.splitlines())
    kept = [line for line in before.text.splitlines() if line not in gone]
    assert set(kept) <= set(after.text.splitlines())


def test_a_turn_that_one_side_has_not_got_yet_is_told_as_missing(store: Ledgers) -> None:
    _voyage(store, 6)
    found = diff_windows(view(store, "voyage", at=4).window(), view(store, "voyage").window())
    assert [(change.turn, change.before) for change in found.turns] == [(5, None), (6, None)]
    back = diff_windows(view(store, "voyage").window(), view(store, "voyage", at=4).window())
    assert [(change.turn, change.after) for change in back.turns] == [(5, None), (6, None)]


def test_its_json_has_both_bases_and_pairs(store: Ledgers) -> None:
    _voyage(store)
    before, after = view(store, "voyage").window(SMALL), view(store, "voyage").window(SLIDING)
    found = json.loads(diff_windows(before, after).to_json())
    assert (found["before"]["policy"], found["after"]["policy"]) == (SMALL.digest, SLIDING.digest)
    assert found["tokens"] == [before.tokens, after.tokens]
    assert found["blocks"]["tail"] == [before.receipt.blocks["tail"], after.receipt.blocks["tail"]]
    assert found["turns"][0]["before"] == {"verdict": "keep", "rule": "task", "tokens": before.receipt.rows[0].tokens}


def test_windows_of_two_ledgers_have_no_turns_in_common(store: Ledgers) -> None:
    _voyage(store, 3)
    store.ledger("other").record_turn("user", "Is the lock open?")
    with pytest.raises(InvalidInput, match="'other'"):
        diff_windows(view(store, "voyage").window(), view(store, "other").window())
