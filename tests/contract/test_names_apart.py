"""Names are compared whole, and what is stored is data: nothing in a name or a value is a pattern, a path, SQL or code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from ledger import Ledgers
from ledger.errors import AdmissionRefused, InvalidInput, NothingToForget, UnknownLedger
from ledger.json_text import JsonText
from ledger.parts import ImagePart, JsonPart, TextPart, ToolCallPart
from replay import view
from tests.contract.stores import OpenStore

ALIKE = ("users/ana_lima/s-1", "users/ana-lima/s-1", "users/anaXlima/s-1", "100%", "100 %", "100", "users/ana_lima/s-10")
CRAFTED = ("source') OR 1=1 --", "a' OR 'a'='a", 'a"; DROP TABLE events; --', "$.a", "a%", "a_b", "%", "*", "a.b", "a[0]")


def everything(ledgers: Ledgers) -> dict[str, list[Any]]:
    """The content of all ledgers."""
    return {head.name: [one.event for one in ledgers.ledger(head.name).events()] for head in ledgers.heads()}


def test_ledgers_whose_names_would_match_as_patterns_share_nothing(open_store: OpenStore) -> None:
    ledgers = open_store()
    for name in ALIKE:
        ledgers.ledger(name).set_fact("owner", name, source="user")
        ledgers.ledger(name).store_artifact(name.encode())
    assert {name: view(ledgers, name).state().entities["owner"].value for name in ALIKE} == {name: name for name in ALIKE}
    before = everything(ledgers)
    ledgers.forget(ledger=ALIKE[0], reason="asked for")
    assert {name: events for name, events in everything(ledgers).items() if name in ALIKE[1:]} == {
        name: before[name] for name in ALIKE[1:]
    }
    with pytest.raises(UnknownLedger):
        view(ledgers, "users/ana_lima/")


def test_subjects_that_would_match_as_patterns_share_nothing(open_store: OpenStore) -> None:
    ledgers = open_store()
    for place, name in enumerate(ALIKE):
        ledgers.ledger("shared").record_turn("user", f"turn {place}", subjects=[name])
    ledgers.forget(subject="users/ana_lima/s-1", reason="asked for")
    texts = [turn.text for turn in view(ledgers, "shared").transcript().turns]
    assert texts == ["[forgotten]", *(f"turn {place}" for place in range(1, len(ALIKE)))]
    for subject in CRAFTED:
        with pytest.raises((NothingToForget, InvalidInput)):  # quotation marks are no part of a subject
            ledgers.forget(subject=subject, reason="asked for")


@pytest.mark.parametrize("crafted", CRAFTED)
def test_no_name_asks_for_more_than_itself(open_store: OpenStore, crafted: str) -> None:
    ledgers = open_store()
    case = ledgers.ledger("case")
    case.record_turn("user", "a")
    for name in ("a", "aXb", "ab", "source"):
        case.set_fact(name, "kept", source="user")
    before = everything(ledgers)
    seen = view(ledgers, "case")
    assert (seen.history(crafted).values, seen.explain(crafted).steps) == ((), ())
    with pytest.raises(UnknownLedger):
        ledgers.head(crafted)
    for wish in ({"facts": [crafted]}, {"ids": [crafted]}, {"artifacts": [crafted]}):
        with pytest.raises((NothingToForget, InvalidInput, AdmissionRefused)):
            case.forget(**wish, reason="asked for")  # type: ignore[arg-type]
    with pytest.raises(AdmissionRefused):
        case.retract_fact(crafted, source="user")
    assert everything(ledgers) == before


PATHS = ("../../etc", "..", "/etc/passwd", "a/../../b", "C:\\temp\\x", "~root", "file:///etc/passwd")


@pytest.mark.parametrize("name", PATHS)
def test_a_name_is_no_path(tmp_path: Path, open_store: OpenStore, name: str) -> None:
    ledgers = open_store()
    files = {path for path in tmp_path.parent.rglob("*") if "record" not in path.name}
    case = ledgers.ledger(name)
    case.record_turn("user", "hello", subjects=[name.replace("\\", "/")], labels=["paths"])
    sha256 = case.store_artifact(b"bytes", name=name)
    assert (case.artifact(sha256), case.artifact(name), case.artifact(f"sha256:{name}")) == (b"bytes", None, None)
    with pytest.raises(ValidationError, match="sha256"):
        ImagePart(sha256=f"sha256:{name}")
    with pytest.raises(AdmissionRefused):
        case.record_evidence("x", quote="bytes", artifact=f"sha256:{name}")
    ledgers.forget(ledger=name, reason="asked for")
    assert {path for path in tmp_path.parent.rglob("*") if "record" not in path.name} == files


MARKERS: tuple[Any, ...] = (
    {"lc": 2, "type": "constructor", "id": ["os", "system"], "kwargs": {"command": "touch {place}"}},
    {"py/object": "os.system", "py/reduce": [{"py/type": "os.system"}, {"py/tuple": ["touch {place}"]}]},
    {"_type_": "datetime", "_data_": "x"},
    {"__class__": "pathlib.Path", "__args__": ["{place}"]},
    {"json_literal": '"\\ud800"'},
    {"unparsed": "{"},
    {"$ref": "file:///etc/passwd"},
    "!!python/object/apply:os.system ['touch {place}']",
)


@pytest.mark.parametrize("marker", MARKERS)
def test_what_looks_like_an_object_of_a_program_is_plain_data(tmp_path: Path, open_store: OpenStore, marker: Any) -> None:
    made = tmp_path / "made"
    value = JsonText.parse(str(JsonText.of(marker)).replace("{place}", str(made)))
    ledgers = open_store()
    case = ledgers.ledger("case")
    case.record_turn("user", [TextPart(text="\ud800"), JsonPart(value=value)])
    case.record_turn("assistant", [ToolCallPart(call_id="c", tool="t", arguments=value)])
    case.record_return("c", value.value)
    case.set_fact("it", value, source="tool")
    user, assistant = view(open_store(), "case").transcript().turns
    assert user.parts == (TextPart(text="\ud800"), JsonPart(value=value))
    assert assistant.calls[0].arguments == value
    assert JsonText.parse(assistant.returns[0].text if not isinstance(marker, str) else str(value)).value == value.value
    assert view(open_store(), "case").state().entities["it"].value == value.value
    assert view(open_store(), "case").window().request_bytes
    assert not made.exists()
