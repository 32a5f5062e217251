"""The conversation that the benchmarks use: made up from a seed, of the sizes that support conversations have.

Of three turns one is a user's (about 60 tokens), one calls a tool (about 1,500 tokens with its result), one answers (about 60).
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cache
from typing import Final

from ledger.events import Event, Role, ToolReturned, TurnRecorded
from ledger.json_text import JsonText
from ledger.parts import TextPart, ToolCallPart

_WORDS: Final = tuple(
    """order refund charge customer payment amount invoice account address delivery warehouse shipment carrier status the of and
    to in is that it was for on are as with they at be this have from or one had by but not what all were when your can said
    there""".split()  # noqa: SIM905 — a list of words reads better as words
)
_ROWS: Final = 19


def mixed_turns(number: int, *, seed: int = 7) -> Iterator[list[Event]]:
    """``number`` turns, each with the events that are recorded together."""
    source = random.Random(seed)
    for turn in range(1, number + 1):
        kind = turn % 3
        if kind == 2:
            yield _tool_turn(source, turn)
        else:
            role: Role = "user" if kind == 1 else "assistant"
            yield [TurnRecorded(role=role, parts=(TextPart(text=_prose(source, 55)),), turn=turn)]


def _tool_turn(source: random.Random, turn: int) -> list[Event]:
    call = ToolCallPart(call_id=f"call_{turn}", tool="search_orders", arguments=JsonText.of({"query": _prose(source, 6)}))
    found = [
        {
            "id": f"ORD-{source.randint(0, 99999):05}",
            "amount": f"{source.randint(10, 99999)}.{source.randint(0, 99):02} INR",
            "at": f"2031-{source.randint(1, 12):02}-{source.randint(1, 28):02}T10:02:11Z",
            "sha": f"{source.getrandbits(64):016x}",
            "note": _prose(source, 13),
        }
        for _ in range(_ROWS)
    ]
    result = TextPart(text=json.dumps(found))
    return [
        TurnRecorded(role="assistant", parts=(call,), turn=turn),
        ToolReturned(call_id=call.call_id, parts=(result,), tool=call.tool, turn=turn),
    ]


def _prose(source: random.Random, words: int) -> str:
    return " ".join(source.choices(_WORDS, k=words)).capitalize() + "."


@cache
def listed_turns(number: int) -> list[list[Event]]:
    """The first turns of the workload, made once."""
    return list(mixed_turns(number))
