"""The refund case: a small transcript, and what an agent's code records beside it, turn by turn."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Final

from delivery.importers.reading import TranscriptFile
from ledger import Ledger
from ledger.errors import InvalidInput
from ledger.events import ToolReturned

NAME: Final = "refund-ORD-88213"
"""The ledger of the case."""

_PLACES: Final = (Path(__file__).parents[1] / "examples", Path(__file__).parents[2] / "examples")
"""Where the transcript lies: in an installed package, or in a checkout."""


def record_refund_case(ledger: Ledger) -> None:
    """Record the case into a ledger that has nothing yet; a ledger that has is left as it is."""
    if ledger.version > 0:
        return
    conversation = next(iter(TranscriptFile(_transcript())))
    for turn, events in groupby(conversation.events, key=lambda event: event.turn):
        ledger.append(list(events))
        if turn in _NOTES:
            _NOTES[turn](ledger)


def _transcript() -> Path:
    for place in _PLACES:
        if (place / "refund.json").is_file():
            return place / "refund.json"
    raise InvalidInput(f"examples/refund.json is not in {_PLACES[1]}: install the package again", path="examples")


def _the_task(ledger: Ledger) -> None:
    ledger.set_fact("order_id", "ORD-88213", turn=1, source="user")
    ledger.set_fact("amount", "4,180 INR", turn=1, source="user")


def _the_order(ledger: Ledger) -> None:
    ledger.set_fact("customer_id", "c_9912", turn=2, source="tool")
    ledger.set_fact("charge", "ch_7312", turn=2, source="tool")


def _the_card(ledger: Ledger) -> None:
    ledger.add_entry("constraints", "refund to the card that was charged", turn=4, source="user")


def _no_store_credit(ledger: Ledger) -> None:
    ledger.add_entry("rejected", "store credit", why="the user wants the card refunded", turn=6, source="user")


def _two_pages(ledger: Ledger) -> None:
    pages = {"https://halden.example/pricing": "4,180 INR", "https://halden.example/in/pricing": "4,050 INR"}
    events = (recorded.event for recorded in ledger.events() if recorded.turn == 7)
    returns = [event for event in events if isinstance(event, ToolReturned)]
    evidence = []
    for (url, price), returned in zip(pages.items(), returns, strict=True):
        content = "".join(part.text for part in returned.parts if part.type == "text").encode()
        page = ledger.store_artifact(content, media_type="text/plain", url=url, turn=7)
        claim = f"the express edition costs {price}"
        quote = f"Atlas of Rivers, express edition: {price}"
        evidence.append(ledger.record_evidence(claim, quote=quote, artifact=page, turn=7))
    ledger.record_contradiction("price of the express edition", evidence, turn=7)


def _the_price(ledger: Ledger) -> None:
    ledger.add_entry("open", "what was the card charged?", turn=8, source="inferred")


def _corrected(ledger: Ledger) -> None:
    ledger.set_fact("amount", "4,050 INR", turn=11, source="user", supersedes="4,180 INR", because="the card statement says so")
    asked = next(entry for entry in ledger.events() if entry.event.type == "entry.added" and entry.turn == 8)
    ledger.close_entry(f"en_{asked.version}", source="user", because="4,050 INR, by the statement", turn=11)


def _refunded(ledger: Ledger) -> None:
    ledger.set_fact("refund", "rf_2048", turn=12, source="tool")
    ledger.add_entry("decisions", "refund ch_7312 with 4,050 INR", why="charged twice", turn=12, source="inferred")
    ledger.add_entry("open", "approval of rf_2048 by finance", turn=12, source="tool")


_NOTES: Final[dict[int | None, Callable[[Ledger], None]]] = {
    1: _the_task,
    2: _the_order,
    4: _the_card,
    6: _no_store_credit,
    7: _two_pages,
    8: _the_price,
    11: _corrected,
    12: _refunded,
}
