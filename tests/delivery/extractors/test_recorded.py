"""What a model answers, as it comes to stand in a record."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from delivery.endpoint_errors import EndpointFailed
from ledger import Ledger, Ledgers, connect
from ledger.events import ExtractionRecorded
from replay import view
from replay.extraction import extract
from tests.delivery.extractors.conftest import Asking
from tests.delivery.extractors.model_server import MODEL, ModelServer, candidates, completion, failure
from tests.delivery.extractors.refunds import REFUND, said

GOOD = (
    said("order_id", "KA-7731", "Order KA-7731", 1),
    said("amount", "4,180 INR", "4,180 INR", 1),
    said("amount", "4,050 INR", "4,050 INR", 3, corrects=True),
    said("items", 3, "3 items", 2),
)


@pytest.fixture
def store() -> Iterator[Ledgers]:
    """A store with a conversation about a refund."""
    with connect(":memory:") as ledgers:
        ledger = ledgers.ledger("case", schema=REFUND)
        ledger.record_turn("user", "Order KA-7731, please refund 4,180 INR")
        ledger.record_turn("assistant", "That was 3 items?")
        ledger.record_turn("user", "Yes. Sorry, I meant 4,050 INR")
        yield ledgers


def runs(ledger: Ledger) -> list[ExtractionRecorded]:
    """The recorded runs."""
    return [one.event for one in ledger.events() if isinstance(one.event, ExtractionRecorded)]


def test_an_answer_becomes_facts_with_their_sources(store: Ledgers, server: ModelServer, asking: Asking) -> None:
    server.answers(candidates(*GOOD))
    extractor = asking()
    done = extract(store, "case", extractor)
    assert [one.event.type for one in done.recorded] == ["fact.set", "fact.set", "fact.set", "fact.superseded"]
    standing = {name: (value.value, value.source, value.turn) for name, value in view(store, "case").state().entities.items()}
    assert standing == {"order_id": ("KA-7731", "user", 1), "amount": ("4,050 INR", "user", 3), "items": (3, "inferred", 2)}
    (run,) = runs(store.ledger("case"))
    assert (run.extractor, run.model, run.candidates, run.incomplete) == ("openai/1", MODEL, 4, None)
    assert run.prompt_hash is not None
    assert run.usage is not None
    assert extract(store, "case", extractor).turns == ()
    assert len(server.requests) == 1


def test_a_cut_answer_counts_and_the_turns_are_asked_about_again(store: Ledgers, server: ModelServer, asking: Asking) -> None:
    whole = completion_of(*GOOD)
    server.answers(completion(whole[: whole.index('"4,050 INR"') + 5], finish="length"), candidates(*GOOD))
    first = extract(store, "case", asking())
    assert [one.event.type for one in first.recorded] == ["fact.set", "fact.set"]
    assert first.incomplete is not None
    again = extract(store, "case", asking())
    assert (first.turns, again.turns, again.incomplete) == ((1, 2, 3), (1, 2, 3), None)
    ledger = store.ledger("case")
    facts = [one.event.type for one in ledger.events() if one.event.type.startswith("fact.")]
    assert facts == ["fact.set", "fact.set", "fact.set", "fact.superseded"]
    assert [run.incomplete is None for run in runs(ledger)] == [False, True]


def test_an_endpoint_that_does_not_answer_leaves_nothing(store: Ledgers, server: ModelServer, asking: Asking) -> None:
    version = store.ledger("case").version
    server.answers(failure(401, "no such key"), candidates(*GOOD))
    with pytest.raises(EndpointFailed):
        extract(store, "case", asking())
    assert store.ledger("case").version == version
    assert len(extract(store, "case", asking()).recorded) == 4


def completion_of(*found: object) -> str:
    """The text of an answer."""
    return json.dumps({"candidates": found})
