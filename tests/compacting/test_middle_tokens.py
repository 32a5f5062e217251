"""What our notes and the text of the middle cost by adding is what a tokenizer counts in them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.parts import TextPart
from projections.compacting.middle import NOTHING, KeptTurn, Middle, Total
from projections.compacting.middle_text import Fullness, kept_note, kept_note_tokens, middle_text
from projections.compacting.note_tokens import FRAGMENTS, note_tokens
from projections.compacting.segments import Segment, compacted, inputs_digest
from projections.compacting.summaries import Summary
from projections.encodings import ENCODINGS
from projections.policy import Compaction, Policy, SummaryChoice
from projections.told import Told
from projections.transcript import Turn
from replay.tokens import counter
from replay.turns.folded import told

SEGMENT = 3
HOSTILE = st.lists(
    st.sampled_from(
        [
            *(
                "ORD-88213",
                "src/a/b.py",
                " /",
                "//",
                "\n",
                "\n/",
                "\r\n",
                "\t",
                " ",
                "  ",
                "]\n[turns 1-9",
                "= x",
                "`a  b`",
                '"a b"',
            ),
            *(
                "12,500 EUR",
                "\ud83d",
                "\udc00",
                "订单",
                "日本語のテキスト。",
                "é",
                "e\u0301",
                "\u200b",
                "\u2028",
                "<|endoftext|>",
                "<b>",
                "&",
            ),
            *("Keep it below 4 MB.", "No!", "never", "Remember: ", "'s", "\\n", "\\", "\x00", "😀", "1234567", "مرحبا"),
        ]
    )
    | st.text(max_size=12),
    max_size=14,
).map("".join)
NUMBERS = st.integers(1, 10**9)


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_a_fragment_costs_what_the_dearer_encoding_counts(fragment: str) -> None:
    assert max(counter(encoding)(fragment) for encoding in ENCODINGS) == FRAGMENTS[fragment]


def test_other_texts_are_no_notes() -> None:
    with pytest.raises(KeyError):
        note_tokens("[turns 1-9 are gone]\n")


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(NUMBERS, NUMBERS, st.lists(NUMBERS, min_size=1, max_size=40))
def test_the_note_of_kept_turns_costs_what_is_counted_or_one_more(
    encoding: str, first: int, last: int, kept: list[int]
) -> None:
    turns = [KeptTurn(number, first, last, "rule", 0, pinned=False) for number in kept]
    assert 0 <= kept_note_tokens(turns) - counter(encoding)(kept_note(turns)) <= 1


def as_told(number: int, text: str, encoding: str) -> Told:
    turn = Turn(number, number * 7, "user" if number % 2 else "assistant", (TextPart(text=text),))
    return told(turn, counter(encoding), lambda _: {})


def middle_of(texts: list[str], policy: Policy, summary: str) -> Middle:
    count, middle = counter(policy.encoding), NOTHING
    turns = [as_told(number, text, policy.encoding) for number, text in enumerate(texts, start=1)]
    for start in range(0, len(turns) - SEGMENT + 1, SEGMENT):
        here = turns[start : start + SEGMENT]
        first, last = here[0].turn.number, here[-1].turn.number
        recorded = Summary(f"sum_{start}", first, last, inputs_digest([one.turn for one in here]), summary, "someone")
        segment = Segment(here, [], turns[start + SEGMENT :], summaries=[recorded] if summary else [])
        middle = compacted(middle, segment, policy=policy, task=None, stubs={}, count=count)
    return middle


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(deadline=None, max_examples=100)
@given(
    st.lists(HOSTILE, min_size=SEGMENT, max_size=4 * SEGMENT),
    HOSTILE,
    st.sampled_from(["compress", "keep"]),
    st.lists(NUMBERS, max_size=15),
)
def test_the_middle_costs_what_its_text_does(
    encoding: str, texts: list[str], summary: str, otherwise: Any, numbers: list[int]
) -> None:
    compaction = Compaction(segment_turns=SEGMENT, by=(SummaryChoice(),))
    policy = Policy(encoding=encoding, otherwise=otherwise, budget_tokens=600, compaction=compaction)
    middle = middle_of(texts, policy, summary)
    middle = replace(middle, results=tuple(numbers), totals={**middle.totals, "never": Total(sum(numbers))})
    evidence = [f"ev_{number}" if number % 2 else f"con_{number}" for number in numbers]
    for fullness in get_args(Fullness):
        told = middle_text(middle, policy, fullness=fullness, evidence=evidence)
        assert told is not None
        text, tokens = told
        assert tokens == counter(encoding)(text)
