"""Windows as people read them: the text, what each block costs, and why turns are in it or not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from delivery.cli.printing import counted, one_line, print_basis, print_table, print_text
from projections.basis import Basis
from projections.planning.plan import ranges
from projections.receipt import Row
from projections.window import Window
from projections.wire import to_json
from replay.window_diff import Became, WindowDiff

_TURN: Final = re.compile(r"turn \d+(.*)")


def print_window(found: Window, *, every_turn: bool = False) -> None:
    """What the request holds, as text, then its blocks, its receipt and its price, which are those of the chosen form.

    The receipt has rows for pins, tail and stubs; with ``every_turn`` one for each turn, which reads the whole ledger.
    """
    print_basis(found.basis)
    print_text(found.text.rstrip("\n") + "\n")
    print_table(("block", "tokens"), [block for block in found.receipt.blocks.items() if block[1]])
    print_text()
    _print_rows(found.receipt.turns() if every_turn else found.receipt.rows)
    print_text()
    for line in _lines(found):
        print_text(one_line(line))
    print_text(f"{found.tokens:,} tokens ({found.encoding})")


def recorded_json(found: Window, served: str) -> bytes:
    """The window as its JSON, with the id under which it was recorded as served."""
    return found.to_json()[:-1] + b',"recorded":' + to_json(served) + b"}"


def print_window_diff(found: WindowDiff) -> None:
    """What differs between two windows: blocks, verdicts, then the changed lines of the text."""
    for side, basis in (("-", found.before), ("+", found.after)):
        print_text(f"{side} {_basis(basis)}")
    print_text()
    changed = [(name, *both, f"{both[1] - both[0]:+,}") for name, both in found.blocks.items() if both[0] != both[1]]
    total = ("total", *found.tokens, f"{found.tokens[1] - found.tokens[0]:+,}")
    print_table(("block", "before", "after", "change"), [*changed, total])
    print_text()
    if found.turns:
        print_table(
            ("turn", "before", "rule", "after", "rule"),
            [(change.turn, *_became(change.before), *_became(change.after)) for change in found.turns],
        )
        print_text()
    for line in found.text:
        print_text(line)
    same = "" if found.text else ", and the text is the same"
    print_text(
        f"{counted(len(found.turns), 'turn')} changed {'its verdict' if len(found.turns) == 1 else 'their verdict'}{same}"
    )


def _basis(basis: Basis) -> str:
    return f"{one_line(basis.ledger)} at version {basis.version}, policy {(basis.policy or '')[:12]}"


def _became(found: Became | None) -> tuple[str, str]:
    return ("not there", "") if found is None else (found.verdict, found.rule)


def _print_rows(rows: Sequence[Row]) -> None:
    print_table(
        ("turn", "verdict", "rule", "tokens", "of"),
        [
            (row.turn, row.verdict, f"{row.rule}{', asks to forget' * row.asks_to_forget}", row.tokens, row.before)
            for row in rows
        ],
    )


def _lines(found: Window) -> Iterator[str]:
    """What the rows do not say: what was compacted, how much of the tail is left, what gave way, how the model counts."""
    receipt, policy = found.receipt, found.policy
    if receipt.through:
        verdicts = _listed(f"{total.turns:,} {verdict} ({total.before:,} tokens)" for verdict, total in receipt.totals.items())
        left = receipt.blocks["kept"] + receipt.blocks["middle"]
        yield f"turns 1-{receipt.through} are compacted to {left:,} tokens: {verdicts}"
    yield f"tail: {_tail(found)}"
    if receipt.summaries or receipt.wanting:
        taken = f"summaries: {', '.join(receipt.summaries) or 'none'}"
        yield taken + (f"; {counted(receipt.wanting, 'segment')} told in extracts for want of one" if receipt.wanting else "")
    if receipt.gave_way:
        yield f"gave way to the budget: {_listed(_gave_way(receipt.gave_way))}"
    if found.block is not None and found.block.gave_way:
        yield f"of the state {counted(len(found.block.gave_way), 'line')} gave way: see context-ledger state"
    known = receipt.calibration
    if known is not None:
        budget = int(policy.request_tokens / known.factor)
        learnt = f"{known.model} counts {known.factor:g} times as much ({counted(known.samples, 'sample')})"
        yield f"{learnt}: at most {budget:,} tokens of ours"
    reserve = f" less {policy.reserve_tokens:,} in reserve" if policy.reserve_tokens else ""
    yield f"budget: {policy.budget_tokens:,} tokens{reserve}"


def _tail(found: Window) -> str:
    """How many turns of the tail are left of those that it would have: no more than there are, or more for whole exchanges."""
    left, before = found.receipt.effective_tail, found.receipt.rows[-1].turn - 1
    wanted = min(found.policy.tail_turns, before)
    return f"{left:,} of {wanted:,} turns" if left <= wanted else counted(left, "turn")


def _gave_way(steps: Sequence[str]) -> Iterator[str]:
    """What gave way, in order; turns that did so one after the other, and why in the same words, in one word."""
    for why, group in groupby(steps, key=_why_of_a_turn):
        if why is None:
            yield from group
            continue
        for first, last in ranges(int(step.removeprefix("turn ").removesuffix(why)) for step in group):
            yield f"turn {first}{why}" if first == last else f"turns {first}-{last}{why}"


def _why_of_a_turn(step: str) -> str | None:
    """What is said of a single turn that gave way; None where the step is another one."""
    found = _TURN.fullmatch(step)
    return None if found is None else found[1]


def _listed(words: Iterable[str]) -> str:
    return "; ".join(words) or "none"
