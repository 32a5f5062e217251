"""A store that is opened with a redactor records no secret, by whatever command it comes; one without records all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ledger import Ledger, Ledgers, connect
from ledger import requests as r
from ledger.errors import InvalidInput
from ledger.events import FactSet, TurnRecorded
from ledger.json_text import JsonText
from ledger.parts import JsonPart, OpaquePart, ReasoningPart, TextPart, ToolCallPart, Unparsed
from ledger.redaction import Redactor
from ledger.schema import StateModel, declared
from ledger.store import Selection
from ledger.verify import verify_store
from projections.extraction import Candidate
from replay import view
from replay.extraction import extract
from tests.extraction.saying import Says
from tests.forgetting.needles import Needles
from tests.forgetting.shelves import Shelf
from tests.redaction.secrets import DATABASE, DUMP, LIVE_KEY, NEEDLES, PASSWORD, PEM
from tests.redaction.test_rules import MARK


@pytest.fixture
def store() -> Iterator[Ledgers]:
    """A new store that keeps secrets out."""
    with connect(":memory:", redact=Redactor()) as ledgers:
        yield ledgers


def record_all(ledger: Ledger) -> None:
    """Secrets by every command that takes content."""
    ledger.open(task=f"Rotate {LIVE_KEY}")
    ledger.record_turn("system", f"Use {DATABASE}")
    ledger.record_turn("user", [DUMP, JsonPart(value=JsonText.of({"password": PASSWORD}))], idempotency_key="turn 1")
    calls = [
        ToolCallPart(call_id="c1", tool="env", arguments=JsonText.of({"password": PASSWORD})),
        ToolCallPart(call_id="c2", tool="env", arguments=Unparsed(unparsed=f'{{"key": "{LIVE_KEY}')),
    ]
    reasoning = ReasoningPart(provider="anthropic", raw=JsonText.of({"thinking": DUMP, "signature": "c2ln"}))
    opaque = OpaquePart(provider="openai", block="web_search_call", raw=JsonText.of({"query": LIVE_KEY}))
    ledger.record_turn("assistant", [reasoning, opaque, *calls])
    ledger.record_return("c1", DUMP, idempotency_key="return 1")
    ledger.record_return("c2", {"env": [DUMP, {"api_key": PASSWORD}]}, is_error=True)
    ledger.set_fact("key", LIVE_KEY, source="user", turn=1)
    ledger.set_fact("key", {"password": PASSWORD}, source="user", supersedes=LIVE_KEY, because=f"of {LIVE_KEY}")
    ledger.set_fact("key", DATABASE, source="inferred")
    ledger.retract_fact("key", source="user", because=LIVE_KEY)
    entry = ledger.add_entry("decisions", f"use {LIVE_KEY}", source="user", why=DUMP)
    ledger.close_entry(entry, because=PEM, source="user")
    sha256 = ledger.store_artifact(b"a page", name=LIVE_KEY, url=DATABASE)
    ledger.record_evidence("a page", quote="a page", artifact=sha256)
    ledger.append([TurnRecorded(turn=3, role="user", parts=(TextPart(text=PEM),), external_id="m1")])
    ledger.record_outcome("failed", judge="reviewer", detail=DUMP)


def test_no_secret_is_in_any_file_of_the_store(shelf: Shelf) -> None:
    with connect(shelf.address, redact=Redactor()) as ledgers:
        record_all(ledgers.ledger("case"))
        window = view(ledgers, "case").window().request_bytes
        assert Needles(NEEDLES).found(window) == set()
    assert Needles(NEEDLES).found_in(shelf.contents()) == {}
    with connect(shelf.address) as ledgers:  # without one, all is recorded as it is: the search would find it
        record_all(ledgers.ledger("other"))
    assert set().union(*Needles(NEEDLES).found_in(shelf.contents()).values()) == set(NEEDLES)


def test_the_record_still_verifies_and_tells_what_was_there(store: Ledgers) -> None:
    ledger = store.ledger("case")
    record_all(ledger)
    assert verify_store(store).problems == ()
    seen = view(store, "case").transcript()
    assert MARK.findall(seen.turns[0].text) == ["api-key", "url-password", "private-key", "password"]
    assert MARK.findall(seen.turns[1].returns[0].text) == ["api-key", "url-password", "private-key"]
    assert [type(part) for part in seen.turns[1].parts] == [OpaquePart, ToolCallPart, ToolCallPart]
    assert [call.call_id for call in seen.turns[1].calls] == ["c1", "c2"]


def test_a_repeated_key_returns_the_first_result(shelf: Shelf) -> None:
    with connect(shelf.address, redact=Redactor()) as ledgers:
        ledger = ledgers.ledger("case")
        said = [ledger.record_turn("user", DUMP, idempotency_key="k") for _ in range(2)]
        set_twice = [ledger.set_fact("key", LIVE_KEY, source="user", idempotency_key="f").version for _ in range(2)]
    with connect(shelf.address, redact=Redactor()) as ledgers:
        said.append(ledgers.ledger("case").record_turn("user", DUMP, idempotency_key="k"))
    assert (said, set_twice, ledger_version(shelf)) == ([1, 1, 1], [2, 2], 2)


def test_what_a_key_stands_for_does_not_give_a_short_password_away(shelf: Shelf) -> None:
    said = r.RecordTurn(role="user", parts=(TextPart(text="redis://app:p1@cache"),))
    for name, redact in (("plain", None), ("redacted", Redactor())):
        with connect(shelf.address, redact=redact) as ledgers:
            ledgers.ledger(name).record_turn("user", list(said.parts), idempotency_key="k")
            stored = ledgers.store.read(ledgers.head(name).ledger, Selection())
            (payload,) = [row.payload for row in stored]
            assert payload is not None
            assert (r.digest(said).encode() in payload) is (redact is None)


def ledger_version(shelf: Shelf) -> int:
    """The version of the ledger, read by another handle."""
    with connect(shelf.address) as ledgers:
        return ledgers.ledger("case").version


def test_a_key_that_was_used_before_there_was_a_redactor(shelf: Shelf) -> None:
    with connect(shelf.address) as ledgers:
        assert ledgers.ledger("case").record_turn("user", LIVE_KEY, idempotency_key="k") == 1
    with connect(shelf.address, redact=Redactor()) as ledgers:
        assert ledgers.ledger("case").record_turn("user", LIVE_KEY, idempotency_key="k") == 1
    assert ledger_version(shelf) == 1


def test_the_same_secret_again_is_the_same_value(store: Ledgers) -> None:
    ledger = store.ledger("case", task=LIVE_KEY)
    ledger.open(task=LIVE_KEY)
    types = [ledger.set_fact("key", value, source="user").event.type for value in (LIVE_KEY, LIVE_KEY, LIVE_KEY + "2")]
    assert types == ["fact.set", "fact.reaffirmed", "contradiction.recorded"]
    assert ledger.set_fact("key", "none", source="user", supersedes=LIVE_KEY).event.type == "fact.superseded"


def test_facts_that_are_read_in_a_redacted_turn(store: Ledgers) -> None:
    class Service(StateModel):
        """A service."""

        key: str | None = declared()

    ledger = store.ledger("case", schema=Service)
    ledger.record_turn("user", f"The key is {LIVE_KEY} now")
    mark = MARK.search(view(store, "case").transcript().turns[0].text)
    assert mark is not None
    raw = Candidate("key", LIVE_KEY, f"The key is {LIVE_KEY}", 1)
    extract(store, "case", Says([Candidate("key", mark[0], f"key is {mark[0]}", 1), raw]))
    found = [one.event for one in ledger.events() if one.event.type in ("fact.set", "fact.rejected")]
    assert [(one.type, one.field, one.value.value) for one in found if not isinstance(one, TurnRecorded)] == [  # type: ignore[union-attr]
        ("fact.set", "key", mark[0]),
        ("fact.rejected", "key", mark[0]),
    ]


def test_evidence_that_holds_a_secret_is_refused_and_artifacts_stay_as_they_are(store: Ledgers) -> None:
    ledger = store.ledger("case")
    sha256 = ledger.store_artifact(DUMP.encode(), media_type="text/plain")
    version = ledger.version
    with pytest.raises(InvalidInput, match="quote another passage"):
        ledger.record_evidence("it is live", quote=LIVE_KEY, artifact=sha256)
    with pytest.raises(InvalidInput, match="quote another passage"):
        ledger.record_evidence(f"it is {LIVE_KEY}", quote="LOG_LEVEL=info", artifact=sha256)
    assert (ledger.version, ledger.artifact(sha256)) == (version, DUMP.encode())
    ledger.record_evidence("it logs", quote="LOG_LEVEL=info", artifact=sha256)


def test_schemas_are_kept_as_they_are(store: Ledgers) -> None:
    class Service(StateModel):
        """A service."""

        key: str | None = declared(about=f"such as {LIVE_KEY}")

    store.ledger("case", schema=Service)
    assert view(store, "case").schema() == Service.ledger_schema()


def test_without_secrets_nothing_is_another(store: Ledgers) -> None:
    def recorded(ledgers: Ledgers) -> list[Any]:
        ledger = ledgers.ledger("case")
        ledger.record_turn("user", ["Order 4711", JsonPart(value=JsonText('{"a":  4050.10}'))], idempotency_key="k")
        ledger.set_fact("order", 4711, source="user", turn=1)
        return [one.event for one in ledger.events()]

    with connect(":memory:") as plain:
        events = recorded(plain)
    assert recorded(store) == events
    assert isinstance(events[1], FactSet)
