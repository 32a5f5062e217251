"""Whatever a model answers: no exception, and nothing counts as the user's that no user turn holds."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from delivery.extractors.openai import OpenAIExtractor
from ledger.json_text import JsonText
from ledger.schema.document import schema_from
from projections.extraction import Extraction, source_of
from tests.delivery.extractors.model_server import ModelServer, Reply, completion
from tests.delivery.extractors.refunds import CONVERSATION, REFUND

FREE = schema_from(
    {
        "title": "free",
        "properties": {
            "note": {"type": "string"},
            "amount": {"type": "string", "format": "money"},
            "when": {"type": "string", "format": "date"},
            "anything": {},
        },
        "additionalProperties": True,
    }
)
TEXTS = [text for turn in CONVERSATION for text in (turn.text, *(found.text for found in turn.returns))]
USERS = [turn.text for turn in CONVERSATION if turn.role == "user"]


@st.composite
def pieces(draw: st.DrawFn) -> str:
    """A piece of something that was said by anybody."""
    text = draw(st.sampled_from(TEXTS))
    start = draw(st.integers(0, len(text) - 1))
    return text[start : draw(st.integers(start + 1, len(text)))]


words = st.sampled_from(["9,999 INR", "4,180 INR", "4180.00 INR", "KA-7731", "ZZ-1", "3", "late", "yes"])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
lies = st.fixed_dictionaries(
    {
        "field": st.sampled_from(["order_id", "amount", "items", "reason", "is_urgent", "note", "when", "anything", "iban"]),
        "value": words | pieces() | anything,
        "quote": words | pieces() | st.text(max_size=20),
        "turn": st.integers(0, 5),
        "result": st.sampled_from([None, None, "r_21", "r_22", ""]),
    }
)

answers = st.lists(lies, max_size=4).map(lambda found: json.dumps({"candidates": found}))


def states(quote: str, value: Any) -> bool:
    """Whether a quote has the value's digits in their order, and the words of a text; zeros at the end may differ."""
    text = value if isinstance(value, str) else str(JsonText.of(value))
    digits = "".join(character for character in text if character.isdecimal()).rstrip("0")
    words = re.findall(r"[^\W\d_]{2,}", text.casefold()) if isinstance(value, str) else []
    said = quote.casefold()
    return digits in "".join(character for character in quote if character.isdecimal()) and all(word in said for word in words)


def check(found: Extraction, schema: Any) -> None:
    """Every candidate that counts as the user's stands in a user turn, with its value."""
    turns = {turn.number: turn for turn in CONVERSATION}
    for candidate in found.candidates:
        if source_of(candidate, turns[candidate.turn], schema) == "user":
            assert candidate.result is None
            assert turns[candidate.turn].role == "user"
            assert any(candidate.quote in text for text in USERS)
            assert states(candidate.quote, candidate.value)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answer=st.lists(lies | anything, max_size=8), free=st.booleans())
def test_no_lie_becomes_the_users_word(server: ModelServer, extractor: OpenAIExtractor, answer: list[Any], free: bool) -> None:
    schema = FREE if free else REFUND
    server.answers(completion(json.dumps({"candidates": answer})))
    check(extractor.extract(CONVERSATION, schema), schema)


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=anything | st.text() | answers, data=st.data())
def test_any_answer_is_read(server: ModelServer, extractor: OpenAIExtractor, content: Any, data: st.DataObject) -> None:
    cut = content[: data.draw(st.integers(0, len(content)))] if isinstance(content, str) else content
    server.answers(completion(cut) if isinstance(cut, str) else completion({"content": cut}))
    check(extractor.extract(CONVERSATION, REFUND), REFUND)


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.dictionaries(st.sampled_from(["choices", "usage", "model", "id"]), anything, max_size=4))
def test_any_object_is_read(server: ModelServer, extractor: OpenAIExtractor, body: dict[str, Any]) -> None:
    server.answers(Reply(json.dumps(body).encode()))
    found = extractor.extract(CONVERSATION, REFUND)
    assert found.candidates == ()
    assert found.incomplete is not None
