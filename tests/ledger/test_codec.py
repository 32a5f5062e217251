"""Every event comes back from its stored bytes as it went in, in this release and in every later one."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from ledger import JsonText, codec
from ledger import events as e
from ledger.errors import CorruptRecord, UnknownEventType
from ledger.record import NO_TAGS, Tags
from tests.ledger.any_events import BY_TYPE, any_events, any_tags

GOLDEN = Path(__file__).parents[1] / "golden" / "events"


def there_and_back(event: e.EventBase, digest: str | None = None) -> e.Event:
    payload = codec.encode(event, digest)
    return codec.decode(codec.type_of(event), event.type_version, event.turn, payload)


@pytest.mark.parametrize("model", BY_TYPE, ids=lambda model: model.__name__)
@given(data=st.data())
def test_every_event_comes_back(model: type[e.EventBase], data: st.DataObject) -> None:
    event = data.draw(BY_TYPE[model])
    back = there_and_back(event)
    assert back == event
    assert repr(there_and_back(back)) == repr(back)
    assert codec.encode(back) == codec.encode(event)


@given(any_events, st.text("0123456789abcdef", min_size=64, max_size=64))
def test_the_digest_of_a_request_travels_beside_the_event(event: e.Event, digest: str) -> None:
    assert there_and_back(event, digest) == event
    payload = codec.encode(event, digest)
    assert codec.request_digest_of(payload) == digest
    assert codec.request_digest_of(codec.encode(event)) is None
    assert json.loads(payload).keys() == json.loads(codec.encode(event)).keys() | {"request"}


@given(any_events, st.none() | st.text("0123456789abcdef", min_size=64, max_size=64), any_tags)
def test_tags_travel_beside_the_event(event: e.Event, digest: str | None, tags: Tags) -> None:
    payload = codec.encode(event, digest, tags)
    assert codec.decode(codec.type_of(event), event.type_version, event.turn, payload) == event
    assert codec.tags_of(payload) == tags
    assert codec.request_digest_of(payload) == digest
    assert codec.tags_of(codec.encode(event, digest)) == NO_TAGS
    assert codec.check_tags(tags.subjects, tags.labels) == tags


@given(any_events)
def test_the_turn_stands_in_the_envelope_alone(event: e.Event) -> None:
    assert {"turn", "type", "type_version"}.isdisjoint(json.loads(codec.encode(event)))


def test_there_are_values_for_every_event() -> None:
    assert set(BY_TYPE) == set(get_args(get_args(e.Event)[0]))


@pytest.mark.parametrize(
    ("name", "version"), [("fact.forged", 1), ("fact.set", 2), ("fact.set", 0), ("FactSet", 1), ("ledger.events.FactSet", 1)]
)
def test_an_unknown_type_is_refused_by_name(name: str, version: int) -> None:
    with pytest.raises(UnknownEventType, match=f"{name!r} version {version}") as caught:
        codec.decode(name, version, None, b"{}")
    assert (caught.value.type, caught.value.type_version) == (name, version)


@pytest.mark.parametrize(
    "payload", [b"", b"{", b"[]", b"null", b'{"field":"a"}', b'{"field":"a","value":"1","source":"user","extra":1}', b"\xff"]
)
@pytest.mark.parametrize("turn", [None, 3])
def test_bytes_that_are_not_the_event_are_corrupt(payload: bytes, turn: int | None) -> None:
    with pytest.raises(CorruptRecord, match=r"fact\.set"):
        codec.decode("fact.set", 1, turn, payload)


def shown(value: object) -> Any:
    """A value as plain JSON that names its classes, in a form that no library decides."""
    match value:
        case BaseModel():
            fields = {name: shown(getattr(value, name)) for name in type(value).model_fields}
            return {type(value).__name__: {name: field for name, field in fields.items() if field is not None}}
        case tuple():
            return [shown(one) for one in value]
        case datetime():
            return {"datetime": value.isoformat()}
        case JsonText():
            return {"JsonText": str(value)}
        case _:
            return value


SAMPLES = [
    pytest.param(sample, id=f"{path.stem}-{number}")
    for path in sorted(GOLDEN.glob("*.json"))
    for number, sample in enumerate(json.loads(path.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize("sample", SAMPLES)
def test_what_was_stored_once_is_read_for_ever(sample: dict[str, Any]) -> None:
    """Never edit a sample: a stored event cannot be edited either. A new version of a type gets a file of its own."""
    payload = sample["payload"].encode()
    event = codec.decode(sample["type"], sample["type_version"], sample["turn"], payload)
    assert shown(event) == sample["event"]
    tags = codec.tags_of(payload)
    assert {"subjects": list(tags.subjects), "labels": list(tags.labels)} == sample.get("tags", {"subjects": [], "labels": []})
    assert codec.encode(event, codec.request_digest_of(payload), tags) == payload


def test_every_type_and_version_has_its_samples() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == {f"{name}.{version}" for name, version in codec.MODELS}


@given(st.binary(max_size=200_000) | st.binary(max_size=300).map(lambda piece: piece * 100))
def test_packing_keeps_every_byte(payload: bytes) -> None:
    compression, packed = codec.pack(payload)
    assert codec.unpack(compression, packed) == payload
    assert len(packed) <= len(payload)


@pytest.mark.parametrize(("compression", "stored"), [(codec.ZLIB, b"not packed"), (codec.ZLIB, b""), (9, b"{}")])
def test_what_cannot_be_unpacked_is_corrupt(compression: int, stored: bytes) -> None:
    with pytest.raises(CorruptRecord):
        codec.unpack(compression, stored)


@given(st.binary(min_size=32, max_size=32), st.binary(), st.binary(min_size=32, max_size=32), st.binary())
def test_a_commitment_is_of_one_salt_and_one_payload(salt: bytes, payload: bytes, salt2: bytes, payload2: bytes) -> None:
    same = (salt, payload) == (salt2, payload2)
    assert (codec.commitment(salt, payload) == codec.commitment(salt2, payload2)) is same
