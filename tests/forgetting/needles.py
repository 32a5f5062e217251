"""Looks for texts in bytes, in every form in which a store or a database may keep them."""

from __future__ import annotations

import base64
import itertools
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

SHORTEST_BYTES: Final = 8
"""A shorter text would be found by chance, above all in base64."""

_ZLIB: Final = re.compile(rb"[\x08\x18\x28\x38\x48\x58\x68\x78].", re.DOTALL)
_GZIP: Final = b"\x1f\x8b\x08"
_NESTED: Final = 3
_SMALLEST_STREAM_BYTES: Final = 8


class Needles:
    """Texts to look for. Those that are too short to be found for certain are refused."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(dict.fromkeys(texts))
        short = [text for text in self.texts if len(text.encode()) < SHORTEST_BYTES]
        if short:
            raise ValueError(f"too short to be looked for: {short}")
        self._forms = [(form, text) for text in self.texts for form in forms(text)]

    def found(self, content: bytes) -> set[str]:
        """The texts that stand in the bytes, or in anything compressed in them."""
        found: set[str] = set()
        for piece in itertools.chain([content], inflated(content)):
            found |= {text for form, text in self._forms if form in piece}
        return found

    def found_in(self, places: Iterable[tuple[str, bytes]]) -> dict[str, set[str]]:
        """The texts that stand somewhere, by the place where they do."""
        found = {place: self.found(content) for place, content in places}
        return {place: texts for place, texts in found.items() if texts}


def forms(text: str) -> set[bytes]:
    """How a text may be written: raw, escaped in JSON (also twice), in base64 at each alignment, hexadecimal."""
    raw = {spelling.encode("utf-8", "surrogatepass") for spelling in spellings(text)}
    plain = text.encode("utf-8", "surrogatepass")
    wide = {text.encode("utf-16-le", "surrogatepass"), text.encode("utf-16-be", "surrogatepass")}
    packed = {form for content in raw for form in _base64(content)}
    return raw | wide | packed | {plain.hex().encode(), plain.hex().upper().encode()}


def spellings(text: str) -> set[str]:
    """The text as it is and as JSON writes it."""
    once = {text} | _json_spellings(text)
    return once | {twice for spelling in once for twice in _json_spellings(spelling)}


def _json_spellings(text: str) -> set[str]:
    found = set()
    for is_ascii in (True, False):
        escaped = json.dumps(text, ensure_ascii=is_ascii)[1:-1]
        found |= {escaped, escaped.replace("/", "\\/")}
        found.add(re.sub(r"\\u[0-9a-f]{4}", lambda match: "\\u" + match[0][2:].upper(), escaped))
    return found


def _base64(content: bytes) -> Iterator[bytes]:
    """The part of a text's base64 that does not depend on what stands around it, for the three places where it may begin."""
    for before in range(3):
        whole = b"\0" * before + content
        encoded = base64.b64encode(whole)
        certain = encoded[(before * 8 + 5) // 6 : len(whole) * 8 // 6]
        yield certain
        yield certain.replace(b"+", b"-").replace(b"/", b"_")


def inflated(content: bytes, depth: int = 1) -> Iterator[bytes]:
    """What streams of zlib or gzip hold that begin anywhere in the bytes, as far as they can be read; streams in them, too."""
    for start in _starts(content):
        inner = _inflate(content, start)
        if len(inner) >= SHORTEST_BYTES:
            yield inner
            if depth < _NESTED:
                yield from inflated(inner, depth + 1)


def _starts(content: bytes) -> Iterator[int]:
    place = -1
    while (place := content.find(_GZIP, place + 1)) >= 0:
        yield place
    place = 0
    while (match := _ZLIB.search(content, place)) is not None:
        place = match.start() + 1
        method, flags = match[0]
        if (method * 256 + flags) % 31 == 0 and not flags & 0x20:
            yield match.start()


def _inflate(content: bytes, start: int) -> bytes:
    """What can be read of a stream, which may be cut off or overwritten at its end."""
    decompressor = zlib.decompressobj(wbits=47)
    found, place, step = b"", start, 512
    while place < len(content) and not decompressor.eof:
        try:
            found += decompressor.decompress(content[place : place + step])
        except zlib.error:
            if step == 1:
                break
            return found + _last_bytes(content, start, place, len(found))
        place += step
    return found


def _last_bytes(content: bytes, start: int, upto: int, known: int) -> bytes:
    """What a broken stream still gives between a place that can be read and the byte that breaks it."""
    decompressor = zlib.decompressobj(wbits=47)
    found = decompressor.decompress(content[start:upto]) if upto > start else b""
    for place in range(upto, len(content)):
        try:
            found += decompressor.decompress(content[place : place + 1])
        except zlib.error:
            break
    return found[known:]


def slices(content: bytes, *, length: int = 24, most: int = 40) -> set[bytes]:
    """Pieces of stored bytes by which they are known again wherever they are left behind."""
    step = max(length, len(content) // most)
    pieces = {content[place : place + length] for place in range(0, len(content) - length, step)}
    return {piece for piece in pieces if len(set(piece)) > length // 3}


def traces_in(traces: Mapping[str, set[bytes]], places: Iterable[tuple[str, bytes]]) -> list[str]:
    """Which pieces of which stored bytes stand in a place."""
    return [
        f"{name} in {place}"
        for place, content in places
        for name, pieces in traces.items()
        if any(piece in content for piece in pieces)
    ]
