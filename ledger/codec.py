"""Between events and stored bytes: the type and its version name the model, the payload is the event's JSON.

The turn is lifted into the envelope and put back when reading, because the columns are the only copy. The payload of the first
event of a keyed command begins with the digest of its request; then come the tags of an event that has some, so that they are
committed to and erased with it. Nothing is imported by name and nothing is guessed.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterable
from typing import Final, cast, get_args

import orjson
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from ledger.errors import CorruptRecord, InvalidInput, LimitExceeded, UnknownEventType
from ledger.events import Event, EventBase
from ledger.limits import MAX_NAME_CHARACTERS, MAX_PAYLOAD_BYTES, MAX_TAGS
from ledger.record import NO_TAGS, Tags

_DOMAIN: Final = b"context-ledger/payload/1\0"
_REQUEST: Final = b'{"request":"'
_DIGEST_LENGTH: Final = 64
_TAGS: Final = b'{"tags":'
_BEFORE_CONTENT: Final = (_REQUEST, _TAGS)
# No tag holds a quotation mark or a backslash, so a text ends at the next mark.
_WITH_TAGS: Final = re.compile(rb'\{"tags":(\{(?:"(?:subjects|labels)":\["[^"]*"(?:,"[^"]*")*\],?)+\})')
_TAG: Final = re.compile(
    r'[^"\\\s\x00-\x1f\x7f-\x9f\ud800-\udfff](?:[^"\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]*'
    r'[^"\\\s\x00-\x1f\x7f-\x9f\ud800-\udfff])?'
)

PLAIN: Final = 0
ZLIB: Final = 1
_WORTH_PACKING_BYTES: Final = 4096

MODELS: Final[dict[tuple[str, int], type[EventBase]]] = {
    (model.model_fields["type"].default, model.type_version): model for model in get_args(get_args(Event)[0])
}
"""Every event type and version that this release reads."""

_TYPES: Final = {model: name for (name, _), model in MODELS.items()}


def encode(event: EventBase, request_digest: str | None = None, tags: Tags = NO_TAGS) -> bytes:
    """The payload of an event; ``request_digest`` (64 hexadecimal digits) only for ordinal 0 of a keyed command."""
    try:
        payload = event.__pydantic_serializer__.to_json(event, exclude_none=True, warnings="error")
    except PydanticSerializationError as error:
        raise InvalidInput(f"{type_of(event)} was made without validation: {error}", path="$") from error
    if len(payload) > MAX_PAYLOAD_BYTES:
        raise LimitExceeded(
            f"{type_of(event)} has {len(payload):,} bytes, over MAX_PAYLOAD_BYTES ({MAX_PAYLOAD_BYTES:,}): "
            "store the content as an artifact and refer to it",
            path="$",
        )
    if tags.subjects or tags.labels:
        known = {name: names for name, names in (("subjects", tags.subjects), ("labels", tags.labels)) if names}
        payload = _TAGS + orjson.dumps(known) + _rest(payload)
    if request_digest is None:
        return payload
    return _REQUEST + request_digest.encode() + b'"' + _rest(payload)


def _rest(payload: bytes) -> bytes:
    """A JSON object as what follows the first member of another."""
    return b"}" if payload == b"{}" else b"," + payload[1:]


def decode(type_name: str, type_version: int, turn: int | None, payload: bytes) -> Event:
    """The event of a stored payload; ``UnknownEventType`` where this release has no model for it."""
    model = MODELS.get((type_name, type_version))
    if model is None:
        raise UnknownEventType(
            f"event type {type_name!r} version {type_version} is not known to this release: upgrade context-ledger to read it",
            type=type_name,
            type_version=type_version,
        )
    content = _without_tags(_without_request(payload)) if payload.startswith(_BEFORE_CONTENT) else payload
    try:  # as ``model_validate_json`` would, after a look at options that nobody gives: a fifth of its time
        return cast(Event, model.__pydantic_validator__.validate_json(_with_turn(content, turn)))
    except ValidationError as error:
        raise CorruptRecord(
            f"the payload of a {type_name} does not have its fields: {error.error_count()} problems, first "
            f"{error.errors()[0]['loc']}",
            type=type_name,
        ) from error


def check_comes_back(event: EventBase) -> None:
    """``InvalidInput`` unless an event's stored form, read again, is this event: one made without validation may not be."""
    try:
        same = decode(type_of(event), event.type_version, event.turn, encode(event)) == event
    except CorruptRecord as error:
        raise InvalidInput(f"{error}: it was made without validation", path="$") from error
    if not same:
        raise InvalidInput(f"{type_of(event)} would not come back as it went in: make it anew with its own class", path="$")


def request_digest_of(payload: bytes) -> str | None:
    """The digest of the request that a keyed command was made with, from the payload of its first event."""
    if not payload.startswith(_REQUEST):
        return None
    return payload[len(_REQUEST) : len(_REQUEST) + _DIGEST_LENGTH].decode()


def tags_of(payload: bytes) -> Tags:
    """The tags that an event was appended with."""
    rest = _without_request(payload) if payload.startswith(_BEFORE_CONTENT) else b""
    if not rest.startswith(_TAGS):
        return NO_TAGS
    match = _WITH_TAGS.match(rest)
    try:
        found = orjson.loads(b"" if match is None else match[1])
        return Tags(tuple(found.get("subjects", ())), tuple(found.get("labels", ())))
    except (ValueError, TypeError) as error:
        raise CorruptRecord(f"the tags of an event cannot be read: {error}") from error


def check_tags(subjects: Iterable[str], labels: Iterable[str]) -> Tags:
    """Tags in order, each once. ``InvalidInput`` for one that cannot be kept, ``LimitExceeded`` for too many."""
    return Tags(_checked("subjects", subjects), _checked("labels", labels))


def _checked(kind: str, given: object) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInput(f"{kind} is {type(given).__name__}: give a list of texts", path=kind)
    tags = tuple(dict.fromkeys(given))
    for place, tag in enumerate(tags):
        if not isinstance(tag, str) or len(tag) > MAX_NAME_CHARACTERS or _TAG.fullmatch(tag) is None:
            raise InvalidInput(
                f"{kind}[{place}]: {tag!r} is not usable: give 1 to {MAX_NAME_CHARACTERS} characters on one line, without "
                "quotation marks, backslashes, or white space at an end",
                path=f"{kind}[{place}]",
            )
    if len(tags) > MAX_TAGS:
        raise LimitExceeded(f"{len(tags)} {kind}, over MAX_TAGS ({MAX_TAGS}): give fewer", path=kind)
    return tags


def _without_tags(payload: bytes) -> bytes:
    match = _WITH_TAGS.match(payload)
    return payload if match is None else b"{" + payload[match.end() :].removeprefix(b",")


def _without_request(payload: bytes) -> bytes:
    if not payload.startswith(_REQUEST):
        return payload
    rest = payload[len(_REQUEST) + _DIGEST_LENGTH + 1 :]
    return b"{" + rest.removeprefix(b",")


def _with_turn(payload: bytes, turn: int | None) -> bytes:
    if turn is None:
        return payload
    return b'{"turn":%d%s%s' % (turn, b"" if payload == b"{}" else b",", payload[1:])


def type_of(event: EventBase) -> str:
    """The stored type string of an event."""
    return _TYPES.get(type(event)) or str(type(event).model_fields["type"].default)


def commitment(salt: bytes, payload: bytes) -> bytes:
    """What the envelope keeps of a payload: 32 bytes that reveal nothing once the salt is gone."""
    return hashlib.sha256(_DOMAIN + salt + payload).digest()


def pack(payload: bytes) -> tuple[int, bytes]:
    """``(compression, bytes)`` as stored: larger payloads are compressed where that makes them smaller."""
    if len(payload) >= _WORTH_PACKING_BYTES:
        packed = zlib.compress(payload, 1)
        if len(packed) < len(payload):
            return ZLIB, packed
    return PLAIN, payload


def unpack(compression: int, stored: object) -> bytes:
    """The payload of stored bytes; ``CorruptRecord`` where they cannot be read."""
    if not isinstance(stored, bytes):
        raise CorruptRecord(f"a stored payload is {type(stored).__name__} and not bytes: it was changed from outside")
    if compression == PLAIN:
        return stored
    if compression != ZLIB:
        raise CorruptRecord(f"compression {compression} is not known to this release: upgrade context-ledger to read it")
    try:
        return zlib.decompress(stored)
    except zlib.error as error:
        raise CorruptRecord(f"a stored payload cannot be decompressed: {error}") from error
