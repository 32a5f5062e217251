"""Policies of all kinds."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from projections.policy import Compaction, Policy, StubRules
from projections.presets import PRESETS
from projections.state_block import BlockOptions
from projections.verdicts.rules import DEFAULT_RULES

_SHARES = st.lists(st.integers(0, 45), min_size=4, max_size=4).filter(lambda shares: sum(shares) <= 90)
COMPACTIONS = st.builds(
    lambda segment, shares: Compaction(
        segment_turns=segment,
        live_percent=shares[0],
        kept_percent=shares[1],
        text_percent=shares[2],
        exact_percent=shares[3],
    ),
    st.sampled_from([1, 2, 3, 5, 8, 13]),
    _SHARES,
)
STUBS = st.builds(
    StubRules,
    spent=st.sampled_from([True, True, True, False]),
    older_than_turns=st.none() | st.integers(0, 20),
    larger_than_tokens=st.sampled_from([0, 60, 300]),
    excluded_tools=st.sampled_from([(), (), ("find_order",)]),
    clear_at_least_tokens=st.sampled_from([0, 200, 1_000, 5_000]),
)
_FIELDS: dict[str, Any] = {
    "tail_turns": st.integers(0, 14),
    "tail_exchanges": st.integers(0, 3),
    "tail_tokens": st.none() | st.sampled_from([0, 100, 1_000]),
    "budget_tokens": st.integers(150, 2_500) | st.integers(150, 8_000),
    "encoding": st.sampled_from(["o200k_base", "cl100k_base"]),
    "pins": st.lists(st.integers(1, 30), max_size=2, unique=True).map(tuple),
    "pins_task": st.booleans(),
    "rules": st.sampled_from([DEFAULT_RULES, DEFAULT_RULES, ()]),
    "otherwise": st.sampled_from(["compress", "keep", "stub", "drop"]),
    "stubs": STUBS,
    "compaction": st.none() | COMPACTIONS | COMPACTIONS | COMPACTIONS,
    "image_tokens": st.sampled_from([85, 1_600]),
    "images": st.sampled_from(["show", "name"]),
    "state": st.sampled_from([BlockOptions(), BlockOptions(budget_tokens=80), None]),
    "state_place": st.sampled_from(["before_tail", "after_system"]),
}
FREE = st.builds(Policy, **_FIELDS)
NAMED = st.builds(
    lambda name, budget: PRESETS[name].model_copy(update={"budget_tokens": budget}),
    st.sampled_from(sorted(PRESETS)),
    st.integers(300, 8_000),
)
POLICIES = st.one_of(FREE, FREE, NAMED)
