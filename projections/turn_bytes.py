"""A turn as bytes: what a summary was made from is known by them."""

from __future__ import annotations

from projections.transcript import Turn
from projections.wire import to_json


def turn_bytes(turn: Turn) -> bytes:
    """Number, role, name, parts and results of a turn as JSON on one line; where it stands in the record is no part of it."""
    returns = [{"call_id": found.call_id, "parts": found.parts, "is_error": found.is_error} for found in turn.returns]
    return to_json({"turn": turn.number, "role": turn.role, "name": turn.name, "parts": turn.parts, "returns": returns})
