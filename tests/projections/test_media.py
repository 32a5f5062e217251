"""A picture or document whose bytes are gone, or of a kind that no provider takes, is named and not sent broken."""

from __future__ import annotations

import pytest

from ledger.parts import DocumentPart, ImagePart
from projections.policy import Policy
from projections.render.media import Address, Inline, Media, Named, Shown, Written, shown

HASH = "ab" * 32
PNG = b"\x89PNG\r\n\x1a\n1"
WEBP = b"RIFF\x00\x00\x00\x00WEBPVP8 "


@pytest.mark.parametrize(
    ("part", "media", "kind"),
    [
        (ImagePart(sha256=HASH, media_type="image/png"), {HASH: PNG}, Inline),
        (ImagePart(sha256=HASH, media_type="image/png"), {}, Named),
        (ImagePart(sha256=HASH, media_type="image/png"), {HASH: b""}, Named),
        (ImagePart(sha256=HASH, media_type="image/png"), None, Inline),
        (ImagePart(sha256=HASH, media_type="image/tiff"), {HASH: b"II*\x00"}, Named),
        (ImagePart(sha256=HASH), {HASH: WEBP}, Inline),
        (ImagePart(sha256=HASH), {HASH: b"<svg/>"}, Named),
        (ImagePart(url="https://a.example/x"), {}, Address),
        (ImagePart(url="HTTP://a.example/x"), {}, Address),
        (ImagePart(url="file:///x.png"), {}, Named),
        (ImagePart(url="data:image/png;base64,iVBORw0KGgo="), {}, Inline),
        (ImagePart(url="data:image/png;base64,"), {}, Named),
        (DocumentPart(sha256=HASH, media_type="application/pdf"), {HASH: b"%PDF"}, Inline),
        (DocumentPart(sha256=HASH, media_type="application/msword"), {HASH: b"x"}, Named),
        (DocumentPart(sha256=HASH, media_type="text/plain", size_bytes=4), {HASH: b"text"}, Written),
        (DocumentPart(sha256=HASH, media_type="text/plain", size_bytes=3), {HASH: b"text"}, Named),
        (DocumentPart(sha256=HASH, media_type="text/plain", size_bytes=4), {HASH: b" \n\t "}, Named),
        (DocumentPart(sha256=HASH, media_type="text/plain", size_bytes=4), {}, Named),
        (DocumentPart(url="https://a.example/x.pdf"), {}, Address),
        (DocumentPart(url="https://a.example/x.txt", media_type="text/plain"), {}, Named),
    ],
)
def test_how_it_is_shown(part: ImagePart | DocumentPart, media: Media, kind: type[Shown]) -> None:
    found = shown(part, media, Policy())
    assert type(found) is kind
    if isinstance(found, Named):
        assert (part.sha256 or part.url or "?") in found.text


@pytest.mark.parametrize("media", [None, {}, {HASH: PNG}])
def test_its_price_does_not_depend_on_its_bytes(media: Media) -> None:
    found = shown(ImagePart(sha256=HASH, media_type="image/png"), media, Policy(image_tokens=85))
    assert isinstance(found, Inline | Named)
    assert (found.data if isinstance(found, Inline) else found.text).tokens == 85
