"""What was recorded of turns: how they were classified, and which summaries were made of them."""

from __future__ import annotations

from collections.abc import Sequence

from ledger.events import SummaryRecorded, TurnClassified, WindowRecorded
from ledger.record import Recorded
from ledger.store import Selection
from replay.loading import Loaded


def said_of(loaded: Loaded, first: int, last: int) -> Sequence[Recorded]:
    """The classifications of the turns from one to another, and the summaries of exactly these, as far as they are known."""
    return [item for item in loaded.events if _is_about(item, first, last)]


def served_after(loaded: Loaded, version: int) -> Sequence[tuple[int, int]]:
    """The windows that were recorded as served after a version: at which version, and what was counted for them."""
    selected = Selection(after=version, upto=loaded.version, kind="others")
    return [
        (item.version, item.event.tokens) for item in loaded.reader.read(selected) if isinstance(item.event, WindowRecorded)
    ]


def _is_about(item: Recorded, first: int, last: int) -> bool:
    match item.event:
        case SummaryRecorded(first_turn=begins, last_turn=ends):
            return (begins, ends) == (first, last)
        case TurnClassified(turn=int(turn)):
            return first <= turn <= last
        case _:
            return False
