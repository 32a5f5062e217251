"""From the turns of a segment to a text that may stand for them: the port that every summariser fills, and an extractive one.

A summariser is given turns as they were recorded and nothing else: no summary of them or of others, so that none grows out
of another; no system text, which every window holds whole; and nothing of other turns, which would be in the summary still
when these are forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from ledger.erased import Forgotten
from ledger.errors import LedgerError
from ledger.parts import Usage
from projections.compacting.gists import group_gists
from projections.compacting.segments import inputs_digest
from projections.compacting.summaries import takes
from projections.exact.finding import uses_in
from projections.exact.strings import exact_strings
from projections.policy import Policy, SummaryChoice
from projections.transcript import Turn

EXTRACT_CHARACTERS: Final = 800
"""Most characters of an extractive summary."""

_TURN_NUMBERS: Final = re.compile(r"\d{1,9}(?:[-\u2013]\d{1,9})?")
_ESCAPE: Final = re.compile(r'\\(["\\/nrt])')


class SummariserFailed(LedgerError):
    """A summariser made nothing of a segment.

    ``concerns_all``: the next one would fare alike, such as where an endpoint cannot be reached.
    """


@dataclass(frozen=True, slots=True)
class SegmentTurns:
    """What a summary is made from: the turns of a segment that say something, without anything that was forgotten.

    ``inputs`` is the digest by which the summary is known to be of exactly these turns.
    """

    first: int
    last: int
    turns: tuple[Turn, ...]
    inputs: str


@dataclass(frozen=True, slots=True)
class SummaryDraft:
    """What a summariser made, and what it used for that. ``incomplete`` says what of the turns it did not see, if anything."""

    text: str
    usage: Usage | None = None
    incomplete: str | None = None


class Summariser(Protocol):
    """Makes a text that may stand for turns. It is not believed: its text is cut, escaped, and never acted on."""

    @property
    def name(self) -> str:
        """Which summariser it is, and which version of it."""
        ...

    @property
    def model(self) -> str | None:
        """The model that it asks, as it is configured; None if it asks none."""
        ...

    @property
    def prompt_hash(self) -> str | None:
        """The digest of its wording and settings: another one makes other summaries; None if it has none."""
        ...

    def summarise(self, segment: SegmentTurns) -> SummaryDraft:
        """A text for these turns; ``SummariserFailed`` if it makes none."""
        ...


class ExtractiveSummariser:
    """Tells turns in their own words, cut short, the same every time and without a model."""

    name: Final = "extractive/1"
    model: Final = None
    prompt_hash: Final = None

    def summarise(self, segment: SegmentTurns) -> SummaryDraft:
        """A line for each exchange or run of tool rounds."""
        return SummaryDraft("\n".join(map(str, group_gists(segment.turns, most_characters=EXTRACT_CHARACTERS))))


def segment_turns(turns: Sequence[Turn]) -> SegmentTurns:
    """What a summary of these turns, all those of a segment, is made from."""
    living = tuple(_living(turn) for turn in turns if turn.forgotten is None)
    said = tuple(turn for turn in living if turn.returns or not turn.is_blank)
    return SegmentTurns(turns[0].number, turns[-1].number, said, inputs_digest(turns))


def choice_of(summariser: Summariser) -> SummaryChoice:
    """What a policy names to take the summaries of this summariser."""
    return SummaryChoice(summariser=summariser.name, model=summariser.model, prompt_hash=summariser.prompt_hash)


def taking(policy: Policy, *choices: SummaryChoice) -> Policy:
    """The policy with these as the summaries that it takes; the same, where it has no compaction."""
    if policy.compaction is None:
        return policy
    return policy.model_copy(update={"compaction": policy.compaction.model_copy(update={"by": choices})})


def would_take(policy: Policy, choice: SummaryChoice) -> bool:
    """Whether a policy takes the summaries that ``choice`` names."""
    by = () if policy.compaction is None else policy.compaction.by
    return any(takes(known, choice) for known in by)


def unfounded_strings(text: str, turns: Sequence[Turn]) -> tuple[str, ...]:
    """The exact strings of a text that do not stand in the turns that it tells of; numbers of the turns do not count."""
    said = "\n".join(text for turn in turns for text in _texts(turn))
    known = {*uses_in(said), *exact_strings(said)}
    found = (string for string in exact_strings(text) if string not in known and not _TURN_NUMBERS.fullmatch(string))
    return tuple(string for string in found if not _stands(string, said))


def _living(turn: Turn) -> Turn:
    """A turn without the marks of what was forgotten in it."""
    returns = (replace(found, parts=_without_marks(found.parts)) for found in turn.returns)
    return replace(turn, parts=_without_marks(turn.parts), returns=tuple(found for found in returns if found.parts))


def _without_marks(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(part for part in parts if not isinstance(part, Forgotten))


def _texts(turn: Turn) -> Iterator[str]:
    """All that was said in a turn, asked for and returned; JSON also with its escapes undone, as people would write it."""
    yield turn.text
    for source in (*(str(call.arguments) for call in turn.calls), *(found.text for found in turn.returns)):
        yield source
        if "\\" in source:
            yield _ESCAPE.sub(lambda match: " " if match[1] in "nrt" else match[1], source)
    yield from (call.tool for call in turn.calls)


def _stands(string: str, said: str) -> bool:
    return string in said and re.search(rf"(?<!\w){re.escape(string)}(?!\w)", said) is not None
