"""Texts that break other programs come back byte for byte, wherever a text may stand, and from every store alike."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from ledger import JsonText, Ledger
from ledger import events as e
from ledger.codec import commitment
from ledger.connect import Ledgers
from ledger.erased import Erased
from ledger.errors import InvalidInput
from ledger.parts import JsonPart, OpaquePart, ReasoningPart, TextPart, ToolCallPart, Unparsed
from ledger.store import Batch, Draft, Selection
from ledger.verify import verify_store
from replay import view
from tests.contract.stores import CATALOGUE, OpenStore

PLACES = 18
"""In how many places of the events ``record_text`` puts a text at least."""

REASONS = 4
"""How many of these are reasons, which a blank text is not."""

CHOSEN = [
    "",
    "speci\x00c terms",
    "\x00",
    "x\udcb2 y",
    "\ud83d",
    "first\u2028second\u2029third\u0085fourth",
    "\ufeffmarked",
    "e\u0301 is not \u00e9",
    "\U0001f469\u200d\U0001f680\U0010ffff\ufffe",
    '{"json_literal":"\\"x\\""}',
    '{"_type_":"decimal_str","_data_":"12.50"}',
    "\\ud83d \\u0000 \\",
    "\x1b[2J\x7f\x9b",
    "'; DROP TABLE events; --",
    "%s %(name)s {0} $1 ?",
]


@pytest.fixture(scope="module")
def nasty(real_data: Path) -> Path:
    """Public collections of hard texts."""
    folder = real_data / "f_nasty"
    if not folder.is_dir():
        pytest.skip("the hard texts are not among the data")
    return folder


def naughty_strings(folder: Path) -> list[str]:
    """The naughty strings."""
    found: list[str] = json.loads((folder / "blns" / "blns.json").read_text(encoding="utf-8"))
    return found


def utf8_tests(folder: Path) -> list[bytes]:
    """Valid and invalid UTF-8: overlong, surrogates, out of range, cut off."""
    text = (folder / "utf8tests" / "utf8tests.txt").read_text(encoding="ascii")
    cases = [line.split(":") for line in text.splitlines() if line and not line.startswith("#")]
    return [bytes.fromhex(case[2]) if case[1].endswith("hex") else case[2].encode("ascii") for case in cases]


def json_sources(folder: Path) -> list[bytes]:
    """JSON texts, most of them broken."""
    return [path.read_bytes() for path in sorted((folder / "json_test_suite" / "test_parsing").iterdir())]


def parsed(source: bytes) -> JsonText | None:
    """A source that the ledger takes as JSON."""
    try:
        return JsonText.parse(source)
    except InvalidInput:
        return None


def utf8(data: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def record_text(handle: Ledger, number: int, text: str) -> None:
    """One text in every place that takes any text; as a name where it can be one."""
    plain = f"field {number}"
    call = f"c{number}"
    handle.record_turn("system", [TextPart(text=text)])
    value = JsonText.of({text: [text, {"n": Decimal("1.10")}]})
    handle.record_turn("user", [TextPart(text=text), JsonPart(value=value)], name=text)
    parts = [
        ToolCallPart(call_id=call, tool="look", arguments=JsonText.of({"b": text, "a": text})),
        ToolCallPart(call_id=f"{call}-broken", tool="look", arguments=Unparsed(unparsed=text + "{")),
        ReasoningPart(provider="p", raw=JsonText.of({"signature": text})),
        OpaquePart(provider="p", block="b", raw=JsonText.of([text])),
    ]
    handle.record_turn("assistant", parts)
    handle.record_return(call, [TextPart(text=text), JsonPart(value=JsonText.of(text))])
    handle.set_fact(plain, text, source="tool")
    handle.set_fact(plain, [text], source="tool", because=reason(text))
    handle.retract_fact(plain, source="tool", because=reason(text))
    entry = handle.add_entry("rejected", text, why=text, source="inferred")
    handle.close_entry(entry, source="interface", because=reason(text))
    _record_page(handle, text)


def reason(text: str) -> str:
    """A text as a reason, which has to say something."""
    return text if text.strip() else f"It was {text}."


def _record_page(handle: Ledger, text: str) -> None:
    content = text.encode("utf-8", "surrogatepass")
    page = handle.store_artifact(b"<" + content + b">", name=text, url=text)
    handle.record_evidence(text, quote=text, artifact=page, requirement=text)
    sides = [e.Side(value=JsonText.of(text)), e.Side(value=JsonText.of([text]))]
    contradiction = handle.record_contradiction(text, sides)
    handle.resolve_contradiction(contradiction, because=reason(text), source="inferred", value=text)
    handle.record_outcome("partial", judge="reviewer", detail=text)


def texts_in(value: object) -> Iterator[str]:
    """Every text of an event, however deep; of foreign JSON that is a text, the text that it spells."""
    match value:
        case JsonText():
            yield str(value.value)
        case str():
            yield value
        case BaseModel():
            for name in type(value).model_fields:
                yield from texts_in(getattr(value, name))
        case tuple():
            for one in value:
                yield from texts_in(one)


def record_all(opened: OpenStore, texts: Sequence[str]) -> tuple[Ledgers, list[Any]]:
    """A store with one ledger in which each text stands everywhere, and the events as the writer holds them."""
    ticks = count(1_900_000_000_000_000)
    store = opened(lambda: next(ticks))
    handle = store.ledger("case")
    for number, text in enumerate(texts):
        record_text(handle, number, text)
    return store, [recorded.event for recorded in handle.events()]


def content_of(store: Ledgers) -> list[tuple[str, int, bytes | None]]:
    """The payloads of the ledger, which must be the same in every store."""
    rows = store.store.read(store.head("case").ledger, Selection())
    return [(row.envelope.type, row.envelope.version, row.payload) for row in rows]


def check_commitments(store: Ledgers) -> None:
    """A commitment is that of salt and payload alone, so the same in every store for the same salt."""
    for row in store.store.read(store.head("case").ledger, Selection()):
        assert row.salt is not None
        assert row.payload is not None
        assert row.envelope.commitment == commitment(row.salt, row.payload)


def check_same_everywhere(tmp_path: Path, texts: Sequence[str]) -> None:
    """Every store keeps the same payloads and gives the same answers, and each text is found in them."""
    contents, answers = [], []
    for number, make in enumerate(CATALOGUE.values()):
        (tmp_path / str(number)).mkdir()
        opened = make(tmp_path / str(number))
        try:
            store, events = record_all(opened, texts)
            check_commitments(store)
            contents.append(content_of(store))
            now = view(store, "case")
            answers.append((now.transcript().to_json(), now.state().to_json(), now.handoff().to_json()))
            said = Counter(text for event in events for text in texts_in(event))
            assert [text for text in texts if said[text] < PLACES - (0 if text.strip() else REASONS)] == []
        finally:
            opened.close()
    assert all(content == contents[0] for content in contents)
    assert all(answer == answers[0] for answer in answers)


def test_chosen_texts(tmp_path: Path) -> None:
    check_same_everywhere(tmp_path, CHOSEN)


def test_every_text_can_be_forgotten(open_store: OpenStore) -> None:
    """Whatever the texts are, what rests on what is found, and reading goes past what is gone."""
    store, events = record_all(open_store, CHOSEN)
    last = len(events)
    planned = store.forget(ledger="case", reason="asked for", dry_run=True)
    assert [item.version for item in planned.ledgers[0].items] == list(range(1, last + 1))
    for wish in ({"turns": [1, 2]}, {"facts": [f"field {number}" for number in range(len(CHOSEN))]}, {}):
        store.forget(ledger="case", **wish, reason="asked for")
        assert verify_store(store).problems == ()
    left = list(store.ledger("case").events(upto=last))
    assert [isinstance(item.event, Erased) for item in left] == [True] * last
    assert view(store, store.heads()[0].name, at=last).transcript().to_json()


def test_naughty_strings(tmp_path: Path, nasty: Path) -> None:
    """A choice of them in every place; all of them as turns below."""
    found = naughty_strings(nasty)
    check_same_everywhere(tmp_path, [*found[::12], "".join(found)])


def test_every_naughty_string_is_a_turn(open_store: OpenStore, nasty: Path) -> None:
    found = naughty_strings(nasty)
    assert len(found) > 200
    handle = open_store().ledger("case")
    handle.append([e.TurnRecorded(role="system", parts=(TextPart(text=text),), name=text) for text in found])
    turns = [one.event for one in open_store().ledger("case").events() if isinstance(one.event, e.TurnRecorded)]
    assert [(turn.name, turn.parts) for turn in turns] == [(text, (TextPart(text=text),)) for text in found]


def test_utf8_tests(open_store: OpenStore, nasty: Path) -> None:
    """What is UTF-8 comes back as text, and all of it as bytes; what is not is refused as text with its byte."""
    store, found = open_store(), utf8_tests(nasty)
    handle = store.ledger("case")
    assert {utf8(line) for line in found} == {True, False}
    stored = [handle.store_artifact(line) for line in found]
    head = store.head("case")
    for line, sha256 in zip(found, stored, strict=True):
        assert store.store.blob(head.ledger, sha256) == line
        if utf8(line):
            handle.record_turn("user", line.decode("utf-8"))
        else:
            with pytest.raises(InvalidInput, match=r"not UTF-8 at byte \d+"):
                JsonText.parse(b'"' + line + b'"')
    turns = [one.event for one in open_store().ledger("case").events() if isinstance(one.event, e.TurnRecorded)]
    assert [part.text.encode() for turn in turns for part in turn.parts if isinstance(part, TextPart)] == [
        line for line in found if utf8(line)
    ]


def appended(store: Ledgers, payloads: Sequence[bytes]) -> list[tuple[bytes | None, bytes]]:
    """Payloads with one salt, stored as they are; what is stored of each, with its commitment."""
    salt, ledger = b"s" * 32, b"L" * 16
    drafts = [Draft("turn.recorded", 1, None, payload, salt, commitment(salt, payload)) for payload in payloads]
    store.store.append(Batch("raw", ledger, 0, b"c" * 16, 1, drafts))
    return [(row.payload, row.envelope.commitment) for row in store.store.read(ledger, Selection())]


@pytest.mark.parametrize("collection", [json_sources, utf8_tests])
def test_any_bytes_are_the_same_in_every_store(tmp_path: Path, nasty: Path, collection: Callable[[Path], list[bytes]]) -> None:
    payloads = collection(nasty)
    kept = []
    for number, make in enumerate(CATALOGUE.values()):
        (tmp_path / str(number)).mkdir()
        opened = make(tmp_path / str(number))
        try:
            kept.append(appended(opened(), payloads))
        finally:
            opened.close()
    assert [payload for payload, _ in kept[0]] == payloads
    assert all(one == kept[0] for one in kept)


def test_json_is_given_back_as_it_was_written(open_store: OpenStore, nasty: Path) -> None:
    """In arguments, in results, in values; compared by one form on every store."""
    found = [text for source in json_sources(nasty) if (text := parsed(source)) is not None]
    assert len(found) > 50
    handle = open_store().ledger("case")
    handle.record_turn("user", [JsonPart(value=text) for text in found])
    calls = [ToolCallPart(call_id=f"c{number}", tool="t", arguments=text) for number, text in enumerate(found)]
    handle.record_turn("assistant", calls)
    facts = [handle.set_fact(f"f{number}", text, source="tool") for number, text in enumerate(found)]
    asked, called, *stated = [one.event for one in open_store().ledger("case").events()]
    assert isinstance(asked, e.TurnRecorded)
    assert isinstance(called, e.TurnRecorded)
    assert [part.value for part in asked.parts if isinstance(part, JsonPart)] == found
    assert [part.arguments for part in called.parts if isinstance(part, ToolCallPart)] == found
    assert [fact.value for fact in stated if isinstance(fact, e.FactSet)] == found
    assert stated == [fact.event for fact in facts]


def test_arguments_are_found_again_in_another_order(open_store: OpenStore) -> None:
    """What a database makes of the order of keys must not matter, since nothing is ever made of it."""
    handle = open_store().ledger("case")
    handle.record_turn("user", "look")
    written = '{"raw":"x","parsed":{"b":1,"a":2.0}}'
    handle.record_turn("assistant", [ToolCallPart(call_id="c1", tool="look", arguments=JsonText(written))])
    again = next(open_store().ledger("case").events(1)).event
    assert isinstance(again, e.TurnRecorded)
    [call] = again.parts
    assert isinstance(call, ToolCallPart)
    assert call.arguments == written
    assert isinstance(call.arguments, JsonText)
    assert call.arguments.canonical == JsonText.of({"parsed": {"a": 2, "b": 1}, "raw": "x"}).canonical
