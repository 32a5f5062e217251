"""The same commands leave the same record in every store: all but salts, random commands and positions."""

from __future__ import annotations

import contextlib
import random
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ledger import events as e
from ledger.codec import decode
from ledger.connect import Ledgers
from ledger.errors import ForgottenLedger, InvalidInput, LedgerError, NothingToForget, SubjectForgotten
from ledger.json_text import JsonText
from ledger.ledger import Ledger
from ledger.parts import JsonPart, OpaquePart, TextPart, ToolCallPart, Unparsed
from ledger.store import Selection, Stored
from ledger.verify import verify_store
from tests.contract.stores import CATALOGUE, InMemory, OpenStore

VALUES = ["Tue", 4180, Decimal("4050.10"), "4050.10", None, True, {"b": 1, "a": [2]}, "speci\x00c", "日本 \ud83d"]


def hard_content(handle: Ledger) -> None:
    """Everything that one store might keep otherwise than another: NUL, surrogates, key order, numbers, markers, sizes."""
    handle.open(task="charged \x00 twice", schema="refund")
    handle.record_turn("system", "Be brief.")
    handle.record_turn("user", ["speci\x00c terms", "x\udcb2 y", "Ω≈ç√ 😀 \u2028\u2029"])
    calls = [
        ToolCallPart(call_id="c1", tool="look", arguments=JsonText('{"b":1,"a":{"z":1e5,"y":4050.10}}')),
        ToolCallPart(call_id="c2", tool="look", arguments=Unparsed(unparsed='{"a": \x00 \ud83d')),
        OpaquePart(provider="p", block="thinking", raw=JsonText('{"signature" : "EqQB\\u0000" }')),
    ]
    handle.record_turn("assistant", calls)
    handle.record_return("c1", {"_type_": "order", "_data_": {"id": 2**80, "float": Decimal("1.000")}})
    handle.record_return("c2", [TextPart(text="a" * 70_000), JsonPart(value=JsonText("[1, 2]"))], is_error=True)
    handle.add_entry("constraints", "no \x00 credit", source="user", turn=1, actor="panel", cause="click 7")
    page = handle.store_artifact(bytes(range(256)) * 20, name="page \x00", media_type="text/html")
    handle.record_evidence("claim", quote="0123", artifact=page)
    handle.record_outcome("partial", judge="reviewer", detail="\x00")


def random_commands(handle: Ledger, seed: int) -> None:
    """Commands of every kind with and without keys; those that are refused must be refused everywhere."""
    choose = random.Random(seed)
    for step in range(300):
        key: Any = {"idempotency_key": f"key {choose.randrange(20)}"} if choose.random() < 0.4 else {}
        if step % 7 == 0:
            key |= {"subjects": [f"customer:{seed}"], "labels": ["payment"]}
        field, value = f"field {choose.randrange(4)}", choose.choice(VALUES)
        source: e.Source = choose.choice(("user", "interface", "tool", "inferred"))
        with contextlib.suppress(LedgerError):
            match choose.randrange(9):
                case 0:
                    handle.record_turn(choose.choice(("user", "assistant")), f"turn {step}", **key)
                case 1:
                    handle.set_fact(field, value, source=source, supersedes=choose.choice(VALUES), **key)
                case 2:
                    handle.retract_fact(field, source=source, **key)
                case 3:
                    handle.close_entry(f"en_{choose.randrange(step + 1)}", source="interface", because="answered", **key)
                case 4:
                    handle.resolve_contradiction(f"con_{choose.randrange(step + 1)}", because="x", source=source, **key)
                case 5:
                    handle.classify(choose.randrange(30), "stub", because=str(value), **key)
                case 6:
                    first, last = choose.randrange(1, 20), choose.randrange(1, 30)
                    key |= {"through_version": choose.randrange(60), "inputs": "0" * 64, "summariser": "x/1"}
                    handle.record_summary(f"{value} \x00", first_turn=first, last_turn=last, **key)
                case 7:
                    serve(handle, choose.choice("ab"), choose.randrange(60), **key)
                case _:
                    handle.set_fact(field, value, source=source, **key)


def serve(handle: Ledger, policy: str, of_version: int, **options: Any) -> None:
    """Record that a window was served."""
    basis: dict[str, Any] = {"form": "text", "engine": "2", "erasures": 0, "encoding": "o200k_base", "rules": of_version}
    served: dict[str, Any] = {"bytes_digest": "0" * 64, "tokens": 2**70, "plan": '{"keep":[[1, 2]]}'}
    declared = f'{{"budget":1e3,"name":"{policy} \\u0000"}}'
    handle.record_served(policy=policy * 64, declared=declared, of_version=of_version, **basis, **served, **options)


def forgettings(ledgers: Ledgers, seed: int) -> list[Any]:
    """Forget things of every kind in the ledgers of random commands; what each led to."""
    choose = random.Random(seed)
    found: list[Any] = []
    for number in (1, 2, 3):
        name = f"random {number}"
        turns, versions = range(1, 40), range(1, ledgers.head(name).version + 1)
        wishes: list[dict[str, Any]] = [
            {"ledger": name, "turns": [choose.choice(turns)]},
            {"ledger": name, "facts": [f"Field {choose.randrange(4)}"]},
            {"ledger": name, "ids": [f"v_{choose.choice(versions)}" for _ in range(9)]},
            {"subject": f"customer:{number}"},
        ]
        for wish in (*wishes, {"ledger": name}):
            with contextlib.suppress(NothingToForget):
                done = ledgers.forget(**wish, reason="asked for")
                found.append([(item.version, item.type, item.turn, item.id, item.because) for item in done.ledgers[0].items])
                found.append([done.state, done.scope, done.ledgers[0].artifact_count, done.ledgers[0].counts])
            if choose.random() < 0.5:
                break
    return found


def told(row: Stored) -> object:
    """The payload of an event; of a forgetting, what is no random id and no keyed hash."""
    if row.payload is None or row.envelope.type != "content.forgotten":
        return row.payload
    event = decode(row.envelope.type, row.envelope.type_version, row.envelope.turn, row.payload)
    assert isinstance(event, e.ContentForgotten)
    kept = [(one.version, one.role, one.answers, one.ends, one.named is None) for one in event.erased]
    return event.scope, event.reason, kept, event.through_turn, len(event.fields)


def record_of(ledgers: Ledgers) -> list[tuple[Any, ...]]:
    """What must be equal: the order of the feed, every envelope but its random parts, and the payloads' bytes."""
    names = {head.ledger: number for number, head in enumerate(ledgers.heads())}
    feed = ledgers.store.feed(after=0, limit=10_000)
    by_version = [row for ledger in names for row in ledgers.store.read(ledger, Selection())]
    assert sorted(by_version, key=lambda row: row.envelope.position) == feed
    return [
        (
            names[row.envelope.ledger],
            *(row.envelope.version, row.envelope.ordinal, row.envelope.type, row.envelope.type_version),
            *(row.envelope.turn, row.envelope.recorded_at, row.envelope.actor, row.envelope.cause, row.envelope.format),
            told(row),
        )
        for row in feed
    ]


def carried_out(opened: OpenStore) -> list[tuple[Any, ...]]:
    ticks = count(1_900_000_000_000_000)
    ledgers = opened(lambda: next(ticks))
    hard_content(ledgers.ledger("hard"))
    for seed in (1, 2, 3):
        random_commands(ledgers.ledger(f"random {seed}"), seed)
    before = record_of(ledgers)
    found = forgettings(ledgers, 4)
    assert len(found) > 8
    assert verify_store(ledgers).problems == ()
    return [*before, *found, *record_of(ledgers)]


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name != "sqlite-memory"])
def test_every_store_keeps_the_same_record(name: str, tmp_path: Path) -> None:
    """The digest of a keyed request is part of its payload, and it too must be the same."""
    reference, other = InMemory(), CATALOGUE[name](tmp_path)
    try:
        expected = carried_out(reference)
        assert len(expected) > 100
        assert carried_out(other) == expected
    finally:
        reference.close()
        other.close()


def test_events_come_back_as_they_went_in(open_store: OpenStore) -> None:
    """What the writer holds and what another handle reads are the same values."""
    ledgers = open_store()
    handle = ledgers.ledger("case")
    live = [
        handle.append([e.TurnRecorded(turn=1, role="user", parts=(TextPart(text="x\udcb2\x00"),))])[0],
        handle.set_fact("a", {"k": [Decimal("1.10"), "\ud83d", None]}, source="user", turn=1),
        handle.retract_fact("a", source="user", because="no"),
    ]
    assert list(open_store().ledger("case").events()) == live


@pytest.mark.parametrize("kept", ["actor", "cause"])
@pytest.mark.parametrize("text", ["a\x00b", "\ud800", ""])
def test_ids_that_one_store_could_not_keep_are_refused_by_all(open_store: OpenStore, kept: str, text: str) -> None:
    handle = open_store().ledger("case")
    options: Any = {kept: text}
    with pytest.raises(InvalidInput, match=kept):
        handle.record_turn("user", "x", **options)
    assert handle.version == 0


@pytest.mark.parametrize("key", ["a\x00b", "a", "\ud800", "\ud800\udc00", "\U00010000", "k" * 512, " ", "Ä"])
def test_any_text_is_a_key_of_its_own(open_store: OpenStore, key: str) -> None:
    ledgers = open_store()
    ledgers.ledger("case").record_turn("user", "other", idempotency_key="another")
    assert ledgers.ledger("case").record_turn("user", "x", idempotency_key=key) == 2
    assert open_store().ledger("case").record_turn("user", "x", idempotency_key=key) == 2


def test_a_ledger_of_which_only_the_name_is_left_is_forgotten(open_store: OpenStore) -> None:
    """There is nothing to sweep but its name."""
    ledgers = open_store()
    handle = ledgers.ledger("trial of Ada")
    handle.record_turn("user", "hello")
    handle.forget(turns=[1], reason="asked for")
    done = handle.forget(everything=True, reason="asked for")
    assert (done.state, done.count) == ("complete", 0)
    assert [head.name.startswith("forgotten:") for head in ledgers.heads()] == [True]
    with pytest.raises(ForgottenLedger):
        open_store().ledger("trial of Ada").record_turn("user", "hello")
    ledgers.reauthorise(ledger="trial of Ada", because="she came back")
    assert (open_store().ledger("trial of Ada").record_turn("user", "hello"), ledgers.heads()[0].name) == (2, "trial of Ada")


def test_a_repeated_key_of_what_was_forgotten_appends_nothing(open_store: OpenStore) -> None:
    """Neither of a warm handle nor of a cold one, although the subject is fenced."""
    ledgers = open_store()
    handle = ledgers.ledger("case")
    options: Any = {"idempotency_key": "k", "subjects": ["customer:ada"]}
    assert handle.record_turn("user", "I am Ada", **options) == 1
    ledgers.forget(subject="customer:ada", reason="asked for")
    for again in (handle, open_store().ledger("case")):
        assert again.record_turn("user", "I am Ada", **options) == 1
        with pytest.raises(SubjectForgotten):
            again.record_turn("user", "I am Ada", subjects=["customer:ada"])
    assert handle.version == 2
    assert verify_store(ledgers).problems == ()
