"""From what a caller gives as content to the parts of an event: texts, parts, plain JSON values, bytes in data: URLs."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel

from ledger.errors import InvalidInput
from ledger.events import ArtifactStored
from ledger.json_text import JsonText
from ledger.parts import DocumentPart, ImagePart, JsonPart, TextPart

Given = str | BaseModel | Sequence[Any] | Mapping[str, Any]
"""Content of a turn or a return: a text, a part, a list of parts and texts, or (returns only) a plain JSON value."""

_DATA: Final = re.compile(r"data:([^;,]*)((?:;[^;,]*)*?)(;base64)?,", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Content:
    """Parts, and the artifacts that some of them refer to, with their bytes by hash."""

    parts: tuple[Any, ...]
    artifacts: tuple[ArtifactStored, ...] = ()
    blobs: Mapping[str, bytes] = field(default_factory=dict)


def turn_content(given: Given) -> Content:
    """The content of a turn; ``InvalidInput`` for what is neither text nor parts."""
    if isinstance(given, Mapping | bytes) or not isinstance(given, Iterable):
        raise InvalidInput(
            "a turn's content is a text or a list of parts: wrap a value in JsonPart, decode bytes or keep them as an artifact",
            path="content",
        )
    return _kept(_parts(given))


def return_content(given: Given) -> Content:
    """The content of a return; a value that is neither text nor parts is kept as its JSON text."""
    has_parts = isinstance(given, list | tuple) and any(isinstance(part, BaseModel) for part in given)
    if isinstance(given, str | BaseModel) or has_parts:
        return _kept(_parts(given))
    return Content((JsonPart(value=JsonText.of(given)),))


def _parts(given: Any) -> tuple[Any, ...]:
    if isinstance(given, str):
        return (TextPart(text=given),) if given else ()
    if isinstance(given, BaseModel):
        return (given,)
    return tuple(TextPart(text=part) if isinstance(part, str) else part for part in given)


def _kept(parts: tuple[Any, ...]) -> Content:
    """Bytes that came inside a data: URL become an artifact: the event holds their hash, and nobody counts them as text."""
    kept: list[Any] = []
    artifacts: list[ArtifactStored] = []
    blobs: dict[str, bytes] = {}
    for place, part in enumerate(parts):
        found = _data_of(part, place)
        if found is None:
            kept.append(part)
            continue
        media_type, content = found
        sha256 = hashlib.sha256(content).hexdigest()
        if sha256 not in blobs:
            artifacts.append(ArtifactStored(sha256=sha256, size_bytes=len(content), media_type=media_type, name=part.name))
        blobs[sha256] = content
        kept.append(type(part)(sha256=sha256, media_type=media_type, size_bytes=len(content), name=part.name))
    return Content(tuple(kept), tuple(artifacts), blobs)


def _data_of(part: Any, place: int) -> tuple[str | None, bytes] | None:
    """The media type and the bytes of a part's data: URL; None for other parts."""
    if not isinstance(part, ImagePart | DocumentPart) or part.url is None or part.url[:5].lower() != "data:":
        return None
    head = _DATA.match(part.url)
    encoded = part.url[head.end() :] if head is not None and head[3] is not None else "not base64"
    try:
        content = base64.b64decode(encoded, validate=True)
    except ValueError:
        raise InvalidInput(
            f"parts[{place}].url is a data: URL that is not base64: give the bytes to store_artifact, and its hash as sha256",
            path=f"parts[{place}].url",
        ) from None
    return part.media_type or (head[1] if head is not None else None) or None, content
