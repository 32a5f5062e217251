"""What windows cost that were recorded as served."""

from __future__ import annotations

from collections.abc import Sequence

from ledger.events import WindowRecorded
from ledger.store import Selection
from replay.loading import Loaded


def served_after(loaded: Loaded, version: int) -> Sequence[tuple[int, int]]:
    """The windows that were recorded as served after a version: at which version, and what was counted for them."""
    selected = Selection(after=version, upto=loaded.version, kind="others")
    return [
        (item.version, item.event.tokens) for item in loaded.reader.read(selected) if isinstance(item.event, WindowRecorded)
    ]
