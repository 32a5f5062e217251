"""Records to be searched, and what is asked of them."""

from __future__ import annotations

import random
from typing import Any

from ledger import JsonText, Ledgers
from ledger import events as e
from ledger.parts import TextPart, ToolCallPart
from replay.searching.index import KIND

WORDS = (
    *("refund", "Order", "charge", "überweisung", "Straße", "café", "naïve", "ORD-88213", "ORD-88214", "src/app.py"),
    *("src/app.pyc", "eu-north-7", "eu_north_7", "截止日期", "期日", "deadline", "deadlines", "4,180", "don't", "Ωmega"),
    *("москва", "हिन्दी", "한국어", "status:failed"),
)
QUERIES = (
    *("refund", "order charge", "UBERWEISUNG", "strasse", "cafe", "ORD-88213", "ORD-88", "ORD-88*", "src/app.py", "eu-north-7"),
    *(
        "eu_north_7",
        "截止日期",
        "期",
        "日期 refund",
        "dead",
        "deadline order naive",
        "4,180",
        "don’t",
        "ωMEGA",
        "МОСКВА",
        "हिन्दी",
    ),
    *("한국", "status=failed", "what is the deadline?", "is the", "nothing here", '"order refund"', "app.py zzz"),
)


def random_record(store: Ledgers, number: int, seed: int) -> None:
    """Turns, results and facts of a few words."""
    chance, case = random.Random(seed), store.ledger("case")
    said = [" ".join(chance.choices(WORDS, k=chance.randrange(1, 9))) for _ in range(number)]
    events: list[e.Event] = []
    for turn, text in enumerate(said, start=1):
        if turn % 3:
            events.append(e.TurnRecorded(role="user", parts=(TextPart(text=text),), turn=turn))
        else:
            call = ToolCallPart(call_id=f"c{turn}", tool="look", arguments=JsonText.of({"for": text}))
            result = TextPart(text=JsonText.of([text]))
            events.append(e.TurnRecorded(role="assistant", parts=(call,), turn=turn))
            events.append(e.ToolReturned(call_id=call.call_id, parts=(result,), turn=turn))
    case.append(events)


def rows_of(store: Ledgers, name: str) -> list[Any]:
    """What is kept of the index of a ledger."""
    return store.store.derived_scan(KIND, "", ledger=store.head(name).ledger).rows
