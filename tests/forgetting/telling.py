"""Texts with personal data, told to ledgers in every way in which content can come in, each with how it is forgotten."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ledger import JsonText, Ledger, Ledgers
from ledger import events as e
from ledger.parts import ToolCallPart
from tests.forgetting.needles import SHORTEST_BYTES, Needles

Forget = dict[str, Any]
"""The arguments of ``Ledgers.forget``."""


@dataclass(frozen=True)
class Text:
    """A text and the personal values in it that are long enough to be looked for."""

    text: str
    values: tuple[str, ...]


@dataclass
class Told:
    """What was told in one way: the texts, and how it is forgotten."""

    way: str
    forget: Forget
    texts: list[Text] = field(default_factory=list)


def synthetic(folder: Path) -> list[Text]:
    """The texts of a public data set of made-up personal data."""
    file = folder / "c_memory_and_state" / "presidio_pii" / "synth_pii.json"
    found = [(one["full_text"], [span["entity_value"] for span in one["spans"]]) for one in json.loads(file.read_text())]
    telling = [(text, {value for value in values if len(value.encode()) >= SHORTEST_BYTES}) for text, values in found]
    return [Text(text, tuple(sorted(values))) for text, values in telling if values]


def needles_of(gone: Iterable[Told], kept: Iterable[Told]) -> Needles:
    """The personal values that stand only in what is gone."""
    left = "\n".join(text.text for told in kept for text in told.texts)
    return Needles(value for told in gone for text in told.texts for value in text.values if value not in left)


def _turn(ledgers: Ledgers, text: Text) -> Told:
    turn = ledgers.ledger("case").record_turn("user", text.text)
    return Told("turn", {"ledger": "case", "turns": [turn]}, [text])


def _large_turn(ledgers: Ledgers, text: Text) -> Told:
    """Compressed, over several pages, with other content around."""
    noise = random.Random(text.text)
    around = [hashlib.sha256(noise.randbytes(8)).hexdigest() for _ in range(200)]
    turn = ledgers.ledger("case").record_turn("user", text.text + "\n" + "\n".join(around) + "\n" + text.text * 30)
    return Told("large turn", {"ledger": "case", "turns": [turn]}, [text])


def _tool(ledgers: Ledgers, text: Text) -> Told:
    """A call, and what it returned; a fact from it."""
    handle, call = ledgers.ledger("case"), "c" + hashlib.sha256(text.text.encode()).hexdigest()[:8]
    arguments = JsonText.of({"query": text.text})
    turn = handle.record_turn("assistant", [ToolCallPart(call_id=call, tool="look", arguments=arguments)])
    handle.record_return(call, {"found": [text.text, {text.values[0]: 1}]})
    handle.set_fact(f"found by {call}", text.text, source="tool", turn=turn)
    return Told("tool", {"ledger": "case", "turns": [turn]}, [text])


def _fact(ledgers: Ledgers, text: Text) -> Told:
    """A value, stated again and superseded, under a name of the ledger's own."""
    handle, name = ledgers.ledger("case"), f"Field {abs(hash(text.text)) % 10**9}"
    handle.set_fact(name, {"address": text.text}, source="user", because=text.values[0])
    handle.set_fact(name, {"address": text.text}, source="user")
    handle.set_fact(name, [text.text], source="user", because=text.values[-1])
    handle.set_fact(name, text.values[0], source="tool")  # a contradiction
    return Told("fact", {"ledger": "case", "facts": [name]}, [text])


def _entry(ledgers: Ledgers, text: Text) -> Told:
    handle = ledgers.ledger("case")
    entry = handle.add_entry("decisions", text.text, source="user", why=text.values[0])
    handle.close_entry(entry, source="interface", because=text.text)
    return Told("entry", {"ledger": "case", "ids": [entry]}, [text])


def _artifact(ledgers: Ledgers, text: Text) -> Told:
    """A page, evidence that quotes it, and a contradiction about the evidence."""
    handle = ledgers.ledger("case")
    page = ("<p>" + text.text + "</p>").encode()
    sha256 = handle.store_artifact(page, name=text.values[0], url="https://example.org/" + text.values[0])
    evidence = handle.record_evidence(text.text, quote=text.text, artifact=sha256)
    value = e.Side(value=JsonText.of(text.text), source="tool")
    handle.record_contradiction(text.text, [evidence, value])
    return Told("artifact", {"ledger": "case", "artifacts": [sha256]}, [text])


def _contradiction(ledgers: Ledgers, text: Text) -> Told:
    sides = [e.Side(value=JsonText.of(value), source="tool") for value in (text.text, "another")]
    handle = ledgers.ledger("case")
    found = handle.record_contradiction(text.values[0], sides)
    handle.resolve_contradiction(found, because=text.text, source="user")
    return Told("contradiction", {"ledger": "case", "ids": [found]}, [text])


def _subject(ledgers: Ledgers, text: Text) -> Told:
    """In two ledgers; the subject and the label themselves say who it is."""
    subject = _on_one_line(text.values[0])
    tags: Any = {"subjects": [subject, "all customers"], "labels": ["of " + subject]}
    for name in ("case", "another case"):
        handle: Ledger = ledgers.ledger(name)
        handle.record_turn("user", text.text, idempotency_key=text.values[0], **tags)
        handle.set_fact("of " + str(handle.version), text.text, source="user", **tags)
    return Told("subject", {"subject": subject}, [text])


def _ledger(ledgers: Ledgers, text: Text) -> Told:
    """A whole ledger, whose name says who it is about."""
    name = _on_one_line(text.values[0])
    handle = ledgers.ledger(name, task=text.text)
    handle.record_turn("user", [text.text, text.values[0]])
    handle.set_fact("address", text.text, source="user")
    handle.store_artifact(text.text.encode() * 200)
    handle.close(because=text.text)
    return Told("ledger", {"ledger": name}, [text])


def _on_one_line(value: str) -> str:
    return " ".join(value.replace('"', "").replace("\\", "").split())


WAYS: Final[Sequence[Callable[[Ledgers, Text], Told]]] = (
    _turn,
    _fact,
    _large_turn,
    _entry,
    _tool,
    _artifact,
    _contradiction,
    _subject,
    _ledger,
)


def tell(ledgers: Ledgers, texts: Iterable[Text]) -> Iterator[Told]:
    """Tell the texts, each in the next way, and keep what is derived of it."""
    for place, text in enumerate(texts):
        told = WAYS[place % len(WAYS)](ledgers, text)
        head = ledgers.head(told.forget.get("ledger") or "case")
        ledgers.store.derived_put(head.ledger, "window", f"{place}", told.texts[0].text.encode(), erasures=head.erasures)
        yield told
