"""Answers as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from delivery.cli.printing import one_line, plain_value, print_table, print_text
from ledger.erased import Forgotten
from projections.forgetting import ErasedPlace
from projections.render.text import part_text
from projections.transcript import Return, Transcript, Turn
from replay.answers import FieldHistory

_SAID_FIRST: Final = ("what", "about", "why", "because", "status", "judge", "detail")


def print_transcript(found: Transcript, forgotten: Sequence[ErasedPlace] = ()) -> None:
    """System texts, then turns with what their calls returned, then returns that answer no call.

    Of ``forgotten`` places those are shown that have no turn to stand in.
    """
    for place in forgotten:
        if place.turn is None and place.type == "turn.recorded":
            print_text(f"system\n{_indented(marked(place.forgotten))}\n")
    for system in found.system:
        print_text(f"system\n{_indented(system.text)}\n")
    for turn in found.turns:
        _print_turn(turn)
    for returned in found.orphans:
        print_text("before any turn")
        _print_return(returned, None)
        print_text()


def _print_turn(turn: Turn) -> None:
    print_text(f"turn {turn.number}, {turn.role}")
    for part in turn.parts:
        print_text(_indented(_part(part)))
    tools = {call.call_id: call.tool for call in turn.calls}
    for found in turn.returns:
        _print_return(found, None if found.orphan else tools.get(found.call_id))
    print_text()


def _print_return(found: Return, tool: str | None) -> None:
    who = tool or found.tool or f"{found.call_id}, which nobody called,"
    print_text(f"  {one_line(who)} returned ({found.id}{', error' if found.is_error else ''}):")
    print_text(_indented("\n".join(map(_part, found.parts)), by=4))


def _part(part: Any) -> str:
    return marked(part) if isinstance(part, Forgotten) else part_text(part)


def marked(found: Forgotten) -> str:
    """What stands in the place of forgotten content: that, by which job, why and when."""
    return f"{found} by job {one_line(found.job)} at {found.at}: {one_line(found.reason)}"


def print_places(places: Sequence[ErasedPlace]) -> None:
    """Places of forgotten content, a line each."""
    for place in places:
        turn = "" if place.turn is None else f", turn {place.turn}"
        print_text(f"{place.type} at version {place.version}{turn}: {marked(place.forgotten)}")


def _indented(text: str, *, by: int = 2) -> str:
    return "\n".join(f"{' ' * by}{line}" for line in text.splitlines())


def print_history(found: FieldHistory) -> None:
    """A field's values with the versions where they stood, then contradictions."""
    rows = [
        (value.json, value.source, value.turn, f"{value.from_version}–{value.to_version or 'now'}", value.because)
        for value in found.values
    ]
    print_table((found.field, "source", "turn", "versions", "ended because"), rows)
    for value in found.values:
        if isinstance(value.because, Forgotten) and value.because != value.json:
            print_text(f"version {value.to_version}: {marked(value.because)}")
    for dispute in found.contradictions:
        how = "open" if dispute.resolution is None else f"resolved: {dispute.resolution.because}"
        print_text(f"{dispute.id}{_between(dispute.turns)}: {how}")


def _between(turns: Sequence[int]) -> str:
    return "" if not turns else f" in {_turns(turns)}" if len(turns) == 1 else f" between {_turns(turns)}"


def _turns(turns: Sequence[int]) -> str:
    return f"turn{'' if len(turns) == 1 else 's'} {', '.join(map(str, turns))}"


def print_brief(brief: dict[str, Any]) -> None:
    """A handoff: a heading and its items, each with where it comes from in brackets."""
    for name, value in brief.items():
        if name == "basis":
            continue
        lines = [_fact(field, known) for field, known in value.items()] if name == "facts" else _items(value)
        print_text(name.replace("_", " ") + ("" if lines else ": none"))
        for line in lines:
            print_text(f"  {one_line(line)}")


def _items(value: Any) -> list[str]:
    return [_item(item) for item in (value if isinstance(value, list | tuple) else [value])]


def _fact(field: str, known: dict[str, Any]) -> str:
    return f"{field}: {plain_value(known['value'])}{_origin({name: known[name] for name in known if name != 'value'})}"


def _item(item: Any) -> str:
    if isinstance(item, Forgotten):
        return marked(item)
    if not isinstance(item, dict):
        return plain_value(item)
    if "forgotten" in item:
        where = {"id": item.get("id"), "turn": item.get("turn")}
        return f"{item['type']}: {marked(Forgotten(**item['forgotten']))}{_origin(where)}"
    said = ((name, item[name]) for name in _SAID_FIRST if name in item)
    words = (f"because {text}" if name in ("why", "because") else plain_value(text) for name, text in said)
    return f"{' – '.join(words)}{_origin({name: item[name] for name in item if name not in _SAID_FIRST})}"


def _origin(known: dict[str, Any]) -> str:
    """Id, turns, source: those that there are."""
    words = []
    for name, value in known.items():
        if name == "turns":
            if value:
                words.append(_turns(value))
        elif value is not None:
            words.append(str(value) if name in ("id", "source") else f"{name} {value}")
    return f" ({', '.join(words)})" if words else ""
