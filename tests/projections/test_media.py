"""A picture or document whose bytes are gone, or of a kind that no provider takes, is named and not sent broken."""

from __future__ import annotations

import pytest

from ledger.parts import DocumentPart, ImagePart
from projections.policy import Policy
from projections.render.media import Address, Inline, Media, Named, Shown, Written, shown
from projections.render.renderer import Encoded

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
        (DocumentPart(sha256=HASH, media_type="text/plain"), {HASH: b"text"}, Written),
        (DocumentPart(sha256=HASH, media_type="text/plain", size_bytes=4), {HASH: b" \n\t "}, Named),
        (DocumentPart(sha256=HASH, media_type="text/plain", size_bytes=4), {}, Named),
        (DocumentPart(url="https://a.example/x.pdf"), {}, Address),
        (DocumentPart(url="https://a.example/x.txt", media_type="text/plain"), {}, Named),
    ],
)
def test_how_it_is_shown(part: ImagePart | DocumentPart, media: dict[str, bytes] | None, kind: type[Shown]) -> None:
    found = shown(part, as_media(media), Policy())
    assert type(found) is kind
    if isinstance(found, Named):
        assert (part.sha256 or part.url or "?") in found.text


@pytest.mark.parametrize("media", [None, {}, {HASH: PNG}])
def test_its_price_does_not_depend_on_its_bytes(media: dict[str, bytes] | None) -> None:
    found = shown(ImagePart(sha256=HASH, media_type="image/png"), as_media(media), Policy(image_tokens=85))
    assert isinstance(found, Inline | Named)
    priced = found.data if isinstance(found, Inline) else found.text
    assert isinstance(priced, Encoded)
    assert priced.tokens == 85


def test_a_kind_that_no_provider_takes_costs_what_its_name_costs() -> None:
    found = shown(ImagePart(sha256=HASH, media_type="image/bmp"), as_media(None), Policy())
    assert isinstance(found, Named)
    assert not isinstance(found.text, Encoded)


@pytest.mark.parametrize(
    ("part", "policy"),
    [
        (ImagePart(sha256=HASH, media_type="image/png"), Policy(images="name")),
        (ImagePart(url="https://a.example/x"), Policy(images="name")),
        (DocumentPart(sha256=HASH, media_type="application/pdf"), Policy(documents="name")),
    ],
)
def test_a_policy_may_have_them_named(part: ImagePart | DocumentPart, policy: Policy) -> None:
    found = shown(part, as_media({HASH: PNG}), policy)
    assert type(found) is Named
    assert not isinstance(found.text, Encoded)


def test_text_is_shown_whatever_the_policy_says_of_documents() -> None:
    part = DocumentPart(sha256=HASH, media_type="text/plain")
    assert type(shown(part, as_media({HASH: b"text"}), Policy(documents="name"))) is Written


def as_media(known: dict[str, bytes] | None) -> Media:
    """The bytes that are there; None while a window is planned."""
    return Media(known or {}, complete=known is not None)
