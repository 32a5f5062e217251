"""The checker itself: a text is found in every form in which it may be kept, and nothing is found where there is none."""

from __future__ import annotations

import base64
import gzip
import json
import os
import zlib
from collections.abc import Callable

import orjson
import pytest

from tests.forgetting.needles import Needles, inflated, slices, traces_in

TEXT = 'Goiânia/"Rua" 1634\n\\Ω'

WAYS: dict[str, Callable[[str], bytes]] = {
    "utf-8": str.encode,
    "utf-16 little": lambda text: text.encode("utf-16-le"),
    "utf-16 big": lambda text: text.encode("utf-16-be"),
    "json escaped": lambda text: json.dumps({"a": text}).encode(),
    "json escaped, upper case": lambda text: (
        json.dumps(text).replace("\\u00e2", "\\u00E2").replace("\\u03a9", "\\u03A9").encode()
    ),
    "json, slashes escaped": lambda text: json.dumps(text).replace("/", "\\/").encode(),
    "json plain": orjson.dumps,
    "json in json": lambda text: json.dumps(json.dumps([text])).encode(),
    "json plain in json plain": lambda text: orjson.dumps(orjson.dumps(text).decode()),
    "base64": lambda text: base64.b64encode(text.encode()),
    "base64, one byte later": lambda text: base64.b64encode(b"x" + text.encode() + b"yz"),
    "base64, two bytes later": lambda text: base64.b64encode(b"xy" + text.encode() + b"z"),
    "base64 for urls": lambda text: base64.urlsafe_b64encode(b"xyz" + text.encode() + b"?>"),
    "base64 of json": lambda text: base64.b64encode(orjson.dumps(["", text])),
    "hex": lambda text: text.encode().hex().encode(),
    "hex, upper case": lambda text: text.encode().hex().upper().encode(),
    "zlib": lambda text: zlib.compress(text.encode()),
    "zlib, fastest": lambda text: zlib.compress(orjson.dumps(text * 40), 1),
    "zlib, stored": lambda text: zlib.compress(text.encode(), 0),
    "zlib, small window": lambda text: deflated(text, 9),
    "gzip": lambda text: gzip.compress(text.encode()),
    "zlib in zlib": lambda text: zlib.compress(zlib.compress(text.encode())),
    "zlib of base64": lambda text: zlib.compress(base64.b64encode(text.encode())),
    "zlib, its end overwritten": lambda text: zlib.compress((text + os.urandom(3000).hex()).encode())[:1500] + b"\xff" * 900,
}


def deflated(text: str, window: int) -> bytes:
    compressor = zlib.compressobj(wbits=window)
    return compressor.compress(text.encode()) + compressor.flush()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("before", [0, 1, 4093])
def test_a_planted_text_is_found(way: str, before: int) -> None:
    planted = os.urandom(before) + WAYS[way](TEXT) + b"\0" * 700
    assert Needles([TEXT, "Rua do Arenque"]).found(planted) == {TEXT}


@pytest.mark.parametrize("way", WAYS)
def test_another_text_is_not_found(way: str) -> None:
    assert Needles([TEXT]).found(WAYS[way](TEXT[:-1] + "x" + TEXT[-1])) == set()


def test_nothing_is_found_in_noise() -> None:
    assert Needles([TEXT, "8 bytes."]).found(os.urandom(200_000)) == set()


def test_a_text_in_one_of_many_places_is_found_there() -> None:
    places = [("file", b"-" * 100), ("log", zlib.compress(TEXT.encode()))]
    assert Needles([TEXT]).found_in(places) == {"log": {TEXT}}


def test_what_is_too_short_is_refused() -> None:
    with pytest.raises(ValueError, match="too short"):
        Needles(["GPE"])


def test_streams_are_read_up_to_where_they_break() -> None:
    whole = os.urandom(4000)
    broken = zlib.compress(whole)[:2345]
    assert max(inflated(broken + b"\xff" * 5000), key=len)[:2200] == whole[:2200]


def test_pieces_of_stored_bytes_are_known_again() -> None:
    stored = zlib.compress(os.urandom(9000))
    left = b"\0" * 100 + stored[3000:4096]
    assert traces_in({"payload 4": slices(stored)}, [("file", left), ("log", b"\0" * 9000)]) == ["payload 4 in file"]
    assert traces_in({"payload 4": slices(stored)}, [("file", os.urandom(9000))]) == []
