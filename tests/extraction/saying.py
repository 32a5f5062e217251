"""The state that is looked for, an extractor that says what it is told to say, true or not, and how tests read the outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from ledger import Ledger, Ledgers
from ledger.json_text import JsonText
from ledger.parts import ToolCallPart, Usage
from ledger.schema import Entries, Money, Schema, StateModel, declared
from projections.extraction import Candidate, Extraction
from projections.transcript import Turn
from replay import view

DAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"


class OrderState(StateModel):
    """What an order is about."""

    delivery_day: str | None = declared(patterns=[rf"\b(?P<value>(?:{DAYS})s?)\b"])
    invoice_currency: str | None = declared(aliases=["billing.currency", "currency rule"])
    amount: Money | None = declared(currencies=["INR", "USD"], aliases=["sum"])
    due: date | None = declared(date_order="day_first")
    payment_iban: str | None = declared(patterns=[r"IBAN (?P<value>[A-Z0-9]{8,})"])
    express: bool | None = declared(least_source="user")
    note: str | None = None
    decisions: Entries = ()


@dataclass
class Says:
    """An extractor that returns these candidates for the turns that it is given, and keeps which turns these were."""

    candidates: Sequence[Candidate] | Callable[[Sequence[Turn]], Sequence[Candidate]]
    name: str = "says/1"
    incomplete: str | None = None
    read: list[tuple[int, ...]] = field(default_factory=list)

    def extract(self, turns: Sequence[Turn], schema: Schema) -> Extraction:
        """What it was told to say, as a model would: with its name, its prompt's hash and what it used."""
        self.read.append(tuple(turn.number for turn in turns))
        said = self.candidates(turns) if callable(self.candidates) else self.candidates
        usage = Usage(input_tokens=120, output_tokens=9)
        return Extraction(tuple(said), model="m-1", prompt_hash="ab" * 32, usage=usage, incomplete=self.incomplete)


def conversation(store: Ledgers, *texts: str, name: str = "case") -> Ledger:
    """A ledger in which user and assistant speak in turn; the user begins."""
    ledger = store.ledger(name, schema=OrderState)
    for place, text in enumerate(texts):
        ledger.record_turn("assistant" if place % 2 else "user", text)
    return ledger


def returned(ledger: Ledger, text: str, *, call: str = "c1", tool: str = "read_file") -> str:
    """Have the assistant call a tool that returns a text; the id of the result."""
    ledger.record_turn("assistant", [ToolCallPart(call_id=call, tool=tool, arguments=JsonText("{}"))])
    return f"r_{ledger.record_return(call, text)}"


def claims(ledger: Ledger) -> list[str]:
    """The types of what was claimed and refused, in order."""
    return [one.event.type for one in ledger.events() if one.event.type.startswith(("fact.", "contradiction."))]


def values(store: Ledgers, ledger: Ledger) -> dict[str, tuple[Any, str]]:
    """What stands, with its source."""
    return {name: (value.value, value.source) for name, value in view(store, ledger.name).state().entities.items()}
