"""Whether a quote stands in the bytes that it is quoted from."""

from __future__ import annotations

from typing import Any


def locate(quote: str, content: bytes) -> dict[str, Any]:
    """``match`` "exact" with the ``start`` and ``end`` characters in the UTF-8 text of ``content``, or "not_found".

    Bytes that are not UTF-8 hold no quote; an empty quote is never found.
    """
    try:
        start = content.decode("utf-8").find(quote) if quote else -1
    except UnicodeDecodeError:
        start = -1
    if start < 0:
        return {"match": "not_found"}
    return {"match": "exact", "start": start, "end": start + len(quote)}
