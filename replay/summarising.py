"""Lets a summariser tell of segments, one after the other, and records each summary as soon as it is made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from ledger import Ledger, Ledgers
from ledger.errors import AdmissionRefused, ClosedLedger, ForgottenLedger, IdempotencyConflict, InvalidInput
from ledger.events import SummaryRecorded
from ledger.parts import Usage
from projections.compacting.segments import SUMMARY_CHARACTERS
from projections.compacting.summaries import Summary, chosen_summary, summary_of
from projections.encodings import encoding_for
from projections.policy import Policy
from projections.shortening import shortened
from projections.summarising import (
    SegmentTurns,
    Summariser,
    SummariserFailed,
    SummaryDraft,
    choice_of,
    segment_turns,
    taking,
    unfounded_strings,
    would_take,
)
from replay.loading import Loaded, load
from replay.summaries import MissingSummary, Which, is_passing
from replay.turns.ledger_turns import said_between, turns_of
from replay.view import view

MOST_IN_VAIN: Final = 3
"""So many segments in a row fail for a reason that concerns all before the others are left for another run."""

_MOST_UNFOUNDED: Final = 20
_KEY_CHARACTERS: Final = 72

Outcome = Literal["recorded", "known", "refused", "failed", "left"]
"""What became of a segment: its summary was recorded, by this run or meanwhile by another one; what was made may not be
recorded, since something was forgotten meanwhile; none was made; it was not tried.
"""


@dataclass(frozen=True, slots=True)
class SummarisedSegment:
    """What became of a segment, and ``why`` where there is no summary now. ``tokens``: what its turns cost whole.

    ``id`` names the summary. ``unfounded``: exact strings that a model put there and that do not stand in the turns.
    ``is_cut``: it was longer than what is recorded of one. ``incomplete``: what of the turns its summariser did not see.
    """

    first: int
    last: int
    tokens: int
    outcome: Outcome
    id: str | None = None
    why: str | None = None
    usage: Usage | None = None
    unfounded: tuple[str, ...] = ()
    is_cut: bool = False
    incomplete: str | None = None


@dataclass(frozen=True, slots=True)
class Summarised:
    """What came of a run: a line for every segment that had no summary of this summariser, in order."""

    segments: tuple[SummarisedSegment, ...]

    @property
    def unfinished(self) -> tuple[SummarisedSegment, ...]:
        """The segments that still have none. The next run tries them again."""
        return tuple(one for one in self.segments if one.outcome not in ("recorded", "known"))


Progress = Callable[[SummarisedSegment, int, int], None]
"""Is told of each segment when it is done: how many are by then, and of how many."""


def summarise(
    store: Ledgers,
    ledger: str,
    summariser: Summariser,
    policy: Policy | None = None,
    *,
    which: Which = "compacted",
    progress: Progress | None = None,
) -> Summarised:
    """Have a summariser tell of the segments that it has not told of yet as they are now; ``which`` of them, and see there.

    Each is made from its turns alone and recorded at once, so what was done stays when a run breaks off, and nothing is
    recorded twice, whoever runs it beside. A segment is tried once a run. Other summaries of the same turns stay beside this
    one; which is shown, a policy's ``compaction.by`` says.

    ``InvalidInput`` for a policy that names summaries and not these, ``ClosedLedger`` for a ledger that takes no more,
    ``UnknownLedger``.
    """
    chosen = policy or Policy()
    if chosen.compaction is not None and chosen.compaction.by and not would_take(chosen, choice_of(summariser)):
        raise InvalidInput(
            f"the policy takes no summaries of {described(summariser)}, so they would be of no use: name it in compaction.by",
            path="compaction.by",
        )
    name = store.head(ledger).name
    missing = missing_of(store, name, summariser, chosen, which=which)
    run = _Run(store, store.ledger(name), summariser, encoding_for(chosen.encoding))
    if missing:
        run.check_open()
    done: list[SummarisedSegment] = []
    for one in missing:
        done.append(run.take(one))
        if progress is not None:
            progress(done[-1], len(done), len(missing))
    return Summarised(tuple(done))


def missing_of(
    store: Ledgers, ledger: str, summariser: Summariser, policy: Policy, *, which: Which = "compacted"
) -> tuple[MissingSummary, ...]:
    """The segments of which a summariser has not told yet, as they are now."""
    return view(store, ledger).missing_summaries(taking(policy, choice_of(summariser)), which=which)


def described(summariser: Summariser) -> str:
    """A summariser in words, with its model."""
    return summariser.name if summariser.model is None else f"{summariser.name} with {summariser.model}"


class _Run:
    """One run over the segments of a ledger."""

    def __init__(self, store: Ledgers, ledger: Ledger, summariser: Summariser, encoding: str) -> None:
        self._store = store
        self._ledger = ledger
        self._summariser = summariser
        self._encoding = encoding
        self._in_vain = 0
        self._because = ""

    def check_open(self) -> None:
        """``ClosedLedger`` before anything is asked for in vain."""
        governing = self._load().governing
        if any(item.envelope.type == "ledger.closed" for item in governing):
            raise ClosedLedger(
                f"ledger {self._ledger.name!r} was closed and takes no more summaries: its turns are told in extracts",
                ledger=self._ledger.name,
            )

    def take(self, missing: MissingSummary) -> SummarisedSegment:
        """Make and record the summary of a segment as it is now; of a failure the reason is kept."""
        if self._in_vain >= MOST_IN_VAIN:
            return _outcome(missing, "left", f"not tried: {self._because}")
        loaded = self._load()
        turns = [told.turn for told in turns_of(loaded, self._encoding).between(missing.first, missing.last)]
        segment = segment_turns(turns)
        if not segment.turns or is_passing(turns):
            return _outcome(missing, "refused", "nothing that stays is left of it")
        known = self._known(loaded, segment)
        if known is not None:
            return SummarisedSegment(missing.first, missing.last, missing.tokens, "known", known.id)
        try:
            draft = self._summariser.summarise(segment)
        except SummariserFailed as failed:
            return self._failed(missing, str(failed), concerns_all=bool(failed.details.get("concerns_all")))
        self._in_vain = 0
        if not draft.text.strip():
            return self._failed(missing, "the summariser made an empty text", concerns_all=False)
        return self._record(missing, segment, draft, loaded)

    def _failed(self, missing: MissingSummary, why: str, *, concerns_all: bool) -> SummarisedSegment:
        self._in_vain = self._in_vain + 1 if concerns_all else 0
        self._because = why
        return _outcome(missing, "failed", why)

    def _record(self, missing: MissingSummary, segment: SegmentTurns, draft: SummaryDraft, loaded: Loaded) -> SummarisedSegment:
        text = draft.text.strip()
        kept = shortened(text, SUMMARY_CHARACTERS)
        try:
            outcome, made = self._recorded(segment, kept, draft.usage, loaded)
        except (ClosedLedger, ForgottenLedger):
            raise
        except AdmissionRefused as refused:
            return _outcome(missing, "refused", str(refused), usage=draft.usage)
        return SummarisedSegment(
            missing.first,
            missing.last,
            missing.tokens,
            outcome,
            made,
            usage=draft.usage,
            unfounded=self._unfounded(kept, segment) if outcome == "recorded" else (),
            is_cut=len(text) > len(kept),
            incomplete=draft.incomplete,
        )

    def _recorded(self, segment: SegmentTurns, text: str, usage: Usage | None, loaded: Loaded) -> tuple[Outcome, str]:
        """The id of the summary that stands now: this one, or that of another run that was first."""
        key = self._key(segment, loaded.erasures)
        while True:
            try:
                return "recorded", self._append(segment, text, usage, loaded, key)
            except IdempotencyConflict as conflict:
                known = self._known(self._load(), segment)
                if known is not None:
                    return "known", known.id
                key = (
                    f"{key[:_KEY_CHARACTERS]}/{conflict.version}"  # that one is past its own retention: another takes its place
                )

    def _append(self, segment: SegmentTurns, text: str, usage: Usage | None, loaded: Loaded, key: str) -> str:
        return self._ledger.record_summary(
            text,
            first_turn=segment.first,
            last_turn=segment.last,
            through_version=loaded.version,
            inputs=segment.inputs,
            summariser=self._summariser.name,
            model=self._summariser.model,
            prompt_hash=self._summariser.prompt_hash,
            usage=usage,
            idempotency_key=key,
        )

    def _unfounded(self, text: str, segment: SegmentTurns) -> tuple[str, ...]:
        """What a model made up; who asks none counts lines and calls, which are said nowhere."""
        return () if self._summariser.model is None else unfounded_strings(text, segment.turns)[:_MOST_UNFOUNDED]

    def _load(self) -> Loaded:
        return load(self._store, self._store.head(self._ledger.name), None, None)

    def _known(self, loaded: Loaded, segment: SegmentTurns) -> Summary | None:
        said = said_between(loaded, segment.first, segment.last)
        summaries = [summary_of(item.version, item.event) for item in said if isinstance(item.event, SummaryRecorded)]
        return chosen_summary(summaries, [choice_of(self._summariser)], inputs=segment.inputs)

    def _key(self, segment: SegmentTurns, erasures: int) -> str:
        """The same for the same turns and the same summariser, as long as nothing, such as a summary, is forgotten."""
        by = [self._summariser.name, self._summariser.model, self._summariser.prompt_hash]
        made_of = json.dumps([segment.first, segment.last, segment.inputs, by, erasures])
        return f"summary/{hashlib.sha256(made_of.encode()).hexdigest()}"[:_KEY_CHARACTERS]


def _outcome(missing: MissingSummary, outcome: Outcome, why: str, *, usage: Usage | None = None) -> SummarisedSegment:
    return SummarisedSegment(missing.first, missing.last, missing.tokens, outcome, why=why, usage=usage)
