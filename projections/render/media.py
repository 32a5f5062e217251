"""Pictures and documents as a request can hold them: encoded, by address, as text, or named where none of these is possible."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ledger.parts import DocumentPart, ImagePart
from projections.policy import Policy
from projections.render.renderer import Encoded, media_note, media_tokens

Media = Mapping[str, bytes] | None
"""The bytes of artifacts by hash; None while a window is only planned, when each is priced as if its bytes were there."""

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
    """The text of a document."""

    text: Encoded


@dataclass(frozen=True, slots=True)
class Named:
    """A marked stand-in: the bytes are not there, or of a kind that no provider takes, or larger than they were declared."""

    text: Encoded


Shown = Address | Inline | Written | Named


def shown(part: ImagePart | DocumentPart, media: Media, policy: Policy) -> Shown:
    """How a picture or document stands in a request. It costs the same in each of these forms."""
    price = media_tokens(part, policy)
    if part.url is not None:
        found = _by_address(part, part.url, price)
    elif isinstance(part, DocumentPart) and (part.media_type or "").startswith("text/"):
        found = _written(_content(part, media), price)
    else:
        found = _inline(part, _content(part, media), price)
    return found or Named(Encoded(media_note(part), price))


def _content(part: ImagePart | DocumentPart, media: Media) -> bytes | None:
    """The bytes of an artifact; None while planning, nothing where they are gone."""
    return None if media is None else media.get(part.sha256 or "", b"")


def _by_address(part: ImagePart | DocumentPart, url: str, price: int) -> Shown | None:
    data = _DATA.fullmatch(url)
    if data is not None:
        is_known = data[1] in _SIGNATURES if isinstance(part, ImagePart) else data[1] == PDF
        return Inline(data[1], Encoded(data[2], price)) if is_known else None
    is_known = isinstance(part, ImagePart) or part.media_type in (None, PDF)
    return Address(Encoded(url, price)) if is_known and _WEB.match(url) else None


def _written(content: bytes | None, price: int) -> Shown | None:
    """A text has at most a token a byte; what is longer than its price is not shown, since the budget would not hold."""
    text = "" if content is None else content.decode("utf-8", "replace")
    is_shown = content is None or (text.strip() and len(content) <= price)
    return Written(Encoded(text, price)) if is_shown else None


def _inline(part: ImagePart | DocumentPart, content: bytes | None, price: int) -> Shown | None:
    kind = part.media_type
    if isinstance(part, ImagePart) and kind is None:
        kind = "image/png" if content is None else _kind_of(content)
    allowed = _SIGNATURES if isinstance(part, ImagePart) else (PDF,)
    if kind is None or kind not in allowed or content == b"":
        return None
    return Inline(kind, Encoded(base64.b64encode(content or b"").decode(), price))


def _kind_of(content: bytes) -> str | None:
    return next((kind for kind, signature in _SIGNATURES.items() if signature.match(content)), None)
