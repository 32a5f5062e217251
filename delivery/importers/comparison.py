"""Whether an event of the record and one of a file are the same, and what to say when they are not.

Compared is what was said: role, name, parts, call and turn. What a later export may say otherwise or not at
all (model, usage, ids, times) is not. JSON is compared by value, so that a file may be laid out anew. Of what
was forgotten only its place is compared, since nothing else of it is left.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from delivery.importers.spoken import Spoken
from ledger.erased import Erased
from ledger.events import Event, ToolReturned, TurnRecorded
from ledger.json_text import JsonText
from ledger.parts import (
    DocumentPart,
    ImagePart,
    JsonPart,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    Unparsed,
)

_SHOWN: Final = 40
_BEFORE: Final = 12


def is_spoken(event: Event | Erased) -> bool:
    """Whether an event of the record is, or was, a turn or a return."""
    return event.type in ("turn.recorded", "tool.returned")


def is_return_of(event: Event | Erased, turns: Container[int | None]) -> bool:
    """Whether an event is a return that bears one of the turns."""
    return event.type == "tool.returned" and event.turn in turns


def is_same(recorded: Event | Erased, given: Spoken) -> bool:
    """Whether both say the same, or the given one stands where forgotten content stood."""
    match recorded, given.event:
        case Erased(type="turn.recorded"), TurnRecorded() as event:
            return (recorded.role, recorded.turn) == (event.role, event.turn)
        case Erased(type="tool.returned"), ToolReturned() as event:
            return (recorded.answers, recorded.turn) == (given.answers, event.turn)
        case TurnRecorded(), TurnRecorded() as event:
            heads_agree = (recorded.role, recorded.name) == (event.role, event.name)
        case ToolReturned(), ToolReturned() as event:
            heads_agree = (recorded.call_id, recorded.is_error) == (event.call_id, event.is_error)
        case _:
            return False
    return heads_agree and recorded.turn == event.turn and _same_parts(recorded.parts, event.parts)


def _same_parts(recorded: tuple[Part, ...], given: tuple[Part, ...]) -> bool:
    if recorded == given:
        return True
    return len(recorded) == len(given) and all(
        ours == theirs or _value(ours) == _value(theirs) for ours, theirs in zip(recorded, given, strict=True)
    )


def _value(part: Part) -> object:
    """A part with its JSON in the one form that all spellings of a value share."""
    match part:
        case JsonPart():
            return part.type, part.value.canonical
        case ToolCallPart(arguments=JsonText() as arguments):
            return part.type, part.call_id, part.tool, arguments.canonical
        case ReasoningPart():
            return part.type, part.provider, part.raw.canonical
        case OpaquePart():
            return part.type, part.provider, part.block, part.raw.canonical
        case _:
            return part


def size_of(event: Event | Erased) -> int:
    """About how many characters of content an event holds."""
    if not isinstance(event, TurnRecorded | ToolReturned):
        return 0
    size = sum(len(_part_text(part)) for part in event.parts)
    if isinstance(event, TurnRecorded):
        usage = None if event.usage is None else event.usage.raw
        size += len(event.name or "") + len(usage or "")
    return size


def describe(event: Event, other: Event | Erased | None) -> str:
    """An event in a few words, with its text from where it differs from the other."""
    text, other_text = _text(event), _text(other)
    start = max(0, _first_difference(text, other_text) - _BEFORE)
    shown = text[start : start + _SHOWN]
    cut = f"{'…' if start else ''}{shown}{'…' if start + _SHOWN < len(text) else ''}"
    return f"{_head(event)} {ascii(cut) if not cut.isprintable() else repr(cut)}"


def _first_difference(text: str, other: str) -> int:
    pairs = enumerate(zip(text, other, strict=False))
    return next((place for place, (ours, theirs) in pairs if ours != theirs), min(len(text), len(other)))


def place_of(event: Event | Erased) -> str:
    """An event in a few words that say nothing of its content."""
    if event.type == "tool.returned":
        return f"a return of turn {event.turn}" if event.turn is not None else "a return without a call"
    role = event.role if isinstance(event, TurnRecorded | Erased) else None
    return "system text" if role == "system" else f"{role} turn {event.turn}"


def _head(event: Event) -> str:
    if not isinstance(event, ToolReturned):
        return place_of(event)
    return place_of(event).replace("a return", f"the return {event.call_id!r}", 1)


def _text(event: Event | Erased | None) -> str:
    if not isinstance(event, TurnRecorded | ToolReturned):
        return ""
    return " ".join(_part_text(part) for part in event.parts)


def _part_text(part: Part) -> str:
    match part:
        case TextPart():
            return part.text
        case ToolCallPart(arguments=Unparsed() as written):
            return f"{part.tool}({written.unparsed}) as {part.call_id}"
        case ToolCallPart():
            return f"{part.tool}({part.arguments}) as {part.call_id}"
        case ImagePart() | DocumentPart():
            return f"[{part.type} {part.sha256 or part.url}]"
        case JsonPart():
            return part.value
        case ReasoningPart() | OpaquePart():
            return part.raw
