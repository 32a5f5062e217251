"""Whatever an extractor claims to have read in a dialogue, no value is the user's that the user's turn does not say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from bench.booking_patterns import BARE, CUED, booking_schema, slot_type
from ledger import connect
from ledger.events import Role, Source
from ledger.schema import Schema
from projections.extraction import Candidate, source_of
from projections.rule_extraction import RuleExtractor
from projections.transcript import Turn
from replay import view
from tests.state.conversation import Conversation
from tests.state.reading import SETS
from tests.state.said import Judge, judged, not_said, says
from tests.state.sampling import MOST_EVERY_DAY, sample

ENGLISH: Final = ("multiwoz", "sgd", "woz-en")
SCHEMAS: Final = {"cued": booking_schema(CUED), "bare": booking_schema(BARE)}


def transcripts(conversations: Sequence[Conversation]) -> Iterator[tuple[Conversation, tuple[Turn, ...]]]:
    """The conversations with their turns as a record gives them back."""
    with connect(":memory:") as store:
        for conversation in conversations:
            handle = store.ledger(conversation.name)
            for role, text in conversation.turns:
                handle.record_turn(role, text)
            yield conversation, view(store, conversation.name).transcript().turns


def claimed(conversation: Conversation, turns: Sequence[Turn]) -> list[Candidate]:
    """Every value of the dialogue's annotation, claimed of every turn, with the whole turn as its quote."""
    values = {
        (slot_type(slot) or slot, spelling)
        for state in conversation.states.values()
        for slot, spellings in state.items()
        for spelling in spellings
    }
    return [
        Candidate(field=name, value=value, quote=turn.text, turn=turn.number)
        for turn in turns
        for name, value in sorted(values)
    ]


def trusting(candidate: Candidate, turn: Turn, schema: Schema) -> Source | None:
    """A judge that takes every quote of a user turn for the user's word."""
    return "user" if turn.role == "user" and candidate.quote in turn.text else None


def deaf_to_roles(candidate: Candidate, turn: Turn, schema: Schema) -> Source | None:
    """A judge that does not ask who said it."""
    return "user" if source_of(candidate, turn, schema) is not None and str(candidate.value) in turn.text else None


def sources_of(conversations: Sequence[Conversation]) -> Counter[tuple[Role, Source | None]]:
    """What the values of these annotations count as, by the role of the turn that they are claimed of."""
    sources: Counter[tuple[Role, Source | None]] = Counter()
    for conversation, turns in transcripts(conversations):
        verdicts = judged(claimed(conversation, turns), turns, SCHEMAS["cued"], source_of)
        assert not_said(verdicts) == []
        sources.update((one.turn.role, one.source) for one in verdicts)
    return sources


@pytest.mark.parametrize("name", ENGLISH)
@pytest.mark.parametrize("patterns", SCHEMAS)
def test_no_pattern_makes_a_user_say_what_the_turn_does_not(annotated: Path, name: str, patterns: str) -> None:
    schema = SCHEMAS[patterns]
    sources: Counter[tuple[Role, Source | None]] = Counter()
    for _, turns in transcripts(SETS[name](annotated)):
        verdicts = judged(RuleExtractor().extract(turns, schema).candidates, turns, schema, source_of)
        assert not_said(verdicts) == []
        sources.update((one.turn.role, one.source) for one in verdicts)
    assert sources["user", "user"] > 15
    assert set(sources) <= {("user", "user"), ("user", "inferred")}


@pytest.mark.parametrize("name", SETS)
def test_no_claim_makes_a_user_say_what_the_turn_does_not(annotated: Path, name: str) -> None:
    sources = sources_of(sample(SETS[name](annotated), MOST_EVERY_DAY))
    assert min(sources["user", "inferred"], sources["assistant", "inferred"]) > 0
    assert sources["user", "user"] > 0 or name == "crosswoz"  # whole words are looked for, and Chinese sets no spaces
    assert not {source for role, source in sources if source is not None} - {"user", "inferred"}


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_no_claim_about_any_dialogue_does(annotated: Path, name: str) -> None:
    assert sum(sources_of(SETS[name](annotated)).values()) > 300


@pytest.mark.parametrize("name", SETS)
def test_a_quote_that_does_not_stand_in_the_turn_proves_nothing(annotated: Path, name: str) -> None:
    for conversation, turns in transcripts(sample(SETS[name](annotated), MOST_EVERY_DAY)):
        numbered = {turn.number: turn for turn in turns}
        elsewhere = [
            replace(claim, turn=turn.number)
            for claim in claimed(conversation, turns[:1])
            for turn in turns[1:]
            if claim.quote not in turn.text
        ]
        assert elsewhere
        assert {source_of(claim, numbered[claim.turn], SCHEMAS["cued"]) for claim in elsewhere} == {None}


@pytest.mark.parametrize("judge", [trusting, deaf_to_roles])
def test_a_judge_that_believes_too_much_is_found(annotated: Path, judge: Judge) -> None:
    conversation, turns = next(transcripts(SETS["multiwoz"](annotated)))
    assert not_said(judged(claimed(conversation, turns), turns, SCHEMAS["cued"], judge)) != []


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        ("A table for 7 at 17:15 .", "7", True),
        ("A table for 7 at 17:15 .", "17", True),
        ("A table for 7 at 17:15 .", "8", False),
        ("We leave at 5:15 pm", "17:15", True),
        ("We leave at 5:15 pm", "05:15", False),
        ("We leave at 14:00", "2 pm", True),
        ("We leave at 2", "2 pm", False),
        ("We leave at 9.15", "09:15", True),
        ("going to king 's lynn", "king's lynn", True),
        ("going to king 's lynn", "lynn king", False),
        ("im Süden", "süden", True),
        ("im Südenwest", "süden", False),
        ("吃娃娃菜这道菜", "娃娃菜", True),
        ("吃娃娃菜这道菜", "白菜", False),
    ],
)
def test_what_a_turn_says(text: str, value: str, said: bool) -> None:
    with connect(":memory:") as store:
        store.ledger("case").record_turn("user", text)
        store.ledger("case").record_turn("assistant", text)
        user, assistant = view(store, "case").transcript().turns
    assert says(user, value) is said
    assert not says(assistant, value)
