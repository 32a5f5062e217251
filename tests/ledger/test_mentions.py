"""Where else something is spoken of that is to be forgotten: what is listed for somebody to read before they decide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger.parts import JsonPart, ToolCallPart
from tests.ledger.remains import REASON

CARD = "4929 1188 2231"


@pytest.fixture
def ledgers() -> Iterator[Ledgers]:
    """A new store."""
    with connect(":memory:") as opened:
        yield opened


@pytest.fixture
def case(ledgers: Ledgers) -> Ledger:
    """A new ledger."""
    return ledgers.ledger("case")


def mentioned(case: Ledger, **wish: Any) -> list[tuple[int, tuple[str, ...]]]:
    """The mentions of a dry run; those of the report afterwards are the same, without what is forgotten now."""
    planned = case.forget(**wish, reason=REASON, dry_run=True).ledgers[0].mentions
    done = case.forget(**wish, reason=REASON).ledgers[0].mentions
    assert done == tuple(replace(found, strings=()) for found in planned)
    return [(found.version, found.strings) for found in planned]


def test_a_value_that_was_said_elsewhere_is_listed(case: Ledger) -> None:
    case.record_turn("user", f"my card is {CARD}")
    case.set_fact("card", CARD, source="user", turn=1)
    case.record_turn(
        "assistant", [f"I see {CARD}. ", ToolCallPart(call_id="c", tool="t", arguments=JsonText.of({"card": CARD}))]
    )
    case.record_return("c", [JsonPart(value=JsonText.of([{"of": [CARD]}]))])
    case.add_entry("constraints", f"never charge {CARD}", source="user", why=f"{CARD} was stolen")
    case.store_artifact(b"x", name=f"invoice {CARD}.pdf")
    case.record_turn("user", "4929 alone is another thing")
    assert mentioned(case, facts=["card"]) == [(version, (CARD,)) for version in (1, 3, 4, 5, 6)]


@pytest.mark.parametrize(
    ("said", "again", "strings"),
    [
        ("write to ada@example.org please", "did ada@example.org answer?", ("ada@example.org",)),
        ("call +91 98 7654 3210", "calling +91 98 7654 3210 now", ("+91 98 7654 3210",)),
        ("order ORD-88213 is late", "ORD-88213: on its way", ("ORD-88213",)),
        ("my order is 88213", "88213 it is", ("88213",)),
        ("I live in Pune", "nice town, Pune", ()),
        ("nothing telling here", "nothing telling here", ()),
        ("room 12", "room 12", ()),
    ],
)
def test_addresses_numbers_and_identifiers_are_listed(case: Ledger, said: str, again: str, strings: tuple[str, ...]) -> None:
    case.record_turn("user", said)
    case.record_turn("assistant", again)
    assert mentioned(case, turns=[1]) == ([(2, strings)] if strings else [])


def test_words_of_a_value_are_listed_though_they_look_like_nothing(case: Ledger) -> None:
    case.set_fact("name", "Ada Byron", source="user")
    case.set_fact("age", 36, source="user")
    case.set_fact("paid", 40501, source="user")
    case.record_turn("user", "Ada Byron paid 40501 at 36")
    assert mentioned(case, facts=["name", "age", "paid"]) == [(4, ("40501", "Ada Byron"))]


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (b"<p>To: ada@example.org</p>", "text/html"),
        ("Grüße, ada@example.org".encode("latin-1"), "text/plain; charset=latin-1"),
        (b'{"to": "ada@example.org"}', "application/json"),
        (b'{"to": "ada\\u0040example.org"}', "application/json"),
        (b"[" * 1_000 + b'"ada\\u0040example.org"' + b"]" * 1_000, "application/json"),
        (b"[" * 9_000 + b'"ada@example.org"' + b"]" * 9_000, "application/json"),
        (b"to ada@example.org", None),
    ],
    ids=range(7),
)
def test_a_page_that_stays_is_looked_into(case: Ledger, content: bytes, media_type: str | None) -> None:
    case.record_turn("user", "write to ada@example.org")
    case.store_artifact(content, media_type=media_type)
    case.store_artifact(b"another page", media_type=media_type)
    planned = case.forget(turns=[1], reason=REASON, dry_run=True).ledgers[0].mentions
    assert [(found.version, found.turn, found.type) for found in planned] == [(2, None, "artifact.stored")]
    assert mentioned(case, turns=[1]) == [(2, ("ada@example.org",))]


@pytest.mark.parametrize(
    ("content", "media_type"),
    [(b"ada@example.org", "image/png"), (b"\xff\xfe ada@example.org", None), (b"ada@example.org", "application/pdf")],
    ids=str,
)
def test_what_is_no_text_is_not_looked_into(case: Ledger, content: bytes, media_type: str | None) -> None:
    case.record_turn("user", "write to ada@example.org")
    case.store_artifact(content, media_type=media_type)
    assert mentioned(case, turns=[1]) == []


def test_a_page_that_goes_is_not_listed_and_one_under_two_names_is_listed_twice(case: Ledger) -> None:
    case.record_turn("user", "write to ada@example.org")
    case.store_artifact(b"from ada@example.org", media_type="text/plain", turn=1)
    assert mentioned(case, turns=[1]) == []
    case.record_turn("user", "ask ada@example.org")
    for name in ("ada@example.org", "b"):
        case.store_artifact(b"ada@example.org again", name=name, media_type="text/plain")
    assert mentioned(case, turns=[2]) == [(version, ("ada@example.org",)) for version in (5, 6)]


def test_what_goes_or_is_gone_is_not_listed(case: Ledger) -> None:
    case.record_turn("user", f"my card is {CARD}")
    case.record_turn("user", f"again, {CARD}")
    case.record_turn("user", f"{CARD}!")
    assert mentioned(case, turns=[1, 2]) == [(3, (CARD,))]
    case.set_fact("card", CARD, source="user")
    assert mentioned(case, turns=[3]) == [(5, (CARD,))]
    assert mentioned(case, facts=["card"]) == []


def test_what_governs_is_listed_because_it_never_goes(case: Ledger) -> None:
    case.set_fact("card", CARD, source="user")
    case.place_hold(because=f"about {CARD}")
    case.lift_hold(because="closed")
    assert mentioned(case, facts=["card"]) == [(2, (CARD,))]


def test_other_ledgers_are_not_searched(ledgers: Ledgers, case: Ledger) -> None:
    case.set_fact("card", CARD, source="user")
    ledgers.ledger("other").record_turn("user", CARD)
    assert mentioned(case, facts=["card"]) == []


def test_with_the_whole_ledger_nothing_is_left_to_list(case: Ledger) -> None:
    case.record_turn("user", CARD)
    assert mentioned(case, everything=True) == []


def test_the_longest_string_counts(case: Ledger) -> None:
    for name, value in (("a", "Ada B"), ("b", "Ada Byron"), ("c", "Ada Byron King"), ("d", "Adam")):
        case.set_fact(name, value, source="user")
    case.record_turn("user", "Ada Byron King met Ada Bryce and Adam")
    assert mentioned(case, facts=["a", "b", "c", "d"]) == [(5, ("Ada B", "Ada Byron King", "Adam"))]


def test_signs_of_patterns_are_signs(case: Ledger) -> None:
    case.set_fact("odd", "a.*(b|[c", source="user")
    case.record_turn("user", "a.*(b|[c")
    case.record_turn("user", "aXXb")
    assert mentioned(case, facts=["odd"]) == [(2, ("a.*(b|[c",))]
