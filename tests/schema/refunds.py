"""A refund as a declared state, and how tests read what became of a claim."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any

from ledger import Ledger
from ledger.record import Recorded
from ledger.schema import Entries, Money, StateModel, declared


class RefundState(StateModel):
    """What a refund is about."""

    order: str | None = declared(pattern=r"ORD-\d+", aliases=["order no", "reference"])
    amount: Money | None = declared(currencies=["INR", "USD"], aliases=["sum"])
    day: date | None = declared(date_order="day_first")
    approved: bool | None = declared(least_source="user")
    constraints: Entries = declared(least_source="user")
    decisions: Entries = ()


def types(recorded: Iterable[Recorded]) -> list[str]:
    """The types of events."""
    return [one.event.type for one in recorded]


def claims(ledger: Ledger) -> list[str]:
    """The types of a ledger's events about facts, contradictions and refusals."""
    return [name for name in types(ledger.events()) if name.startswith(("fact.", "contradiction."))]


def rules(recorded: Recorded) -> list[str]:
    """The rules for which a value was refused."""
    event: Any = recorded.event
    assert event.type == "fact.rejected"
    return [problem.rule for problem in event.problems]
