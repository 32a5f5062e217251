"""A refund: what is asked for, and a conversation in which it is said."""

from __future__ import annotations

from typing import Any

from ledger.events import Role
from ledger.json_text import JsonText
from ledger.parts import JsonPart, TextPart, ToolCallPart
from ledger.schema.document import schema_from
from ledger.schema.schema import Schema
from projections.extraction import Candidate, Extraction, source_of
from projections.transcript import Return, Turn

REFUND: Schema = schema_from(
    {
        "title": "refund",
        "properties": {
            "order_id": {"type": "string", "pattern": "[A-Z0-9-]+", "description": "The order that the customer means"},
            "amount": {"type": "string", "format": "money", "x-ledger": {"aliases": ["refund amount"]}},
            "items": {"type": "integer"},
            "reason": {"enum": ["damaged", "late", "other"]},
            "is_urgent": {"type": "boolean"},
        },
    }
)


def turn(number: int, role: Role, text: str, *returns: Return) -> Turn:
    """A turn that says one text."""
    parts = (TextPart(text=text),) if text else ()
    calls = tuple(ToolCallPart(call_id=found.call_id, tool="look_up", arguments=JsonText("{}")) for found in returns)
    return Turn(number=number, version=10 * number, role=role, parts=(*parts, *calls), returns=returns)


def returned(version: int, text: str, *, tool: str = "look_up") -> Return:
    """What a tool returned, named r_<version>."""
    return Return(version, f"call_secret_{version}", (TextPart(text=text),), is_error=False, orphan=False, tool=tool)


def returned_json(version: int, value: object) -> Return:
    """What a tool returned as JSON."""
    return Return(
        version, f"call_secret_{version}", (JsonPart(value=JsonText.of(value)),), is_error=False, orphan=False, tool="look_up"
    )


CONVERSATION = (
    turn(1, "user", "Order KA-7731 came broken, I want 4,180 INR back."),
    turn(2, "assistant", "I look it up.", returned(21, "order KA-7731: 3 items, 4180.00 INR, delivered late")),
    turn(3, "assistant", "Shall I refund 9,999 INR for order ZZ-1?"),
    turn(4, "user", "No! Only what I said, and it is urgent: yes"),
)


def said(field: str, value: Any, quote: str, turn: int, result: str | None = None, *, corrects: bool = False) -> dict[str, Any]:
    """A candidate as a model writes it."""
    return {"field": field, "value": value, "quote": quote, "turn": turn, "result": result, "corrects": corrects}


def sources(extraction: Extraction, *, turns: tuple[Turn, ...] = CONVERSATION, schema: Schema = REFUND) -> list[str | None]:
    """What each candidate counts as, in order."""
    by_number = {one.number: one for one in turns}
    return [source_of(candidate, by_number[candidate.turn], schema) for candidate in extraction.candidates]


def briefly(found: Candidate) -> tuple[str, Any, int, str | None]:
    """A candidate without its quote."""
    return found.field, found.value, found.turn, found.result
