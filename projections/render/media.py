"""Pictures and documents as a request can hold them: encoded, by address, as text, or named where none of these is possible."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ledger.parts import DocumentPart, ImagePart
from projections.pieces import is_text_document, media_note
from projections.policy import Policy
from projections.render.renderer import Encoded
from projections.sendable import is_said, sendable


@dataclass(frozen=True, slots=True)
class Media:
    """The bytes of artifacts by hash.

    While a window is only planned, it is not ``complete``: it holds the text documents, whose text is counted, and other
    artifacts are priced as if their bytes were there.
    """

    known: Mapping[str, bytes]
    complete: bool

    def content(self, part: ImagePart | DocumentPart) -> bytes | None:
        """The bytes of an artifact: None while they are not asked for yet, empty where they are gone."""
        return self.known.get(part.sha256 or "", b"" if self.complete else None)


PDF: Final = "application/pdf"

_WEB: Final = re.compile(r"https?://", re.IGNORECASE)
_DATA: Final = re.compile(r"data:([^;,]+);base64,([A-Za-z0-9+/]+={0,2})")
_SIGNATURES: Final = {
    "image/png": re.compile(rb"\x89PNG"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8"),
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
}
"""The kinds of pictures that providers take, and how their bytes begin."""


@dataclass(frozen=True, slots=True)
class Address:
    """Bytes that the provider fetches itself."""

    url: Encoded


@dataclass(frozen=True, slots=True)
class Inline:
    """Bytes in the request, in base64."""

    media_type: str
    data: Encoded


@dataclass(frozen=True, slots=True)
class Written:
    """The text of a document, counted as any other text."""

    text: str


@dataclass(frozen=True, slots=True)
class Named:
    """A marked stand-in: the bytes are not there, or of a kind that no provider takes."""

    text: str


Shown = Address | Inline | Written | Named


def shown(part: ImagePart | DocumentPart, media: Media, policy: Policy) -> Shown:
    """How a picture or document stands in a request. What was priced as a picture costs no more when its bytes are gone."""
    if is_text_document(part):
        text = (media.content(part) or b"").decode("utf-8", "replace")
        return Written(text) if is_said(text) else Named(_named(part))
    is_picture = isinstance(part, ImagePart)
    price = policy.image_tokens if is_picture else policy.document_tokens
    if (policy.images if is_picture else policy.documents) == "name":
        return Named(_named(part))
    if part.url is not None:
        return _by_address(part, part.url, price) or Named(_named(part))
    allowed = (PDF,) if isinstance(part, DocumentPart) else tuple(_SIGNATURES)
    if part.media_type not in allowed and (part.media_type is not None or isinstance(part, DocumentPart)):
        return Named(_named(part))
    return _inline(part, media.content(part), price) or Named(Encoded(_named(part), price))


def _by_address(part: ImagePart | DocumentPart, url: str, price: int) -> Shown | None:
    data = _DATA.fullmatch(url)
    if data is not None:
        is_known = data[1] in _SIGNATURES if isinstance(part, ImagePart) else data[1] == PDF
        return Inline(data[1], Encoded(data[2], price)) if is_known else None
    is_known = isinstance(part, ImagePart) or part.media_type in (None, PDF)
    return Address(Encoded(sendable(url), price)) if is_known and _WEB.match(url) else None


def _inline(part: ImagePart | DocumentPart, content: bytes | None, price: int) -> Shown | None:
    kind = part.media_type or ("image/png" if content is None else _kind_of(content))
    if kind is None or content == b"":
        return None
    return Inline(kind, Encoded(base64.b64encode(content or b"").decode(), price))


def _kind_of(content: bytes) -> str | None:
    return next((kind for kind, signature in _SIGNATURES.items() if signature.match(content)), None)


def _named(part: ImagePart | DocumentPart) -> str:
    return sendable(media_note(part))
