"""Summaries that were recorded, and which of them a policy takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.events import SummaryRecorded
from projections.shortening import shortened

if TYPE_CHECKING:
    from projections.policy import SummaryChoice


@dataclass(frozen=True, slots=True)
class Summary:
    """A recorded summary of the turns from ``first`` to ``last``; ``inputs`` is the digest of what it was made from."""

    id: str
    first: int
    last: int
    inputs: str
    text: str
    summariser: str
    model: str | None = None
    prompt_hash: str | None = None

    def shown(self, most_characters: int) -> str:
        """Its text, as much of it as a window shows, whatever the summariser returned."""
        return shortened(self.text, most_characters)


def summary_of(version: int, event: SummaryRecorded) -> Summary:
    """The summary that an event records."""
    return Summary(
        f"sum_{version}",
        event.first_turn,
        event.last_turn,
        event.inputs,
        event.text,
        event.summariser,
        event.model,
        event.prompt_hash,
    )


def chosen_summary(summaries: Sequence[Summary], choices: Sequence[SummaryChoice], *, inputs: str) -> Summary | None:
    """The summary that fits the first choice that any fits, the latest of these; None if none was made of these inputs."""
    current = [summary for summary in summaries if summary.inputs == inputs]
    for choice in choices:
        for summary in reversed(current):
            if takes(choice, summary):
                return summary
    return None


def takes(choice: SummaryChoice, made: Summary | SummaryChoice) -> bool:
    """Whether a choice takes a summary, or all those that another choice names."""
    pairs = ((choice.summariser, made.summariser), (choice.model, made.model), (choice.prompt_hash, made.prompt_hash))
    return all(asked in (None, found) for asked, found in pairs)
