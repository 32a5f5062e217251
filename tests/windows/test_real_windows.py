"""The windows of conversations that others had keep what is promised at every turn, and what the user named stays.

The everyday run looks at a sample, the slow one at every turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledgers, connect
from projections.errors import BudgetExceeded, NothingToSend
from projections.exact.strings import identifying_strings
from projections.policy import Policy
from projections.presets import PRESETS
from replay import view
from tests.windows.promises import faults
from tests.windows.real_ledgers import import_all
from tests.windows.stories import FORMS

BUDGETS = (1_500, 4_000, 8_000, 16_000)
TAILS = (2, 4, 6, 8)


@pytest.fixture(scope="module")
def store(real_data: Path) -> Iterator[Ledgers]:
    with connect(":memory:") as opened:
        assert import_all(opened, real_data) > 45
        yield opened


def sweep(store: Ledgers, policies: list[Policy], *, step: int) -> Counter[str]:
    """Windows before every ``step``-th turn and at the end, each under other policies and in other forms than the last.

    One a turn for a sample, three a turn where no turn is passed over.
    """
    kinds: Counter[str] = Counter()
    for head in store.heads():
        turns = [event.version for event in store.ledger(head.name).events() if event.event.type == "turn.recorded"]
        for place, version in enumerate([head.version, *turns[::-step]]):
            seen = view(store, head.name, at=version)
            for number in range(3 if step == 1 else 1):
                policy = policies[(place + 7 * number) % len(policies)]
                form = FORMS[(place + number) % len(FORMS)]
                try:
                    window = seen.window(policy, render=form)
                except (BudgetExceeded, NothingToSend) as refusal:
                    kinds[type(refusal).__name__] += 1
                    continue
                assert faults(seen, window, policy) == [], (head.name, version, policy.budget_tokens, policy.tail_turns, form)
                kinds["compacted" if window.receipt.through else "whole"] += 1
    return kinds


ALL = [Policy(tail_turns=tail, budget_tokens=budget) for budget, tail in product(BUDGETS, TAILS)]
NAMED = [policy.model_copy(update={"budget_tokens": 4_000}) for policy in PRESETS.values()]


def test_a_sample_of_real_windows_keeps_what_is_promised(store: Ledgers) -> None:
    kinds = sweep(store, [*ALL, *NAMED], step=37)
    assert kinds["compacted"] > 20
    assert kinds["whole"] > 20


@pytest.mark.slow
def test_every_real_window_keeps_what_is_promised(store: Ledgers) -> None:
    kinds = sweep(store, [*ALL, *NAMED], step=1)
    assert kinds["compacted"] > 500


def test_what_the_user_named_stands_in_the_window_to_the_end(store: Ledgers) -> None:
    named = 0
    for head in store.heads():
        seen = view(store, head.name)
        try:
            window = seen.window(Policy(budget_tokens=8_000))
        except NothingToSend:
            continue
        said = "\n".join(texts_in(window.request))
        users = [turn for turn in seen.transcript().turns if turn.role == "user"]
        names = {string for turn in users for string in identifying_strings(turn.text)}
        named += len(names)
        assert {name for name in names if name not in said} == set(), head.name
    assert named > 150


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a request."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_in(item)
