"""Whether a quote stands in the bytes that it is quoted from."""

from __future__ import annotations

from typing import Any

from ledger.events import EvidenceRecorded


def stands_as_said(event: EvidenceRecorded, content: bytes) -> bool:
    """Whether ``match``, ``start`` and ``end`` of recorded evidence are true of the artifact's bytes."""
    found = locate(event.quote, content)
    if event.match != "exact" or found["match"] != "exact":
        return bool(event.match == found["match"])
    return event.start is not None and content.decode("utf-8")[event.start : event.end] == event.quote


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
