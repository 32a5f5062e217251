"""Conversations as short to write as they are said, and their verdicts judged turn by turn."""

from __future__ import annotations

from typing import Final

from ledger import Ledger, Ledgers
from ledger.json_text import JsonText
from ledger.parts import TextPart, ToolCallPart
from projections.policy import Policy
from projections.verdicts.judging import judge
from projections.verdicts.verdict import LOOK_BACK, Judgement, Surroundings
from replay import view
from replay.tokens import counter

COUNT: Final = counter("o200k_base")

PAGE: Final = " ".join(
    f"Depot {number} in Ghent closes at {number % 12}:45 and takes order ORD-{number:05}." for number in range(60)
)
OTHER_PAGE: Final = " ".join(f"Section {number}: parcels of {number} kg travel by rail to Lyon." for number in range(60))


def say(ledger: Ledger, *texts: str) -> None:
    """User and assistant in turn; the user begins."""
    for place, text in enumerate(texts):
        ledger.record_turn("assistant" if place % 2 else "user", text)


def look_up(ledger: Ledger, tool: str, asked: str, returned: str) -> str:
    """The assistant calls a tool and gets something back; the id of the result."""
    call = f"call_{ledger.version + 1}"
    ledger.record_turn("assistant", [ToolCallPart(call_id=call, tool=tool, arguments=JsonText.of({"query": asked}))])
    return f"r_{ledger.record_return(call, [TextPart(text=returned)])}"


def judged_alone(store: Ledgers, name: str, policy: Policy) -> list[Judgement]:
    """The verdict of every turn by the rules alone, each with its neighbours out of the whole conversation."""
    turns = view(store, name).transcript().turns
    return [
        judge(
            Surroundings(turns[max(0, place - LOOK_BACK) : place], turn, turns[place + 1 : place + 1 + policy.looks_ahead]),
            policy.rules,
            languages=policy.languages,
            otherwise=policy.otherwise,
        )
        for place, turn in enumerate(turns)
    ]
