"""One step of compaction: a segment of turns goes into the middle. Pure, and the same however often it is done again.

It looks at the turns of the segment, at a few before and after them, and at what was recorded of them; never at how long the
ledger is or at what it cost before. A segment is always made from its turns, never from what was made of others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from projections.compacting.gists import Telling, grouped, tellings
from projections.compacting.middle import (
    Chapter,
    Exact,
    KeptTurn,
    Line,
    Middle,
    SegmentStubs,
    Stub,
    Total,
    abridged,
    newest_within,
)
from projections.compacting.middle_text import exact_line, told_line
from projections.compacting.outlines import Strings, strings_of
from projections.compacting.summaries import Summary, chosen_summary
from projections.compacting.turn_stubs import stubs_of
from projections.exact.strings import identifying_strings
from projections.planning.clearing import away, shown_used_through, spent_at
from projections.planning.tailing import added_tokens, clearable_tokens, plain_tokens, settled_tokens, timely_sums
from projections.policy import Compaction, Policy
from projections.sendable import sendable
from projections.state_block import Count
from projections.told import Told
from projections.transcript import Turn
from projections.turn_bytes import turn_bytes
from projections.verdicts.judging import judge
from projections.verdicts.verdict import FORGOTTEN, LOOK_BACK, Classified, Judgement, Surroundings, Verdict

TURN_CHARACTERS: Final = 60
"""Most characters of what is told of a turn, on average over a segment."""

BRIEF_CHARACTERS: Final = 140
"""Most characters of what is told of a whole segment once it is old."""

SUMMARY_CHARACTERS: Final = 4_000
"""Most characters of a recorded summary that are shown, whoever made it."""

SUMMARY_CHARACTERS_PER_TOKEN: Final = 1
"""And no more than so many for each token of the text's share of the budget, so that several summaries fit into it."""

BRIEF_SUMMARY_CHARACTERS: Final = 280
"""Most characters that are shown of a summary once its segment is old."""

MOST_RESULTS: Final = 12
"""How many results of tools are named, the latest ones."""

MOST_REMEMBERED: Final = 400
"""How many exact strings are remembered at most, shown or not."""

_LISTED_EXACT: Final = 60  # exact strings that a kept turn leaves behind when it gives way


@dataclass(frozen=True, slots=True)
class Segment:
    """The turns of a segment with their neighbours; ``summaries`` are those that were recorded of exactly this range."""

    told: Sequence[Told]
    before: Sequence[Told]
    after: Sequence[Told]
    classified: Mapping[int, Classified] = field(default_factory=dict)
    summaries: Sequence[Summary] = ()

    @property
    def first(self) -> int:
        """The number of its first turn."""
        return self.told[0].turn.number

    @property
    def last(self) -> int:
        """The number of its last turn."""
        return self.told[-1].turn.number

    @property
    def turns(self) -> list[Turn]:
        """Its turns."""
        return [told.turn for told in self.told]


def inputs_digest(turns: Sequence[Turn]) -> str:
    """The SHA-256 of what a summary of these turns is made from: their numbers, roles, parts and results."""
    digest = hashlib.sha256(b"segment/1\0")
    for turn in turns:
        digest.update(turn_bytes(turn))
        digest.update(b"\n")
    return digest.hexdigest()


def judged(segment: Segment, policy: Policy, task: int | None) -> list[Judgement]:
    """The verdict of each turn of a segment; ``task`` is the number of the turn that states the task."""
    turns = [told.turn for told in (*segment.before, *segment.told, *segment.after)]
    start = len(segment.before)
    return [_judged(turns, start + place, segment, policy, task) for place in range(len(segment.told))]


def _judged(turns: Sequence[Turn], place: int, segment: Segment, policy: Policy, task: int | None) -> Judgement:
    turn = turns[place]
    if turn.forgotten is not None:
        return FORGOTTEN
    if turn.number in policy.pins:
        return Judgement("keep", "pin")
    if turn.number == task and policy.pins_task:
        return Judgement("keep", "task")
    if turn.is_blank:  # under any rules: there is nothing to keep or to tell
        return Judgement("drop", "blank")
    ahead = tuple(turns[place + 1 : place + 1 + policy.looks_ahead])
    surroundings = Surroundings(tuple(turns[max(0, place - LOOK_BACK) : place]), turn, ahead)
    return judge(
        surroundings,
        policy.rules,
        languages=policy.languages,
        otherwise=policy.otherwise,
        classified=segment.classified.get(turn.number),
    )


def segment_stubs(segment: Segment, policy: Policy, count: Count) -> SegmentStubs:
    """The stubs of each turn of a segment whose results may become stubs, by its number.

    What they show was said while the segment was not compacted yet, so they are the same ones from when the turn left the tail
    on. A turn whose results are no larger than their stubs has none of them.
    """
    around = (*segment.told, *segment.after)
    timely = timely_sums(around, policy)
    return {
        told.turn.number: tuple(stubs_of(told, _that_may_use(around, place, timely, policy), policy, count))
        for place, told in enumerate(segment.told)
        if clearable_tokens(told.card, policy) > 0
    }


def _that_may_use(around: Sequence[Told], place: int, timely: Sequence[int], policy: Policy) -> Sequence[Told]:
    through = shown_used_through(around[place].turn.number, away(around, place, timely, policy).moment, policy)
    return [other for other in around[place + 1 :] if other.turn.number <= through]


def compacted(
    middle: Middle, segment: Segment, *, policy: Policy, task: int | None, stubs: SegmentStubs, count: Count
) -> Middle:
    """The middle with one more segment; ``stubs`` are those of its turns, see ``segment_stubs``."""
    compaction = policy.compaction
    assert compaction is not None, "without a compaction there is no middle"
    verdicts = judged(segment, policy, task)
    pairs = list(zip(segment.told, verdicts, strict=True))
    kept = [
        _kept(told, verdict, segment, stubs.get(told.turn.number, ()), policy=policy, count=count)
        for told, verdict in pairs
        if verdict.verdict == "keep"
    ]
    others = [told.turn for told, verdict in pairs if verdict.verdict in ("compress", "stub")]
    chapter, is_wanting = _chapter(segment, others, policy, compaction, count)
    exact = _exact(middle.exact, segment, others, count)
    results = [found.version for turn in others for found in turn.returns if not found.orphan]
    settled = sum(settled_tokens(told.card, policy) for told in segment.told)
    grown = replace(
        middle,
        through=segment.last,
        kept=(*(_answered(turn, segment) for turn in middle.kept), *kept),
        chapters=(*middle.chapters, *([chapter] if chapter.lines else [])),
        exact=exact,
        results=(*middle.results, *results)[-MOST_RESULTS:],
        totals=_totals(middle.totals, pairs, kept, policy),
        wanting=middle.wanting + is_wanting,
        settled=middle.settled + settled,
        last_settled=settled,
    )
    return _within(grown, policy, compaction, count)


def _answered(turn: KeptTurn, segment: Segment) -> KeptTurn:
    """A turn that is kept, with its stubs once a turn up to here has answered its results."""
    came = (told.turn for told in (*segment.told, *segment.after))
    return replace(turn, waits_since=0) if turn.waits_since and turn.is_answered(came) else turn


def _waits_since(told: Told, segment: Segment) -> int:
    """The version of the latest result of a turn, if none of the turns at hand has answered it."""
    around = (*segment.told, *segment.after)
    is_spent = spent_at(around, told.turn.number - segment.first) <= around[-1].turn.number
    return 0 if is_spent else max(result.version for result in told.card.results)


def _kept(
    told: Told, verdict: Judgement, segment: Segment, stubs: tuple[Stub, ...], *, policy: Policy, count: Count
) -> KeptTurn:
    turn, by_user = told.turn, told.turn.role == "user"
    is_pinned = verdict.rule in ("pin", "task")
    waits_since = _waits_since(told, segment) if stubs and not is_pinned else 0
    shown = () if is_pinned or waits_since else stubs
    named, stated = ((), ()) if is_pinned else told.recall("strings", _strings)
    return KeptTurn(
        turn.number,
        segment.first,
        segment.last,
        verdict.rule,
        plain_tokens(told.card, {stub.version: stub.tokens for stub in shown}, policy) + added_tokens(told.card),
        is_pinned,
        by_user,
        () if is_pinned else stubs,
        tuple(dict.fromkeys((*named[:_LISTED_EXACT], *stated)))[:_LISTED_EXACT],
        named[:_LISTED_EXACT],
        None if is_pinned else next(iter(_extracts(tellings([turn]), TURN_CHARACTERS, count)), None),
        plain_tokens(told.card, {}, policy),
        waits_since,
    )


def _chapter(
    segment: Segment, others: Sequence[Turn], policy: Policy, compaction: Compaction, count: Count
) -> tuple[Chapter, bool]:
    """What is told of turns that are not kept: a summary, where one is wanted and was recorded, else extracts.

    And whether a summary was wanted in vain.
    """
    if compaction.by and others:
        summary = chosen_summary(segment.summaries, compaction.by, inputs=inputs_digest(segment.turns))
        if summary is not None:
            share = policy.request_tokens * compaction.text_percent * SUMMARY_CHARACTERS_PER_TOKEN // 100
            whole = _summed_up(summary, segment, min(SUMMARY_CHARACTERS, share), count)
            return Chapter(
                segment.first, segment.last, whole, _summed_up(summary, segment, BRIEF_SUMMARY_CHARACTERS, count)
            ), False
    told = tellings(others)
    lines = _extracts(told, TURN_CHARACTERS * len(others), count)
    brief = _extracts(told, BRIEF_CHARACTERS, count)
    return Chapter(segment.first, segment.last, lines, brief), bool(compaction.by and others)


def _summed_up(summary: Summary, segment: Segment, most_characters: int, count: Count) -> tuple[Line, ...]:
    text = told_line(segment.first, segment.last, sendable(summary.shown(most_characters)), "summary")
    return (Line(segment.first, segment.last, text, count(text), "summary", summary.id),)


def _extracts(turns: Sequence[Telling], most_characters: int, count: Count) -> tuple[Line, ...]:
    found = grouped(turns, most_characters=most_characters)
    told = (
        (line.first, line.last, told_line(line.first, line.last, sendable(line.text), "extract")) for line in found if line.text
    )
    return tuple(Line(first, last, text, count(text)) for first, last, text in told)


def _exact(carried: Sequence[Exact], segment: Segment, others: Sequence[Turn], count: Count) -> tuple[Exact, ...]:
    """The strings that are carried along, with those of the turns that are compacted now, and who refers to them."""
    known = {exact.text: exact for exact in carried}
    compressed = {turn.number for turn in others}
    for told in segment.told:
        turn = told.turn
        if turn.forgotten is not None:
            continue
        by_user = turn.role == "user"
        named, said = told.recall("strings", _strings)
        stated = (*named, *said)
        for string in dict.fromkeys((*stated, *_asked(turn))):
            before = known.get(string)
            if before is not None:
                known[string] = before.seen(turn.number, by_user=by_user and string in stated)
            elif turn.number in compressed and string in stated:
                known[string] = Exact(string, 0, 1, by_user, turn.number, turn.number, string in named)
    best = sorted(known.values(), key=lambda exact: exact.worth, reverse=True)[:MOST_REMEMBERED]
    return tuple(exact if exact.tokens else replace(exact, tokens=count(exact_line(exact.text))) for exact in best)


def _strings(told: Told) -> Strings:
    return strings_of(told.turn)


def _asked(turn: Turn) -> tuple[str, ...]:
    """The identifiers that a turn's calls name: they are in use."""
    return tuple(string for call in turn.calls for string in identifying_strings(str(call.arguments)))


def _totals(
    totals: Mapping[Verdict, Total], pairs: Sequence[tuple[Told, Judgement]], kept: Sequence[KeptTurn], policy: Policy
) -> dict[Verdict, Total]:
    after = {turn.number: turn.tokens for turn in kept}
    found = dict(totals)
    for told, verdict in pairs:
        before = plain_tokens(told.card, {}, policy)
        found[verdict.verdict] = found.get(verdict.verdict, Total()).plus(before, after.get(told.turn.number, 0))
    return found


def _within(middle: Middle, policy: Policy, compaction: Compaction, count: Count) -> Middle:
    """The middle within its caps: the oldest give way. Of a turn that was kept a line is left, and its exact strings."""
    kept_most = policy.request_tokens * compaction.kept_percent // 100
    text_most = policy.request_tokens * compaction.text_percent // 100
    movable = [turn for turn in middle.kept if not turn.pinned]
    staying = newest_within((turn.tokens for turn in movable), kept_most)
    gone = movable[: len(movable) - staying]
    kept = tuple(turn for turn in middle.kept if turn not in gone)
    chapters = abridged(_with_lines(middle.chapters, gone), text_most)
    exact = _with_left_behind(middle.exact, gone, count)
    return replace(middle, kept=kept, chapters=chapters, exact=exact, totals=_without_kept(middle.totals, gone))


def _without_kept(totals: Mapping[Verdict, Total], gone: Sequence[KeptTurn]) -> Mapping[Verdict, Total]:
    """The totals once turns are told of that were kept until now."""
    found = dict(totals)
    for turn in gone:
        found["keep"] = found["keep"].minus(turn.before, turn.tokens)
        found["compress"] = found.get("compress", Total()).plus(turn.before, 0)
    return {verdict: total for verdict, total in found.items() if total.turns}


def _with_lines(chapters: Sequence[Chapter], gone: Sequence[KeptTurn]) -> tuple[Chapter, ...]:
    """The chapters with a line on each turn that is not kept any more."""
    found = {chapter.first: chapter for chapter in chapters}
    for turn in gone:
        if turn.line is not None:
            empty = Chapter(turn.first, turn.last, (), ())
            found[turn.first] = found.get(turn.first, empty).with_line(turn.line)
    return tuple(found[first] for first in sorted(found))


def _with_left_behind(exact: tuple[Exact, ...], gone: Sequence[KeptTurn], count: Count) -> tuple[Exact, ...]:
    known = {found.text for found in exact}
    left = {string: turn for turn in gone for string in turn.exact if string not in known}
    made = (
        Exact(text, count(exact_line(text)), 1, turn.by_user, turn.number, turn.number, text in turn.named)
        for text, turn in left.items()
    )
    return tuple(sorted((*exact, *made), key=lambda found: found.worth, reverse=True)[:MOST_REMEMBERED]) if left else exact
