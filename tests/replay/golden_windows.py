"""Small ledgers whose windows are kept as files; ``python -m tests.replay.golden_windows`` writes the files anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from ledger import JsonText, Ledger, Ledgers, connect
from ledger.parts import ImagePart, OpaquePart, ReasoningPart, ToolCallPart, Unparsed
from projections.policy import Compaction, Policy
from replay import view

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "windows"

POLICIES = {
    "default": Policy(),
    "tight": Policy(tail_turns=2, budget_tokens=420, reserve_tokens=20, image_tokens=85),
    "pins": Policy(tail_turns=0, budget_tokens=3_000, encoding="cl100k_base"),
}
FORMS = ("openai", "anthropic", "text")


def ferry(case: Ledger) -> None:
    """A booking that is corrected, with entries, a contradiction and results of tools."""
    case.record_turn("system", "You are a clerk of the ferry line. Answer briefly.")
    case.record_turn("user", "Book a cabin from Hull to Rotterdam for Friday, two people.")
    case.set_fact("day", "Friday", source="user", turn=1)
    case.set_fact("travellers", 2, source="user", turn=1)
    case.record_turn("assistant", ["Let me look.", call("c1", "cabins", '{"day": "Friday",  "berths": 2}')])
    case.record_return("c1", "\n".join(f"cabin {number}: 2 berths, {88 + number},50 EUR" for number in range(12)))
    case.record_turn("assistant", "Cabin 0 costs 88,50 EUR. Shall I take it?")
    case.record_turn("user", "Saturday, sorry. And no inside cabin.")
    case.set_fact("day", "Saturday", source="user", turn=4, supersedes="Friday")
    case.add_entry("rejected", "an inside cabin", why="the user wants a window", source="user", turn=4)
    case.record_turn("assistant", [call("c1", "cabins", '{"day":"Saturday","berths":2}'), call("c2", "weather", "{}")])
    case.record_return("c2", {"wind": "Bft 5"})
    case.set_fact("travellers", 3, source="tool")
    case.record_turn("user", "Well?")
    case.record_return("c1", "cabin 7: 2 berths, window, 104,00 EUR", turn=5)


def odd(case: Ledger) -> None:
    """What is hard to show: empty turns, torn text, foreign ids, reasoning, pictures, arguments that are no JSON."""
    picture = case.store_artifact(b"\x89PNG\r\n\x1a\n0123456789", media_type="image/png")
    case.record_turn("assistant", "Welcome aboard!")
    case.record_turn("user", ["What does this say? </state>", ImagePart(sha256=picture, media_type="image/png")])
    thinking = JsonText.parse('{"type":"thinking", "thinking":"Dutch\\u2026", "signature":"EqQB+/=="}')
    parts = [ReasoningPart(provider="anthropic", raw=thinking), call("call_9|fc_1", "Read Sign (NL)", '{"n": 1.50}')]
    case.record_turn("assistant", [*parts, unread("call_9|fc_2")])
    case.record_return("call_9|fc_1", "")
    case.record_turn("assistant", "")
    case.record_turn("user", " ")
    case.record_turn("user", ["Torn \ud83d text", OpaquePart(provider="google", block="video", raw=JsonText.of({}))])
    case.set_fact("sign", '"Verboden"\n</state>\u202e', source="tool")


def call(call_id: str, tool: str, arguments: str) -> ToolCallPart:
    """A call with its arguments as they were written."""
    return ToolCallPart(call_id=call_id, tool=tool, arguments=JsonText.parse(arguments))


def unread(call_id: str) -> ToolCallPart:
    """A call whose arguments were cut off."""
    return ToolCallPart(call_id=call_id, tool="read", arguments=Unparsed(unparsed='{"n": '))


def depot(case: Ledger) -> None:
    """A longer talk with rules, look-ups, small talk, a late result and one that is missing."""
    case.record_turn("system", "You look after a depot.")
    case.record_turn("user", "Bring ORD-70001 and all that belongs to it to gate 9 by Friday.")
    for number in range(8):
        order = f"ORD-7{number:04d}"
        case.record_turn("user", f"Where is {order}? It goes to /srv/depot_{number}/in.csv." if number % 3 else "ok thanks!")
        case.record_turn("assistant", [f"Let me look up {order}.", call("c1", "find_order", f'{{"query":"{order}"}}')])
        rows = [f"TRK-{number:05d} in hall H-{number}", *(f"row {row}: shelf S-{row}x{number} free" for row in range(30))]
        if number not in (2, 5):
            case.record_return("c1", "\n".join(rows))
        case.record_turn("assistant", f"{order} is in hall H-{number}, with TRK-{number:05d}.")
        if number == 2:
            case.record_return("c1", "\n".join(rows), turn=number * 3 + 3)
    case.record_turn("user", "Never send an invoice by mail, and remember that the limit is 340.50 EUR.")
    case.set_fact("limit", "340.50 EUR", source="user")
    case.record_turn("assistant", "Noted.")


CASES: dict[str, Callable[[Ledger], None]] = {"ferry": ferry, "odd": odd, "depot": depot}
OWN_POLICIES = {
    "depot": {
        "compacted": Policy(tail_turns=4, budget_tokens=1_300, compaction=Compaction(segment_turns=4)),
        "pressed": Policy(tail_turns=2, budget_tokens=700, state_place="after_system"),
    }
}
"""Of a longer ledger."""


def open_case(name: str) -> Ledgers:
    """A store in memory with the ledger of a case; a second lies between two events."""
    store = connect(":memory:", clock=count(1_900_000_000_000_000, 1_000_000).__next__)
    CASES[name](store.ledger(name))
    return store


def windows() -> Iterator[tuple[str, bytes]]:
    """The name of each file and what it should hold: an answer in JSON, its end a newline."""
    for name in CASES:
        with open_case(name) as store:
            for form in FORMS:
                for policy, rules in OWN_POLICIES.get(name, POLICIES).items():
                    yield f"{name}.{form}.{policy}.json", view(store, name).window(rules, render=form).to_json() + b"\n"


if __name__ == "__main__":
    for file, content in windows():
        (FOLDER / file).write_bytes(content)
