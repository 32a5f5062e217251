"""Legal holds: whether a ledger is under one, as it says itself."""

from __future__ import annotations

from collections.abc import Sequence

from ledger import events as e
from ledger.errors import OnHold
from ledger.record import Recorded
from ledger.store import Head


def hold_on(governing: Sequence[Recorded]) -> e.HoldPlaced | None:
    """The hold that a ledger is under, from its governing events in order."""
    held: e.HoldPlaced | None = None
    for item in governing:
        if isinstance(item.event, e.HoldPlaced):
            held = item.event
        elif isinstance(item.event, e.HoldLifted):
            held = None
    return held


def check_hold(governing: Sequence[Recorded], head: Head) -> None:
    """``OnHold``, with the reason, if a ledger is under a legal hold."""
    held = hold_on(governing)
    if held is not None:
        raise OnHold(
            f"ledger {head.name!r} is under a legal hold ({held.because}), nothing of it may be erased: lift the hold first",
            ledger=head.name,
            because=held.because,
        )
