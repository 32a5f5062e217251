"""What providers demand of pictures and documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from projections.invariants.shapes import Shape, Violation
from projections.render.renderer import plain

_URL: Final = re.compile(r"https?://.+", re.IGNORECASE | re.DOTALL)
_DATA: Final = re.compile(r"data:([^;,]+);base64,.+", re.DOTALL)
_PDF: Final = "application/pdf"


@dataclass(frozen=True, slots=True)
class MediaAreKnown:
    """Pictures are of ``pictures``, documents PDF or text; all of them have bytes, or an address on the web."""

    pictures: frozenset[str]

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """See ``Rule``."""
        for _, block in shape.blocks:
            if block.kind == "media" and not self._is_known(plain(block.value)):
                yield Violation("MediaAreKnown", block.path, f"{str(block.value)[:60]}…")

    def _is_known(self, block: dict[str, Any]) -> bool:
        match block:
            case {"type": "image_url", "image_url": {"url": url}} | {"type": "input_image", "image_url": url}:
                return self._is_address(url, self.pictures)
            case {"type": "file", "file": {"file_data": data}} | {"type": "input_file", "file_data": data}:
                return self._is_address(data, frozenset({_PDF}))
            case {"type": "image" | "document", "source": source}:
                return self._is_source(block["type"], source)
            case {"inlineData": {"mimeType": kind, "data": data}}:
                return bool(data) and kind in self.pictures | {_PDF}
            case {"fileData": {"fileUri": url}} | {"file_url": url}:
                return _URL.fullmatch(url) is not None
            case {"type": "file" | "input_file" | "input_image" | "input_audio"}:
                return True  # by an id of the provider's
            case _:
                return False

    def _is_address(self, url: str, kinds: frozenset[str]) -> bool:
        data = _DATA.fullmatch(url)
        return data[1] in kinds if data else _URL.fullmatch(url) is not None

    def _is_source(self, kind: str, source: dict[str, Any]) -> bool:
        match source:
            case {"type": "base64", "media_type": media_type, "data": data}:
                return bool(data) and media_type in (self.pictures if kind == "image" else {_PDF})
            case {"type": "text", "data": data}:
                return kind == "document" and bool(data.strip())
            case {"type": "url", "url": url}:
                return _URL.fullmatch(url) is not None
            case _:
                return "type" in source  # by an id of the provider's, or its own content
