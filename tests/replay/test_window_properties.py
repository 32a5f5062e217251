"""What holds for every window of every history without a compaction: valid, within its budget, nothing pinned left out.

What a compaction adds stands in ``tests/windows``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.parts import ReasoningPart, TextPart
from projections.errors import BudgetExceeded, NothingToSend
from projections.invariants import READERS, violations
from projections.invariants.shapes import Violation
from projections.policy import Policy
from projections.render.renderer import measure
from projections.transcript import Transcript
from projections.window import Window
from replay import View, view
from replay.tokens import counter
from tests.projections.histories import CONVERSATIONS, Step, recorded, without_media
from tests.projections.sdk_types import refusals_of
from tests.replay.message_blocks import blocks_of

PROVIDERS = ("openai", "openai_responses", "anthropic", "gemini")
FORMS = st.sampled_from(PROVIDERS)
TAILS = st.sampled_from([0, 1, 2, 3, 8])
SHARES = st.integers(0, 1050)
MUCH = 10_000_000


def reasoning_of(transcript: Transcript) -> frozenset[str]:
    parts = chain.from_iterable(turn.parts for turn in transcript.turns)
    return frozenset(str(part.raw) for part in parts if isinstance(part, ReasoningPart))


def faults(seen: View, window: Window, form: str) -> tuple[Violation, ...]:
    return violations(form, window.exact, reasoning=reasoning_of(seen.transcript().transcript))


def calls_in(window: Window, form: str) -> int:
    shape = READERS[form](window.exact)
    return sum(block.kind == "call" for message in shape.messages for block in message.blocks)


def system_of(window: Window, form: str) -> list[str]:
    request = window.request
    match form:
        case "openai":
            return [message["content"] for message in request["messages"] if message["role"] == "system"]
        case "anthropic":
            return [block["text"] for block in blocks_of({"content": request.get("system", "")})]
        case "gemini":
            return [part["text"] for part in request.get("systemInstruction", {"parts": ()})["parts"]]
        case _:
            said = request.get("instructions")
            return [] if said is None else [said]


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_in(item)


def mended(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


Case = tuple[list[Step], str, int, int]
CASES = st.tuples(CONVERSATIONS, FORMS, TAILS, SHARES)
WRITTEN_CASES = st.tuples(CONVERSATIONS.map(without_media), FORMS, TAILS, SHARES)
TIGHT_CASES = st.tuples(CONVERSATIONS, FORMS, TAILS, st.integers(-700, 100))
"""A history, a form, k, and how tight the budget is: from -1000 (nothing) over 0 (no tail) to 1000 (all that k asks for).

A picture whose bytes are gone costs less than it was priced at, so what just fits is asked of conversations in writing.
"""


def windows(seen: View, form: str, tail: int, share: int) -> tuple[Window, Window | BudgetExceeded, Policy]:
    """The window without a limit, the one (or the refusal) with a limit, and the policy of the latter."""
    whole = seen.window(Policy(tail_turns=tail, budget_tokens=MUCH, compaction=None), render=form)
    least = seen.window(Policy(tail_turns=0, budget_tokens=MUCH, compaction=None), render=form).tokens
    span = max(0, whole.tokens - least) if share > 0 else least
    policy = Policy(tail_turns=tail, budget_tokens=max(1, least + span * share // 1000), compaction=None)
    try:
        return whole, seen.window(policy, render=form), policy
    except BudgetExceeded as refusal:
        return whole, refusal, policy


@settings(deadline=None, max_examples=120)
@given(CASES)
def test_a_window_is_valid_and_within_its_budget(case: Case) -> None:
    steps, form, tail, share = case
    with recorded(steps) as store:
        seen = view(store, "case")
        whole, limited, policy = windows(seen, form, tail, share)
        assert faults(seen, whole, form) == ()
        if isinstance(limited, Window):
            assert faults(seen, limited, form) == ()
            assert limited.tokens <= policy.budget_tokens
            assert measure(limited.exact, counter(policy.encoding)) <= limited.tokens


@settings(deadline=None, max_examples=25)
@given(CONVERSATIONS, TAILS)
def test_the_official_types_take_a_window(steps: list[Step], tail: int) -> None:
    with recorded(steps) as store:
        for form in PROVIDERS:
            whole, _, _ = windows(view(store, "case"), form, tail, 1000)
            assert refusals_of(whole.request, form) == []


@settings(deadline=None, max_examples=100)
@given(WRITTEN_CASES)
def test_pins_stand_verbatim_and_call_units_whole(case: Case) -> None:
    steps, form, tail, share = case
    with recorded(steps) as store:
        seen = view(store, "case")
        _, window, _ = windows(seen, form, tail, share)
        assert isinstance(window, Window)
        transcript = seen.transcript().transcript
        texts = list(texts_in(window.request))
        said = [mended(text) for text in dict.fromkeys(one.text for one in transcript.system if one.text.strip())]
        assert "".join(system_of(window, form)).replace("\n", "") == "".join(said).replace("\n", "")
        pinned = {row.turn for row in window.receipt if row.rule in ("task", "current")}
        assert transcript.turns[-1].number in pinned
        for part in chain.from_iterable(transcript.turns[number - 1].parts for number in pinned):
            if isinstance(part, TextPart) and part.text.strip():
                assert any(mended(part.text) in text for text in texts)
        kept = {row.turn for row in window.receipt if row.verdict != "drop"}
        assert pinned <= kept
        assert calls_in(window, form) == sum(len(turn.calls) for turn in transcript.turns if turn.number in kept)


@settings(deadline=None, max_examples=100)
@given(WRITTEN_CASES)
def test_what_fits_is_not_left_out(case: Case) -> None:
    steps, form, tail, share = case
    with recorded(steps) as store:
        seen = view(store, "case")
        whole, limited, policy = windows(seen, form, tail, share)
        turns = seen.transcript().transcript.turns
        last = {turn.number for turn in turns[-tail - 1 :]}
        assert {row.turn for row in whole.receipt if row.verdict == "keep"} >= last
        if whole.tokens <= policy.budget_tokens:
            assert isinstance(limited, Window)
            assert (limited.request_bytes, limited.receipt.turns()) == (whole.request_bytes, whole.receipt.turns())


ADDED = 40
"""Tokens that no form adds to a turn of this kind."""


@settings(deadline=None, max_examples=100)
@given(WRITTEN_CASES)
def test_the_receipt_accounts_for_every_turn(case: Case) -> None:
    steps, form, tail, share = case
    with recorded(steps) as store:
        seen = view(store, "case")
        _, window, _ = windows(seen, form, tail, share)
        assert isinstance(window, Window)
        turns = seen.transcript().transcript.turns
        assert [row.turn for row in window.receipt] == [turn.number for turn in turns]
        assert all(row.tokens == 0 for row in window.receipt if row.verdict == "drop")
        kept = [row for row in window.receipt if row.verdict != "drop"]
        assert sum(window.receipt.blocks.values()) == window.tokens
        shown = sum(window.receipt.blocks[name] for name in ("kept", "live", "tail", "current"))
        assert sum(row.tokens for row in kept) <= shown
        from_tail = [row.turn for row in kept if row.rule == "tail"]
        holes = set(range(min(from_tail, default=len(turns)), len(turns) + 1)) - {row.turn for row in kept}
        room = window.policy.request_tokens - sum(window.receipt.blocks[name] for name in ("system", "tools", "task", "state"))
        assert all(row.before > room - ADDED for row in window.receipt if row.turn in holes), "only what fits no window"


@settings(deadline=None, max_examples=120)
@given(TIGHT_CASES)
def test_a_refusal_is_right_and_names_the_pins(case: Case) -> None:
    steps, form, tail, share = case
    with recorded(steps) as store:
        seen = view(store, "case")
        _, limited, policy = windows(seen, form, tail, share)
        if not isinstance(limited, BudgetExceeded):
            return
        needed = sum(limited.pins.values())
        assert needed > policy.budget_tokens
        assert set(limited.pins) <= {"system", "task", "current", "state"}
        assert all(name in str(limited) for name in limited.pins)
        assert limited.budget_tokens == policy.budget_tokens
        assert seen.window(policy.model_copy(update={"budget_tokens": needed}), render=form).tokens <= needed
        with pytest.raises(BudgetExceeded):
            seen.window(policy.model_copy(update={"budget_tokens": needed - 1}), render=form)


@pytest.mark.parametrize("form", [*PROVIDERS, "text", "markdown"])
def test_nothing_to_send_before_the_first_user_turn(form: str) -> None:
    with recorded([]) as store:
        handle = store.ledger("case")
        handle.record_turn("system", "Reply in Welsh.")
        handle.record_turn("assistant", "Bore da!")
        with pytest.raises(NothingToSend, match="user turn"):
            view(store, "case").window(render=form)
